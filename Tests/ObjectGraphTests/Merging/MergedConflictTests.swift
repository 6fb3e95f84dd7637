import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private final class Band: ManagedObject {
    @Attribute var name: String = ""
    @Relationship var singers: [Singer]
}

private final class Singer: ManagedObject {
    @Attribute var name: String = ""
}

/// What a merge tells of what was pending and met something else.
@Suite struct MergedConflictTests {
    private let container: PersistentContainer

    init() throws {
        container = try TestContainer.make(inMemory: [Band.self, Singer.self])
    }

    /// Some bands and one singer, in a context that merges only when it is told to.
    private func bands(
        _ count: Int, in context: ManagedObjectContext
    ) throws -> (bands: [Band], singer: Singer) {
        let bands = (0..<count).map { number in
            let band = Band(context: context)
            band.name = "Band \(number)"
            return band
        }
        let singer = Singer(context: context)
        try context.save()
        return (bands, singer)
    }

    /// Does something to the records of objects in another context, and saves it.
    private func saveElsewhere(
        _ objects: [ManagedObject], _ edit: (Band, ManagedObjectContext) -> Void
    ) throws {
        let context = container.newBackgroundContext()
        let ids = objects.map(\.objectID)
        try context.performAndWait { () throws in
            for id in ids {
                edit(try #require(try context.existingObject(with: id) as? Band), context)
            }
            try context.save()
        }
    }

    @Test func `a member that was to join an object that others deleted is told of`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let (bands, singer) = try bands(1, in: context)
            bands[0].singers = [singer]
            try saveElsewhere(bands) { $1.delete($0) }

            let conflicts = try context.mergeChanges()

            #expect(conflicts.map(\.kind) == [.deletedByThem])
            #expect(conflicts.map(\.propertyName) == ["singers"])
            #expect(!context.hasChanges)
        }
    }

    @Test func `a member that was to join an object that the parent deleted is told of`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let (bands, singer) = try bands(1, in: context)
            let child = ManagedObjectContext(parent: context)
            let conflicts = try child.performAndWait { () throws in
                let band = try #require(
                    try child.existingObject(with: bands[0].objectID) as? Band)
                let own = try #require(
                    try child.existingObject(with: singer.objectID) as? Singer)
                band.singers = [own]
                context.delete(bands[0])
                return try child.mergeChanges()
            }

            #expect(conflicts.map(\.kind) == [.deletedByThem])
            #expect(conflicts.map(\.propertyName) == ["singers"])
        }
    }

    @Test func `conflicts of a merge come in the order of their objects`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let (bands, _) = try bands(40, in: context)
            for band in bands { band.name += " and friends" }
            try saveElsewhere(bands) { band, _ in band.name += " and others" }

            let conflicts = try context.mergeChanges()

            #expect(conflicts.map(\.object) == bands.map(\.graphID.object).sorted())
        }
    }
}
