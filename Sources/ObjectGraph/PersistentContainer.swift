public import Foundation
public import JournalLog
public import ObjectModel
import SnapshotStore

/// A point in the past of a store.
public enum Moment: Sendable, Hashable {
    /// Just after an entry.
    case sequence(SequenceNumber)
    /// Just after the last entry that happened at or before a date.
    case date(Date)
}

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

    private init(
        _ url: URL, coordinator: PersistentStoreCoordinator, options: PersistentStoreOptions
    ) throws {
        try coordinator.addPersistentStore(at: url, options: options)
        persistentStoreCoordinator = coordinator
        viewContext = ManagedObjectContext(coordinator: coordinator, concurrencyType: .mainQueue)
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

    /// The graph as it was: a context that reads at a point in the past and cannot be saved.
    ///
    /// - Throws: ``StoreError`` with code `noSuchEntry` when the journal does not reach that far.
    /// - Complexity: O(log *n*); nothing is replayed.
    public func context(at moment: Moment) throws -> ManagedObjectContext {
        let store = persistentStoreCoordinator.defaultStore
        let sequence: SequenceNumber
        switch moment {
        case .sequence(let number):
            let head = try store.head()
            guard number <= head else { throw StoreError.noSuchMoment(number, head: head) }
            sequence = number
        case .date(let date):
            sequence = try store.store.sequence(atTime: date.microseconds)
        }
        return ManagedObjectContext(
            coordinator: persistentStoreCoordinator, readingMode: .pinned(sequence))
    }
}

extension Date {
    /// Microseconds since 1970, rounded down.
    var microseconds: Int64 {
        Int64(clampingDouble: (timeIntervalSince1970 * 1_000_000).rounded(.down))
    }
}

extension Int64 {
    fileprivate init(clampingDouble number: Double) {
        if number.isNaN || number <= -0x1p63 {
            self = .min
        } else {
            self = number >= 0x1p63 ? .max : Int64(number)
        }
    }
}
