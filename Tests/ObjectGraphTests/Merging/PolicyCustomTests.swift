import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

private final class Country: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute var name: String = ""
    @Attribute var updatedAt: Date?
    @Attribute var visits: Int = 0
    @Relationship(inverse: \Town.country) var towns: Set<Town>
}

private final class Town: ManagedObject {
    @Attribute var name: String = ""
    @Relationship var country: Country?
}

/// The newer of two countries wins as a whole, and both sides' visits count.
private struct NewestCountry: CustomMergePolicy {
    func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
        for index in conflicts.indices {
            let conflict = conflicts[index]
            guard case .date(let here)? = conflict.ours["updatedAt"],
                case .date(let there)? = conflict.theirs["updatedAt"],
                case .int(let base)? = conflict.base["visits"],
                case .int(let ours)? = conflict.ours["visits"],
                case .int(let theirs)? = conflict.theirs["visits"]
            else { continue }
            for name in ["name", "updatedAt"] {
                conflicts[index].resolve(name, with: here > there ? .ours : .theirs)
            }
            conflicts[index].resolve("visits", with: .value(.int(theirs + ours - base)))
        }
    }
}

/// Gives the same answer to every conflict, and keeps the conflicts.
private final class RecordingPolicy: CustomMergePolicy {
    let shown = Mutex<[ObjectConflict]>([])
    let clashes = Mutex<[ConstraintConflict]>([])
    let side: ConflictSide?
    let code: String?

    init(_ side: ConflictSide? = nil, code: String? = nil) {
        self.side = side
        self.code = code
    }

    func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
        shown.withLock { $0 += conflicts }
        guard let side else { return }
        for index in conflicts.indices { conflicts[index].resolve(with: side) }
    }

    func resolve(constraintConflicts conflicts: inout [ConstraintConflict]) {
        clashes.withLock { $0 += conflicts }
        for index in conflicts.indices {
            if let code {
                for object in conflicts[index].objects {
                    conflicts[index].resolve("code", of: object, with: .string(code))
                }
            } else if let side {
                conflicts[index].resolve(with: side)
            }
        }
    }
}

private struct Refusal: Error {}

private struct Refusing: CustomMergePolicy {
    func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) throws {
        throw Refusal()
    }
}

/// A store with one country that two contexts have read.
private final class Atlas {
    let folder: TemporaryDirectory
    let container: PersistentContainer
    let first: ManagedObjectContext
    let second: ManagedObjectContext
    let theirs: Country
    let ours: Country

    init(_ policy: any CustomMergePolicy, _ granularity: ConflictGranularity = .property) throws {
        folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("atlas.daybook"), model: [Country.self, Town.self])
        let first = container.newBackgroundContext()
        let second = container.newBackgroundContext()
        let (id, theirs) = try first.performAndWait { () throws in
            let country = Country(context: first)
            country.code = "BE"
            country.name = "Belgium"
            country.updatedAt = Date(timeIntervalSince1970: 100)
            country.visits = 10
            try first.save()
            return (country.objectID, country)
        }
        ours = try second.performAndWait { () throws in
            second.customMergePolicy = policy
            second.conflictGranularity = granularity
            let found = try second.existingObject(with: id) as? Country
            return try #require(found)
        }
        self.container = container
        self.first = first
        self.second = second
        self.theirs = theirs
    }

    func saveTheirs(_ edit: (Country) -> Void) throws {
        try first.performAndWait { () throws in
            edit(theirs)
            try first.save()
        }
    }

    @discardableResult
    func saveOurs(_ edit: (Country) -> Void) throws -> SequenceNumber? {
        try second.performAndWait { () throws in
            edit(ours)
            return try second.save()
        }
    }

    struct Entry: Equatable {
        var code: String
        var name: String
        var visits: Int
    }

    /// All countries in the store.
    func entries() throws -> [Entry] {
        let context = container.newBackgroundContext()
        return try context.performAndWait { () throws in
            try context.fetch(FetchRequest<Country>())
                .map { Entry(code: $0.code, name: $0.name, visits: $0.visits) }
                .sorted { $0.code < $1.code }
        }
    }
}

