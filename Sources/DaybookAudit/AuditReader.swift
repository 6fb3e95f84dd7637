public import DaybookJournalLog
public import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// Reads the records of a store, one by one.
///
/// Every digest is checked on the way. Memory is needed for a few entries at a time, however long
/// the journal is, and no lock is held between them, so a slow reader blocks nobody.
///
/// ```swift
/// let reader = try AuditReader(url)
/// try reader.records { record in
///     print(record)
///     return .proceed
/// }
/// ```
public struct AuditReader: Sendable {
    /// The order of the records.
    public enum Direction: Sendable, Hashable {
        /// The first entry first.
        case oldestFirst
        /// The last entry first.
        case newestFirst
    }

    /// Whether to continue reading.
    public enum Step: Sendable, Hashable {
        /// Continue with the next record.
        case proceed
        /// Stop.
        case stop
    }

    let store: Store

    /// Opens a store for reading.
    ///
    /// - Parameter url: The file, which is not written.
    /// - Throws: `StoreError` when it is not a store or cannot be read.
    public init(_ url: URL) throws {
        try self.init(path: url.path)
    }

    /// Opens a store for reading.
    ///
    /// - Parameter path: The file, which is not written.
    /// - Throws: `StoreError` when it is not a store or cannot be read.
    public init(path: String) throws {
        self.init(try Store.open(at: path, options: StoreOptions(isReadOnly: true)))
    }

    /// Reads a store that is open.
    package init(_ store: Store) {
        self.store = store
    }

    /// Large data of the store, so that their bytes can be read.
    ///
    /// - Parameter data: A reference from this store: the ``AuditValue/content`` of a value.
    /// - Returns: The same, with a way to the bytes.
    public func largeData(_ data: LargeData) -> LargeData {
        data.attached(to: store)
    }

    /// Hands the records that a filter selects to `body`.
    ///
    /// Reads the journal as it is at the start, without later saves. Every entry of the range is read and checked,
    /// whatever the store keeps an index of: an audit trail depends on the journal alone.
    ///
    /// - Parameters:
    ///   - filter: The records and changes to read.
    ///   - direction: The order of the records.
    ///   - body: Takes a record and says whether to continue.
    /// - Throws: `StoreError` with code `noSuchEntity` or `noSuchObject` when the filter names what
    ///   the model does not have; with code `corrupt` at the first entry that is not what was
    ///   written; what `body` throws.
    /// - Complexity: O(*n*) page reads, *n* the size of the entries in the range of the filter.
    public func records(
        matching filter: AuditFilter = AuditFilter(), _ direction: Direction = .oldestFirst,
        _ body: (AuditRecord) throws -> Step
    ) throws {
        let wanted = try filter.resolved(in: store.modelHistory(), store.schema)
        let last = min(filter.range.upperBound, try store.head())
        let first = max(filter.range.lowerBound, SequenceNumber(1))
        guard first <= last else { return }
        switch direction {
        case .oldestFirst:
            try store.entries(from: first, through: last) { entry in
                guard let record = wanted.record(of: entry) else { return .proceed }
                return try body(record) == .proceed ? .proceed : .stop
            }
        case .newestFirst:
            var next = last
            while next >= first {
                let entry = try store.entry(next)
                if let record = wanted.record(of: entry), try body(record) == .stop { return }
                next = next.previous
            }
        }
    }

    /// The same records, looked up in the index of entries where the store has one that serves: for somebody who looks
    /// at them, and not for a proof. An entry that a damaged index lacks is left out.
    ///
    /// - Throws: As ``records(matching:_:_:)``, for the entries that are read.
    /// - Complexity: O(log *n* + *k*) page reads where the index serves, *k* the size of the entries that it finds.
    package func recordsLookedUp(
        matching filter: AuditFilter, _ direction: Direction = .oldestFirst,
        _ body: (AuditRecord) throws -> Step
    ) throws {
        let wanted = try filter.resolved(in: store.modelHistory(), store.schema)
        try store.entries(
            selectedBy: wanted.headers, from: filter.range.lowerBound,
            through: filter.range.upperBound,
            direction == .oldestFirst ? .oldestFirst : .newestFirst
        ) { entry in
            guard let record = wanted.record(of: entry) else { return .proceed }
            return try body(record) == .proceed ? .proceed : .stop
        }
    }

    /// The last entry; zero when the journal is empty.
    ///
    /// - Throws: `StoreError` when the store cannot be read.
    public func head() throws -> SequenceNumber { try store.head() }

    /// The record of one entry.
    ///
    /// - Throws: `StoreError` with code `noSuchEntry` when there is none.
    public func record(at sequence: SequenceNumber) throws -> AuditRecord {
        try record(of: try store.entry(sequence))
    }

    /// An entry made readable by the model under which it was written.
    package func record(of entry: Entry) throws -> AuditRecord {
        let history = try store.modelHistory()
        return AuditRecord(
            entry, in: history.schema(at: entry.sequence),
            before: entry.version == nil ? nil : history.schema(before: entry.sequence))
    }
}
