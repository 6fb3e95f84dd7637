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
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together;
    ///   ``StoreError`` when the file cannot be used, or was written with another model.
    public convenience init(
        _ url: URL, model: [ManagedObject.Type],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        try self.init(
            url, coordinator: PersistentStoreCoordinator(classes: model), options: options)
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
    ///   - descriptions: The stores to load.
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together.
    public convenience init(
        model: [ManagedObject.Type], configurations: [String: [ManagedObject.Type]] = [:],
        descriptions: [PersistentStoreDescription]
    ) throws {
        self.init(
            try PersistentStoreCoordinator(classes: model, configurations: configurations),
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
    public func performBackgroundTask<Result: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
    ) async throws -> Result {
        let context = newBackgroundContext()
        return try await context.perform { try body(context) }
    }
}
