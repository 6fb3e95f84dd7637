public import DaybookObjectModel
import Dispatch
public import Foundation
import Synchronization

/// A store with its coordinator and contexts: all that most programs need.
///
/// ```swift
/// let container = try PersistentContainer(url, model: [Employee.self, Department.self])
/// let context = container.viewContext
/// let ada = Employee(context: context)
/// ada.lastName = "Lovelace"
/// try context.save(note: "Hired")
/// ```
public final class PersistentContainer: Sendable {
    /// The coordinator.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context of the main queue.
    public let viewContext: ManagedObjectContext
    private let descriptions: Mutex<[PersistentStoreDescription]>

    /// Opens a store for classes, making it when there is none.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - model: The classes.
    ///   - requires: What every entry must say; see ``ManagedObjectModel/requires``.
    ///   - indexesEntries: What the store finds entries by; see ``ManagedObjectModel/indexesEntries``.
    ///   - options: How to open the store.
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together;
    ///   ``StoreError`` when the file cannot be used, or was written with another model.
    public convenience init(
        _ url: URL, model: [ManagedObject.Type], requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = [],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        try self.init(
            url,
            coordinator: PersistentStoreCoordinator(
                classes: model, requires: requires, indexesEntries: indexesEntries),
            options: options)
    }

    /// Opens a store for the classes of a plan's last version, making it when there is none. A store of an
    /// earlier version is taken through the stages that lead there.
    ///
    /// - Throws: ``ModelError`` when the plan, or the declarations of its classes, do not fit together;
    ///   ``StoreError`` with code `modelMismatch` when the store has no version of the plan; with
    ///   `validation` when objects do not fit a version; with `conflict` when others kept saving while a
    ///   stage was taken; with another code when the file cannot be used; what a stage throws. The store
    ///   has the version before the stage that failed then.
    public convenience init(
        _ url: URL, migrationPlan: any SchemaMigrationPlan.Type,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        try migrationPlan.check()
        var options = options
        options.migrationPlan = migrationPlan
        let last = migrationPlan.schemas.last
        try self.init(
            url, model: last?.models ?? [], requires: last?.requires ?? [],
            indexesEntries: last?.indexesEntries ?? [], options: options)
    }

    /// Opens a store for a model that was built or read at run time.
    ///
    /// - Throws: ``ModelError`` when the model does not hold together; ``StoreError`` when the file
    ///   cannot be used, or was written with another model.
    public convenience init(
        _ url: URL, managedObjectModel: ManagedObjectModel,
        classes: [ManagedObject.Type] = [],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        try self.init(
            url,
            coordinator: PersistentStoreCoordinator(
                managedObjectModel: managedObjectModel, classes: classes),
            options: options)
    }

    /// Makes a store in memory for classes, for tests and previews; see
    /// ``PersistentStoreType/inMemory``.
    ///
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together;
    ///   ``StoreError`` with code `unsupportedFileSystem` when the system has no file system in memory.
    public convenience init(
        inMemory model: [ManagedObject.Type], requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = []
    ) throws {
        try self.init(
            inMemory: PersistentStoreCoordinator(
                classes: model, requires: requires, indexesEntries: indexesEntries))
    }

    /// Makes a store in memory for a model that was built or read at run time; see
    /// ``PersistentStoreType/inMemory``.
    ///
    /// - Throws: ``ModelError`` when the model does not hold together; ``StoreError`` with code
    ///   `unsupportedFileSystem` when the system has no file system in memory.
    public convenience init(
        inMemory managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = []
    ) throws {
        try self.init(
            inMemory: PersistentStoreCoordinator(
                managedObjectModel: managedObjectModel, classes: classes))
    }

    private convenience init(inMemory coordinator: PersistentStoreCoordinator) throws {
        let description = PersistentStoreDescription.inMemory()
        try coordinator.addPersistentStore(with: description)
        self.init(coordinator, descriptions: [description])
    }

    private convenience init(
        _ url: URL, coordinator: PersistentStoreCoordinator, options: PersistentStoreOptions
    ) throws {
        try coordinator.addPersistentStore(at: url, options: options)
        self.init(coordinator, descriptions: [])
    }

    /// Makes a container for classes; its stores are opened by
    /// ``loadPersistentStores(completionHandler:)``.
    ///
    /// - Parameters:
    ///   - model: The classes.
    ///   - configurations: Some of the classes by the name of a configuration.
    ///   - requires: What every entry must say; see ``ManagedObjectModel/requires``.
    ///   - indexesEntries: What the store finds entries by; see ``ManagedObjectModel/indexesEntries``.
    ///   - descriptions: The stores to load.
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together.
    public convenience init(
        model: [ManagedObject.Type], configurations: [String: [ManagedObject.Type]] = [:],
        requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = [], descriptions: [PersistentStoreDescription]
    ) throws {
        self.init(
            try PersistentStoreCoordinator(
                classes: model, configurations: configurations, requires: requires,
                indexesEntries: indexesEntries),
            descriptions: descriptions)
    }

    /// Makes a container for a model that was built or read at run time; its stores are opened by
    /// ``loadPersistentStores(completionHandler:)``.
    ///
    /// - Throws: ``ModelError`` when the model does not hold together.
    public convenience init(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
        descriptions: [PersistentStoreDescription]
    ) throws {
        self.init(
            try PersistentStoreCoordinator(
                managedObjectModel: managedObjectModel, classes: classes),
            descriptions: descriptions)
    }

    private init(
        _ coordinator: PersistentStoreCoordinator, descriptions: [PersistentStoreDescription]
    ) {
        persistentStoreCoordinator = coordinator
        self.descriptions = Mutex(descriptions)
        viewContext = ManagedObjectContext(coordinator: coordinator, concurrencyType: .mainQueue)
    }

    /// The stores that ``loadPersistentStores(completionHandler:)`` opens.
    public var persistentStoreDescriptions: [PersistentStoreDescription] {
        get { descriptions.withLock { $0 } }
        set { descriptions.withLock { $0 = newValue } }
    }

    /// Opens the stores that are described, making those that are not there, and adds them.
    ///
    /// - Parameter completionHandler: Called once for each store, with nil or the error that kept it
    ///   from being added, a ``StoreError``; at once, in the order of the descriptions, or on another
    ///   queue for a store whose description says so. The other stores are loaded all the same.
    public func loadPersistentStores(
        completionHandler: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            let load = { @Sendable [persistentStoreCoordinator] in
                do {
                    try persistentStoreCoordinator.addPersistentStore(with: description)
                } catch {
                    return completionHandler(description, error)
                }
                completionHandler(description, nil)
            }
            if description.shouldAddStoreAsynchronously {
                DispatchQueue.global().async(execute: load)
            } else {
                load()
            }
        }
    }

    /// A new context with a queue of its own.
    public func newBackgroundContext() -> ManagedObjectContext {
        ManagedObjectContext(coordinator: persistentStoreCoordinator)
    }

    /// Runs `body` with a new context, on that context's queue.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before `body` has begun,
    ///   and then `body` never runs.
    public func performBackgroundTask<Result: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
    ) async throws -> Result {
        let context = newBackgroundContext()
        return try await context.perform { try body(context) }
    }
}