@Suite struct PolicyCustomTests {
    @Test(arguments: [ConflictGranularity.property, .row])
    func `F69 the latest date wins and counters add up`(granularity: ConflictGranularity) throws {
        let atlas = try Atlas(NewestCountry(), granularity)
        try atlas.saveTheirs {
            $0.name = "België"
            $0.visits = 13
            $0.updatedAt = Date(timeIntervalSince1970: 300)
        }

        try atlas.saveOurs {
            $0.name = "Belgique"
            $0.visits = 12
            $0.updatedAt = Date(timeIntervalSince1970: 200)
        }

        #expect(try atlas.entries() == [Atlas.Entry(code: "BE", name: "België", visits: 15)])
        atlas.second.performAndWait {
            #expect(atlas.ours.name == "België")
            #expect(atlas.ours.visits == 15)
            #expect(atlas.ours.updatedAt == Date(timeIntervalSince1970: 300))
            #expect(!atlas.second.hasChanges)
        }
    }

    @Test func `F69 counters of three saves in a row add up`() throws {
        let atlas = try Atlas(NewestCountry())
        for round in 1...3 {
            try atlas.saveTheirs {
                $0.visits += 1
                $0.updatedAt = Date(timeIntervalSince1970: 1000 + Double(round))
            }
            try atlas.saveOurs {
                $0.visits += 10
                $0.updatedAt = Date(timeIntervalSince1970: 2000 + Double(round))
            }
            try atlas.first.performAndWait { _ = try atlas.first.mergeChanges() }
        }

        #expect(try atlas.entries().map(\.visits) == [43])
    }

    @Test func `F68 F69 a policy is shown whole objects and the versions of both sides`() throws {
        let recorder = RecordingPolicy()
        let atlas = try Atlas(recorder)
        try atlas.saveTheirs { $0.name = "België" }

        let error = #expect(throws: StoreError.self) {
            try atlas.saveOurs { $0.name = "Belgique" }
        }

