import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookLMDB
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

private final class Plant: ManagedObject {
    @Attribute var name: String = ""
    @Attribute(merge: .sum) var height: Int = 0
    @Relationship(inverse: .itself) var neighbours: Set<Plant>
}

private final class Shed: ManagedObject {
    @Attribute var name: String = ""
}

@Suite struct InMemoryTests {
    private func store(of container: PersistentContainer) throws -> PersistentStore {
        try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    private func grow(_ height: Int, in context: ManagedObjectContext) throws {
        try context.performAndWait { () throws in
            let plant = try #require(try context.fetch(FetchRequest<Plant>()).first)
            plant.height += height
            try context.save()
        }
    }

    @Test func `a store in memory has contexts, merging, undo and a past like any other`() throws {
        let container = try TestContainer.make(inMemory: [Plant.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let rose = Plant(context: context)
            rose.name = "Rose"
            rose.neighbours = [Plant(context: context)]
            try context.save(note: "Planted")
            context.delete(try #require(rose.neighbours.first))
            try context.save()
        }
        let others = [container.newBackgroundContext(), container.newBackgroundContext()]
        for other in others {
            try other.performAndWait { () throws in
                _ = try other.fetch(FetchRequest<Plant>()).map(\.height)
            }
        }
        for other in others { try grow(3, in: other) }

        let planted = SequenceNumber(2)
        let past = try container.context(at: .sequence(planted))
        try past.performAndWait { () throws in
            #expect(try past.count(FetchRequest<Plant>()) == 2)
        }
        #expect(try container.undo(SequenceNumber(4)).entry == SequenceNumber(6))
        try context.performAndWait { () throws in
            _ = try context.mergeChanges()
            let rose = try #require(try context.fetch(FetchRequest<Plant>()).first)
            #expect(rose.height == 3)
            let revisions = try context.history(of: rose.objectID)
            #expect(revisions.map(\.sequence).contains(SequenceNumber(6)))
        }
        #expect(try store(of: container).type == .inMemory)
        _ = try container.persistentStoreCoordinator.checkForRemoteChanges()
    }

    @Test func `no file has the name of a store in memory, so that nothing outlives the process`()
        throws
    {
        let container = try TestContainer.make(inMemory: [Plant.self])
        let store = try store(of: container)
        let path = store.store.path

        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(name)")
                return target?.hasPrefix(path) ?? false
            }
        }
        #expect(path.hasPrefix("/dev/shm/"))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
        #expect(
            !FileManager.default.fileExists(
                atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path))
        #expect(!FileManager.default.fileExists(atPath: store.url.path))
        #expect(try descriptors() > 0)

        try container.persistentStoreCoordinator.remove(store)

        #expect(try descriptors() == 0)
    }

    @Test func `each store in memory begins empty and is apart from the others`() throws {
        let first = try TestContainer.make(inMemory: [Plant.self])
        let context = first.newBackgroundContext()
        try context.performAndWait { () throws in
            _ = Plant(context: context)
            try context.save()
        }

        let second = try TestContainer.make(inMemory: GraphFixture.model, classes: [Plant.self])
        let other = second.newBackgroundContext()

        try other.performAndWait { () throws in
            #expect(try other.count(FetchRequest<Plant>()) == 0)
        }
        #expect(try store(of: first).url != store(of: second).url)
    }

    @Test func `a store in memory is never made on a disk`() throws {
        let folder = try TemporaryDirectory()
        let version = try ModelVersion(first: GraphFixture.model)
        // The file system of processes is not in memory either, whatever the temporary folder's is.
        let error = #expect(throws: StoreError.self) {
            try Store.createInMemory(version: version, folder: "/proc")
        }
        let missing = #expect(throws: StoreError.self) {
            try Store.createInMemory(
                version: version, folder: folder.url.appendingPathComponent("none").path)
        }

        #expect(error?.code == .unsupportedFileSystem)
        #expect(error?.message.contains("'/proc' is not in memory") == true)
        #expect(missing?.code == .unsupportedFileSystem)
    }

    @Test func `a description may keep one configuration in memory and another in a file`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("shed.daybook")
        var memory = PersistentStoreDescription(
            url: folder.url.appendingPathComponent("plants.daybook"), configuration: "garden")
        memory.type = .inMemory
        let container = try TestContainer.make(
            model: [Plant.self, Shed.self],
            configurations: ["garden": [Plant.self], "house": [Shed.self]],
            descriptions: [
                memory, PersistentStoreDescription(url: url, configuration: "house"),
            ])
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            Plant(context: context).name = "Rose"
            Shed(context: context).name = "Blue"
            try context.save()
        }

        let coordinator = container.persistentStoreCoordinator
        #expect(coordinator.persistentStore(for: memory.url)?.type == .inMemory)
        #expect(coordinator.persistentStore(for: url)?.type == .file)
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(!FileManager.default.fileExists(atPath: memory.url.path))
    }

    @Test func `a store in memory can be moved to a file, and goes on there`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("kept.daybook")
        let container = try TestContainer.make(inMemory: [Plant.self])
        let coordinator = container.persistentStoreCoordinator
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            Plant(context: context).name = "Rose"
            try context.save()
        }

        let kept = try coordinator.migratePersistentStore(store(of: container), to: url)

        #expect(kept.type == .file)
        try grow(2, in: context)
        let reader = try TestContainer.make(url, model: [Plant.self]).newBackgroundContext()
        try reader.performAndWait { () throws in
            #expect(try reader.fetch(FetchRequest<Plant>()).map(\.height) == [2])
        }
    }

    @Test func `a store in memory cannot be opened for reading only`() throws {
        var description = PersistentStoreDescription.inMemory()
        description.isReadOnly = true
        let coordinator = try PersistentStoreCoordinator(classes: [Plant.self])
        let error = #expect(throws: StoreError.self) {
            try coordinator.addPersistentStore(with: description)
        }

        #expect(error?.code == .readOnly)
    }
}

private enum GraphFixture {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Plant", attributes: [AttributeDescription(name: "name", type: .string)])
    ])
}
