// The room of the store: a file with a journal and the tables derived from it, how it is opened,
// moved and laid out, its metadata, and its errors. All other rooms build on this one.

package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
import DaybookStopping
package import Foundation
internal import Synchronization

/// A journal and its projection in one file: the only one to open write transactions.
///
/// Invariants:
/// - The projection is what folding the journal from its first entry gives, byte for byte.
/// - An entry and its projection become durable together or not at all.
/// - The first entry sets the model.
///
/// Nothing about the journal is kept in memory: every call reads the file, and so sees what other
/// processes have saved. Any thread may call any method.
package final class Store: Sendable {
    /// The path by which the store was opened.
    package let path: String
    /// The model, ready for use.
    package let schema: Schema
    /// The identifier of the store.
    package let uuid: UUID
    /// When it was made, in microseconds since 1970.
    package let createdAt: Int64
    let options: StoreOptions
    let parts: StoreParts
    /// The model that this opening knows, and the one in force.
    let models: ModelsInForce
    /// The stage of a migration that this opening is for; nil for every other opening.
    let stage: ModelStage?
    let numbers = ObjectNumbers()
    let feed = CommitFeed()
    let news = StoreNews()
    let pastIndexes = PastIndexes()
    /// What stands between a save and the file, where that is linked to a shared journal.
    let sharing: JournalGate?
    /// What is done for the shared store without a wait; nil for a store of its own.
    let ahead: WorkAhead?
    private let following = Mutex<(any AnyObject & Sendable)?>(nil)
    private let environment: Mutex<Environment?>

    init(
        path: String, model: StoreModel, metadata: StoreMetadata, options: StoreOptions,
        parts: StoreParts, environment: Environment, stage: ModelStage? = nil,
        sharing: JournalGate? = nil
    ) {
        self.path = path
        self.stage = stage
        self.sharing = sharing
        ahead = sharing == nil ? nil : WorkAhead()
        schema = model.schema
        models = ModelsInForce(view: model, parts)
        self.uuid = metadata.uuid
        self.createdAt = metadata.createdAt
        self.options = options
        self.parts = parts
        self.environment = Mutex(environment)
    }

    deinit {
        do {
            try close()
        } catch {
            // The unused numbers stay taken and are lost, which does no harm.
            return
        }
    }

    /// Gives back unused object numbers and closes the file.
    ///
    /// Closing twice is fine; every other call on a closed store throws ``StoreError/Code/closed``.
    package func close() throws {
        following.withLock { $0 = nil }
        sendMarksNow()
        guard let environment = environment.withLock({ $0.take() }) else { return }
        ahead?.end()
        defer { news.tellEverybody() }
        guard !options.isReadOnly, !numbers.areImagined else { return }
        do {
            guard sharing == nil else { return try keepSharedNumbers(environment) }
            guard let unused = numbers.removeLast() else { return }
            try wrapping {
                try environment.perform(waiting: LockPatience(limit: .zero)) {
                    [meta = parts.tables.meta] transaction in
                    // If another process has taken numbers after ours, ours are lost.
                    let reserved = try StoreMetadata.reserved(meta, in: transaction)
                    guard reserved == unused.upperBound else { return }
                    try StoreMetadata.setReserved(unused.lowerBound, meta, in: transaction)
                }
            }
        } catch let error as StoreError where error.code == .replaced || error.code == .busy {
            // A replaced file gives out no more numbers; and if another process is writing, ours
            // stay taken.
            return
        }
    }

    /// Refuses when the path no longer leads to the file that was opened.
    ///
    /// Every save checks this by itself; a reader goes on reading the old file.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/replaced``.
    package func checkIsInPlace() throws {
        let environment = try openEnvironment()
        try wrapping { try environment.checkIsInPlace() }
    }

    // MARK: - The head

    /// The number of the last entry in the file now.
    ///
    /// - Complexity: O(1).
    package func head() throws -> SequenceNumber {
        try reading { try StateFindings.head(of: self.parts.journal, in: $0) }
    }

    /// The digest of the last entry.
    package func headDigest() throws -> Digest {
        try reading { try self.parts.journal.headDigest(in: $0) }
    }

    // MARK: - Object numbers

    /// A number that no object of this store has had and that will not be given out again.
    ///
    /// Numbers come from a block in memory; only an empty block costs a write.
    package func allocateObjectNumber() throws -> UInt64 {
        while true {
            if let number = numbers.next() { return number }
            let count = numbers.countToTake()
            if let sharing {
                try takeSharedNumbers(sharing, count: count)
                continue
            }
            let block = try writing { [meta = parts.tables.meta] in
                try StoreMetadata.refuseLinked(meta, in: $0)
                return try ObjectNumbers.reserve(meta, count: count, in: $0)
            }
            numbers.add(block)
        }
    }

    /// Gives out numbers from now on that are not taken, for a preview of objects that are never saved: neither the
    /// file nor a shared store is written to.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func imagineObjectNumbers() throws {
        let first = try reading { [meta = parts.tables.meta] in
            try StoreMetadata.reserved(meta, in: $0)
        }
        numbers.imagine(from: first)
    }

    /// Whether ``imagineObjectNumbers()`` was called: changes are only previewed then, also of a store that is open for
    /// reading.
    package var hasImaginedNumbers: Bool { numbers.areImagined }

    /// The first of `count` such numbers in a row.
    ///
    /// - Precondition: `count` is above 0.
    /// - Complexity: One write, which is durable when this returns.
    package func allocateObjectNumbers(_ count: Int) throws -> UInt64 {
        if let sharing { return try sharing.takeNumbers(UInt64(count)).lowerBound }
        return try writing { [meta = parts.tables.meta] in
            try StoreMetadata.refuseLinked(meta, in: $0)
            return try ObjectNumbers.reserve(meta, count: UInt64(count), in: $0).lowerBound
        }
    }

    /// Keeps what brings news of the shared journal, until the store is closed.
    func keep(_ following: any AnyObject & Sendable) {
        self.following.withLock { $0 = following }
    }

    // MARK: - Listeners

    /// Calls `listener` after each entry saved through this store, on the thread that saved it,
    /// with no lock held.
    package func subscribe(
        _ listener: @escaping @Sendable (SequenceNumber) -> Void
    ) -> Subscription {
        Subscription(to: feed, listener)
    }

    /// Calls the listeners about an entry that another process has saved.
    package func announce(_ sequence: SequenceNumber) {
        publish(sequence)
    }

    /// Calls all who listen about an entry.
    func publish(_ sequence: SequenceNumber) {
        feed.publish(sequence)
        news.tell(of: sequence)
    }

    // MARK: - The file

    /// Runs `body` in a read transaction of its own.
    func reading<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        let environment = try openEnvironment()
        return try wrapping { try environment.read(body) }
    }

    /// Runs `body` in a write transaction, perhaps more than once.
    ///
    /// - Parameters:
    ///   - outcome: Keeps what `body` returned last, also when that was not committed.
    ///   - body: Writes.
    /// - Returns: What `body` returned.
    /// - Throws: ``StoreError``, or what `body` throws; nothing was written then.
    func writing<R: Sendable>(
        keeping outcome: WriteOutcome<R> = WriteOutcome(),
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> R
    ) throws -> R {
        guard !options.isReadOnly else { throw StoreError.readOnly(path) }
        let environment = try openEnvironment()
        defer { if sharing != nil { tellOfForeignEntries() } }
        try wrapping {
            try environment.perform { transaction in
                let result = try body(transaction)
                outcome.value.withLock { $0 = result }
            }
        }
        guard let result = outcome.value.withLock({ $0 }) else {
            stop("A write that did not fail has a result.")
        }
        return result
    }

    /// Calls `look` whenever somebody may have written to the file.
    ///
    /// - Returns: What ends it when it is released; nil when nobody else can write.
    func watchFile(_ look: @escaping @Sendable () -> Void) -> FileWatch? {
        environment.withLock { $0 }?.watch(look)
    }

    func openEnvironment() throws -> Environment {
        guard let environment = environment.withLock({ $0 }) else {
            throw StoreError.closed(path)
        }
        return environment
    }

    /// Turns errors of the layers below into ``StoreError``s.
    func wrapping<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as any StoreLayerError {
            throw StoreError(wrapping: error, path: path)
        } catch let error as StoreError
            where !error.failures.isEmpty || !error.conflicts.isEmpty || !error.breaches.isEmpty
        {
            throw error.inStore(uuid)
        }
    }
}

/// The result of a body that writes, set on the thread that writes.
final class WriteOutcome<R: Sendable>: Sendable {
    let value = Mutex<R?>(nil)
}

/// Errors of the layers below, which the store always wraps. Errors of a caller's closure pass
/// unchanged.
protocol StoreLayerError: Error {}

extension LMDBError: StoreLayerError {}
extension JournalError: StoreLayerError {}
extension DecodingFailure: StoreLayerError {}

/// The two halves of a store.
struct StoreParts: Sendable {
    let journal: Journal
    let projection: Projection

    var tables: StoreTables { projection.tables }
}
