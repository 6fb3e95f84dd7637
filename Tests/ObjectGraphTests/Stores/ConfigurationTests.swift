import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

@Suite struct ConfigurationTests {
    private static let configurations: [String: [ManagedObject.Type]] = [
        "Work": [Project.self, Task.self], "People": [Department.self, Desk.self, Employee.self],
    ]

    /// The results of a container for each store it loaded.
    private final class Answers: Sendable {
        private let answers = Mutex<[(url: URL, code: StoreError.Code?)]>([])

        var all: [(url: URL, code: StoreError.Code?)] { answers.withLock { $0 } }

        func record(_ description: PersistentStoreDescription, _ error: (any Error)?) {
            let code = (error as? StoreError)?.code
            answers.withLock { $0.append((description.url, code)) }
        }
    }

    // MARK: - Containers

    @MainActor @Test func `F1 a container calls back once for each store, success or error`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let good = folder.url.appendingPathComponent("good.daybook")
        let bad = folder.url.appendingPathComponent("bad.daybook")
        try Data("This is no store.".utf8).write(to: bad)
        let late = folder.url.appendingPathComponent("late.daybook")
        let container = try TestContainer.make(
            model: staff,
            descriptions: [good, bad, late].map { PersistentStoreDescription(url: $0) })
        let answers = Answers()

        container.loadPersistentStores { answers.record($0, $1) }

