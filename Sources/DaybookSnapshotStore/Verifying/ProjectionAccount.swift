internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Checks whether the tables of a store are what its journal gives, without building them again.
///
/// Folding writes records and removes others. Here the keyed hash of each record that is written is
/// added to a sum; the hash of each that is removed, or found in the tables at the end, is
/// subtracted. The sum is zero when both are the same records. The state before a change is read
/// from the tables of the past, where it must be if the tables are right; as it counts as removed,
/// a wrong one leaves a remainder.
///
/// Invariants:
/// - An object or connection begins only when it does not exist, and ends or changes only when it
///   does.
/// - A record of the past is older than the entry in its key. So only one record of an object fits
///   under its first change, one of the rest under its second, and so on.
///
/// The hash is the standard library's, with a key of 128 random bits unknown to the writer of the
/// store; two different sets of records have the same sum with a probability of 2⁻⁶⁴. The sum does
/// not show where they differ: when there is a remainder, the caller compares record by record.
final class ProjectionAccount {
    private let projection: Projection
    private let journal: Journal
    private let pending: PendingIndexes
    private let keyed: Hasher
    /// The projector, kept for its buffers; nil while it is in use.
    private var projector: Projector<CountedState>?
    private var sum: UInt64 = 0
    /// The objects that exist: by entity, 64 numbers to a word.
    private var objects: [EntityNumber: [UInt64: UInt64]] = [:]
    /// The connections that exist: the hashes of their keys.
    private var links: Set<UInt64> = []
    /// Whether everything so far can come from folding.
    private var isPossible = true
    /// How many records were found in the tables.
    private(set) var count = 0

    init(_ parts: StoreParts, _ pending: PendingIndexes) {
        projection = parts.projection
        journal = parts.journal
        self.pending = pending
        var generator = SystemRandomNumberGenerator()
        var hasher = Hasher()
        hasher.combine(generator.next() as UInt64)
        hasher.combine(generator.next() as UInt64)
        keyed = hasher
    }

    // MARK: - Existence

    /// Marks an object as existing; false when it already was.
    func begin(_ object: ObjectID) -> Bool {
        let bit: UInt64 = 1 << (object.number & 63)
        let known = objects[object.entity, default: [:]][object.number >> 6, default: 0]
        guard known & bit == 0 else { return false }
        objects[object.entity, default: [:]][object.number >> 6, default: 0] |= bit
        return true
    }

    /// Whether an object exists.
    func isThere(_ object: ObjectID) -> Bool {
        let known = objects[object.entity]?[object.number >> 6] ?? 0
        return known & (1 << (object.number & 63)) != 0
    }

    /// Marks an object as gone; false when it already was.
    func end(_ object: ObjectID) -> Bool {
        guard isThere(object) else { return false }
        objects[object.entity]?[object.number >> 6]? &= ~(1 << (object.number & 63))
        return true
    }

    /// Marks a connection as existing; false when it already was.
    func begin(_ table: Table, _ key: [UInt8]) -> Bool {
        links.insert(hash(table, key.span.bytes)).inserted
    }

    /// Marks a connection as gone; false when it already was.
    func end(_ table: Table, _ key: [UInt8]) -> Bool {
        links.remove(hash(table, key.span.bytes)) != nil
    }

    // MARK: - The sum

    func add(_ table: Table, _ key: RawSpan, _ value: RawSpan) {
        sum &+= hash(table, key, value)
    }

    func subtract(_ table: Table, _ key: RawSpan, _ value: RawSpan) {
        sum &-= hash(table, key, value)
    }

    /// Adds the records of a batch.
    func add(_ batch: PutBatch, to table: Table) {
        batch.forEach { add(table, $0, $1) }
    }

    /// Adds the keys of a batch for a table of the past, and subtracts the same records from the
    /// table of the present, whose keys lack the sequence number.
    func add(_ batch: PutBatch, to past: Table, from present: Table) {
        batch.forEach { key, value in
            sum &+= hash(past, key)
            subtract(present, key.extracting(0..<(key.byteCount - 8)), value)
        }
    }

    private func hash(_ table: Table, _ key: RawSpan, _ value: RawSpan? = nil) -> UInt64 {
        var hasher = keyed
        hasher.combine(table.handle)
        hasher.combine(key.byteCount)
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
        if let value { value.withUnsafeBytes { hasher.combine(bytes: $0) } }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    // MARK: - The result

    /// Takes in the next entry of the journal.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of its changes.
    func follow(_ entry: JournalEntry, in transaction: borrowing ReadTransaction) throws {
        guard isPossible else { return }
        do {
            var projector =
                self.projector.take()
                ?? Projector(CountedState(projection, self), after: .journal(journal))
            projector.pending = pending
            try projector.count(entry, to: self, in: transaction)
            self.projector = projector
        } catch let error as StoreError where error.code == .corrupt {
            // The account cannot come out even; replaying shows why.
            isPossible = false
        } catch let error as LMDBError where error.code == .corrupt {
            isPossible = false
        } catch let error as JournalError where error.isDamage {
            // An earlier entry, which an index is to have, is damaged; the journal's own check reports it.
            isPossible = false
        }
    }

    /// Whether the account comes out even, once every entry has been taken in.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read.
    func comesOutEven(in transaction: borrowing ReadTransaction) throws -> Bool {
        guard isPossible else { return false }
        do {
            return try closes(in: transaction)
        } catch let error as LMDBError where error.code == .corrupt {
            return false
        }
    }

    /// Subtracts everything in the tables from the sum.
    ///
    /// - Returns: Whether nothing is left.
    private func closes(in transaction: borrowing ReadTransaction) throws -> Bool {
        let tables = projection.tables
        // The values of these were already read, under each key that the journal gives.
        let past: Set = [tables.versions, tables.membersPast, tables.referrersPast]
        let start: [UInt8] = []
        for table in tables.projection {
            let isPast = past.contains(table)
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, value in
                count += 1
                if isPast {
                    sum &-= hash(table, key)
                } else {
                    subtract(table, key, value)
                }
                return .proceed
            }
        }
        return sum == 0
    }
}

extension JournalError {
    /// Whether the journal is damaged, and not out of reach.
    fileprivate var isDamage: Bool { code != .storage || cause?.code == .corrupt }
}