        #expect(error?.code == .conflict)
        let conflict = try #require(recorder.shown.withLock { $0.first })
        #expect(conflict.base["name"] == .string("Belgium"))
        #expect(conflict.theirs["name"] == .string("België"))
        #expect(conflict.ours["name"] == .string("Belgique"))
        #expect(conflict.theirs["visits"] == .int(10))
        #expect(conflict.ours.keys.sorted() == ["code", "name", "updatedAt", "visits"])
        #expect(conflict.newVersion == conflict.oldVersion.next)
        #expect(conflict.conflicts.map(\.propertyName) == ["name"])
        #expect(conflict.objectID == atlas.ours.objectID)
    }

    @Test(arguments: [ConflictSide.ours, .theirs])
    func `F68 F69 a deleted object has version zero, and the policy may bring it back`(
        side: ConflictSide
    ) throws {
        let recorder = RecordingPolicy(side)
        let atlas = try Atlas(recorder)
        try atlas.saveTheirs { atlas.first.delete($0) }

        try atlas.saveOurs { $0.name = "Belgique" }

        let conflict = try #require(recorder.shown.withLock { $0.first })
        #expect(conflict.newVersion == .zero)
        #expect(conflict.theirs.isEmpty)
        #expect(
            try atlas.entries()
                == (side == .ours
                    ? [Atlas.Entry(code: "BE", name: "Belgique", visits: 10)] : []))
        atlas.second.performAndWait { #expect(atlas.ours.isDeleted == (side == .theirs)) }
    }

    @Test func `F69 an object that the policy brings back has its members again`() throws {
        let atlas = try Atlas(RecordingPolicy(.ours))
        let town = try atlas.first.performAndWait { () throws in
            let town = Town(context: atlas.first)
            town.country = atlas.theirs
            try atlas.first.save()
            return town.objectID
        }
        try atlas.saveTheirs { atlas.first.delete($0) }

        try atlas.saveOurs { $0.name = "Belgique" }

        try atlas.second.performAndWait { () throws in
            let found = try #require(try atlas.second.existingObject(with: town) as? Town)
            #expect(found.country === atlas.ours)
            #expect(atlas.ours.towns == [found])
            #expect(!atlas.second.hasChanges)
        }
    }

    @Test(arguments: [ConflictSide.ours, .theirs])
    func `F69 the policy may save a delete of an object that others changed, or drop it`(
        side: ConflictSide
    ) throws {
        let recorder = RecordingPolicy(side)
        let atlas = try Atlas(recorder)
        try atlas.saveTheirs { $0.name = "België" }

        try atlas.saveOurs { atlas.second.delete($0) }

        #expect(recorder.shown.withLock { $0.first?.ours.isEmpty } == true)
        #expect(try atlas.entries().map(\.name) == (side == .ours ? [] : ["België"]))
        atlas.second.performAndWait {
            #expect((atlas.ours.managedObjectContext == nil) == (side == .ours))
            #expect(!atlas.second.hasChanges)
        }
    }

    @Test func `F69 what the policy leaves open goes by the context's merge policy`() throws {
        let atlas = try Atlas(RecordingPolicy())
        atlas.second.performAndWait { atlas.second.mergePolicy = .mergeByPropertyStoreTrump }
        try atlas.saveTheirs { $0.name = "België" }

        try atlas.saveOurs {
            $0.name = "Belgique"
            $0.visits = 11
        }

        #expect(try atlas.entries() == [Atlas.Entry(code: "BE", name: "België", visits: 11)])
    }

    @Test func `F69 a policy that throws ends the save and leaves everything pending`() throws {
        let atlas = try Atlas(Refusing())
        try atlas.saveTheirs { $0.name = "België" }

        #expect(throws: Refusal.self) { try atlas.saveOurs { $0.name = "Belgique" } }

        atlas.second.performAndWait {
            #expect(atlas.ours.isUpdated)
            #expect(atlas.ours.name == "Belgique")
        }
        #expect(try atlas.entries().map(\.name) == ["België"])
    }

    @Test func `F69 locking conflicts are settled before constraint conflicts`() throws {
        let recorder = RecordingPolicy(.ours, code: "BE-2")
        let atlas = try Atlas(recorder)
        try atlas.saveTheirs { $0.name = "België" }

        try atlas.saveOurs {
            $0.name = "Belgique"
            let twin = Country(context: atlas.second)
            twin.code = "BE"
        }

        #expect(
            try atlas.entries() == [
                Atlas.Entry(code: "BE", name: "Belgique", visits: 10),
                Atlas.Entry(code: "BE-2", name: "", visits: 0),
            ])
        #expect(recorder.shown.withLock(\.count) == 1)
        #expect(recorder.clashes.withLock(\.count) == 1)
    }

    @Test(arguments: [ConflictSide.ours, .theirs])
    func `F69 F70 a policy makes a new object one with the owner of its unique code`(
        side: ConflictSide
    ) throws {
        let recorder = RecordingPolicy(side)
        let atlas = try Atlas(recorder)

        try atlas.saveOurs { _ in
            let twin = Country(context: atlas.second)
            twin.code = "BE"
            twin.name = "Belgique"
            twin.visits = 1
        }

        let clash = try #require(recorder.clashes.withLock { $0.first })
        #expect(clash.properties == ["code"])
        #expect(clash.values == [.string("BE")])
        #expect(clash.owner == atlas.ours.objectID.object)
        #expect(
            try atlas.entries() == [
                side == .ours
                    ? Atlas.Entry(code: "BE", name: "Belgique", visits: 1)
                    : Atlas.Entry(code: "BE", name: "Belgium", visits: 10)
            ])
    }
}