        #expect(answers.all.map(\.url) == [good, bad, late])
        #expect(answers.all.map(\.code) == [nil, .notAStore, nil])
        let stores = container.persistentStoreCoordinator.persistentStores
        #expect(stores.map(\.url) == [good, late])
        let context = container.viewContext
        #expect(context.concurrencyType == .mainQueue)
        Employee(context: context).lastName = "Lovelace"
        #expect(try context.save() == SequenceNumber(2))
        let count = try await container.performBackgroundTask { background in
            #expect(background.concurrencyType == .privateQueue)
            return try background.count(FetchRequest<Employee>())
        }
        #expect(count == 1)
        #expect(container.newBackgroundContext().coordinator === context.coordinator)
    }

    @Test func `F1 a store that is loaded already calls back with an error`() throws {
        let folder = try TemporaryDirectory()
        let description = PersistentStoreDescription(
            url: folder.url.appendingPathComponent("staff.daybook"))
        let container = try TestContainer.make(model: staff, descriptions: [description])
        let answers = Answers()

        container.loadPersistentStores { answers.record($0, $1) }
        container.loadPersistentStores { answers.record($0, $1) }

        #expect(answers.all.map(\.code) == [nil, .exists])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func `F2 a description says where, what, and how a store is opened`() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("people.daybook")
        var description = PersistentStoreDescription(url: url, configuration: "People")
        description.durability = .relaxed
        description.shouldAddStoreAsynchronously = true
        let container = try TestContainer.make(
            model: staff, configurations: Self.configurations, descriptions: [])
        container.persistentStoreDescriptions = [description]

        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in continuation.resume(returning: error) }
        }

        #expect(error == nil)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.url == url)
        #expect(store.configurationName == "People")
        #expect(store.options.durability == .relaxed)
        #expect(!store.isReadOnly)
    }

    @Test func `F2 a read-only description makes no store`() throws {
        let folder = try TemporaryDirectory()
        var description = PersistentStoreDescription(
            url: folder.url.appendingPathComponent("none.daybook"))
        description.isReadOnly = true
        let container = try TestContainer.make(model: staff, descriptions: [description])
        let answers = Answers()

        container.loadPersistentStores { answers.record($0, $1) }

        #expect(answers.all.map(\.code) == [.missing])
        #expect(!FileManager.default.fileExists(atPath: description.url.path))
    }

    // MARK: - Configurations

    /// A coordinator with a store for people and, after it, one for work.
    private static func coordinator(
        in folder: TemporaryDirectory
    ) throws -> PersistentStoreCoordinator {
        let coordinator = try PersistentStoreCoordinator(
            classes: staff, configurations: configurations)
        for name in ["People", "Work"] {
            try coordinator.addPersistentStore(
                at: folder.url.appendingPathComponent("\(name).daybook"), configuration: name)
        }
        return coordinator
    }

    @Test func `F4 an object goes to the first writable store whose configuration has its entity`()
        throws
    {
        let folder = try TemporaryDirectory()
        let coordinator = try Self.coordinator(in: folder)
        let stores = coordinator.persistentStores
        let context = ManagedObjectContext(coordinator: coordinator)

        try context.performAndWait { () throws in
            let ada = Employee(context: context)
            let engine = Project(context: context)
            #expect(ada.objectID.storeIdentifier == stores[0].identifier)
            #expect(engine.objectID.storeIdentifier == stores[1].identifier)
            expect(.assignment) { try context.assign(ada, to: stores[1]) }
            try context.save()
            #expect(try context.count(FetchRequest<Employee>()) == 1)
            #expect(try context.fetch(FetchRequest<Project>()) == [engine])

            engine.members = [ada]
            expect(.crossStoreRelationship) { try context.save() }
        }
        #expect(try stores.map { try $0.head() } == [2, 2].map { SequenceNumber($0) })
    }

    @Test func `F4 without a store for an entity its objects cannot be saved, until there is one`()
        throws
    {
        let folder = try TemporaryDirectory()
        let coordinator = try PersistentStoreCoordinator(
            classes: staff, configurations: Self.configurations)
        try coordinator.addPersistentStore(
            at: folder.url.appendingPathComponent("People.daybook"), configuration: "People")
        let context = ManagedObjectContext(coordinator: coordinator)

        try context.performAndWait { () throws in
            let engine = Project(context: context)
            expect(.noSuchStore) { try context.save() }
            #expect(engine.isInserted)

            let work = try coordinator.addPersistentStore(
                at: folder.url.appendingPathComponent("Work.daybook"), configuration: "Work")
            try context.obtainPermanentIDs(for: [engine])
            #expect(engine.objectID.storeIdentifier == work.identifier)
            try context.save()
            #expect(try work.head() == SequenceNumber(2))
        }
    }

    @Test func `F4 a store keeps the whole model and may be added under another configuration`()
        throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("People.daybook")
        let first = try Self.coordinator(in: folder)
        let people = first.persistentStores[0]
        #expect(people.store.schema.model == first.managedObjectModel.persistent)
        try first.remove(people)

        let second = try PersistentStoreCoordinator(
            classes: staff, configurations: ["Desks": [Desk.self]])
        let store = try second.addPersistentStore(at: url, configuration: "Desks")
        let context = ManagedObjectContext(coordinator: second)

        try context.performAndWait { () throws in
            let desk = Desk(context: context)
            #expect(desk.objectID.storeIdentifier == store.identifier)
            _ = Employee(context: context)
            expect(.noSuchStore) { try context.save() }
        }
    }

    @Test func `F4 a configuration that the model does not have is refused`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        let coordinator = try PersistentStoreCoordinator(
            classes: staff, configurations: Self.configurations)

        let error = #expect(throws: StoreError.self) {
            try coordinator.addPersistentStore(at: url, configuration: "Play")
        }

        #expect(error?.code == .noSuchConfiguration)
        #expect(
            error?.message == "The model has no configuration 'Play'. It has 'People', 'Work'.")
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `F4 a configuration with an unknown entity is a mistake in the model`() {
        let model = ManagedObjectModel(
            entities: [EntityDescription(name: "Employee")],
            configurations: ["People": ["Employee", "Emploee"]])

        let error = #expect(throws: ModelError.self) { try model.validate() }

        #expect(
            error?.problems == [
                "The configuration 'People' has an entity 'Emploee', which is not in the model."
            ])
    }

    @Test func `F4 configurations are kept in a model file and in a store`() throws {
        let text = """
            {"entities":[{"name":"Desk"},{"name":"Employee"}],\
            "configurations":{"People":["Employee"],"Things":["Desk"]}}
            """
        let model = try ManagedObjectModel(json: text)

        #expect(model.configurations == ["People": ["Employee"], "Things": ["Desk"]])
        #expect(model.entities(forConfigurationName: "Things")?.map(\.name) == ["Desk"])
        #expect(model.entities(forConfigurationName: "Work") == nil)
        #expect(model.json(.oneLine) == text)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model.canonical)

        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        try PersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(at: url)
        let store = try TestStore.open(at: url.path)
        #expect(store.schema.model.configurations == model.configurations)
    }

    @Test(arguments: [
        (#"{"entities":[],"configurations":[]}"#, "configurations: an object was expected"),
        (#"{"entities":[],"configurations":{"A":1}}"#, "configurations.A: a list was expected"),
        (
            #"{"entities":[],"configurations":{"A":[1]}}"#,
            "configurations.A[0]: the name of an entity was expected"
        ),
    ])
    func `F4 mistakes in the configurations of a model file have a path`(
        text: String, problem: String
    ) throws {
        let error = #expect(throws: ModelError.self) { try ManagedObjectModel(json: text) }

        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.hasPrefix(problem) == true, "\(String(describing: error))")
    }

    @Test func `F4 models that differ in configurations only are the same to a store`() throws {
        let entities = [EntityDescription(name: "Desk"), EntityDescription(name: "Employee")]
        let plain = ManagedObjectModel(entities: entities)
        let split = ManagedObjectModel(entities: entities, configurations: ["People": ["Employee"]])

        #expect(plain.differences(from: split).isEmpty)
        #expect(plain.canonicalBytes != split.canonicalBytes)
    }

    @Test func `F9 changing a copy of a model changes nothing that is in use`() throws {
        let set = try StoreSet("staff")
        var model = set.coordinator.managedObjectModel

        model.entities.removeAll { $0.name == "Employee" }
        model.configurations["Work"] = ["Project"]

        #expect(set.coordinator.managedObjectModel.entitiesByName["Employee"] != nil)
        #expect(set.coordinator.managedObjectModel.configurations.isEmpty)
        try set.hire("Lovelace", in: set.coordinator.persistentStores[0])
        #expect(try StoreSet.lastNames(at: set.url("staff")) == ["Lovelace"])
    }
}
