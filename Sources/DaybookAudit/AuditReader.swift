public import DaybookJournalLog
internal import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// Reads the records of a store, one after the other.
///
/// Every digest is checked on the way. Memory is needed for a few entries at a time, however long
/// the journal is, and no lock is held between them, so a slow reader keeps nobody waiting.
///
/// ```swift
/// let reader = try AuditReader(url)
/// try reader.records { record in
///     print(record)
///     return .proceed
/// }
/// ```
public struct AuditReader: Sendable {
    /// The way through the journal.
    public enum Direction: Sendable, Hashable {
        /// The first entry first.
        case oldestFirst
        /// The last entry first.
        case newestFirst
    }

    /// Whether the reading goes on.
    public enum Step: Sendable, Hashable {
        /// To the next record.
        case proceed
        /// No further.
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

    /// Hands the records that a filter wants to `body`.
    ///
    /// The journal as it is at the start is read; what is saved meanwhile is not.
    ///
    /// - Parameters:
    ///   - filter: Which records, and which of their changes.
    ///   - direction: Which record comes first.
    ///   - body: Says whether to go on.
    /// - Throws: `StoreError` with code `noSuchEntity` or `noSuchObject` when the filter names what
    ///   the model does not have; with code `corrupt` at the first entry that is not what was
    ///   written; what `body` throws.
    /// - Complexity: O(*n*) page reads, *n* the size of the entries in the range of the filter.
    public func records(
        matching filter: AuditFilter = AuditFilter(), _ direction: Direction = .oldestFirst,
        _ body: (AuditRecord) throws -> Step
    ) throws {
        let wanted = try filter.resolved(in: store.schema)
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

    /// The last entry there is; zero when the journal is empty.
    ///
    /// - Throws: `StoreError` when the store cannot be read.
    public func head() throws -> SequenceNumber { try store.head() }

    /// The record of one entry.
    ///
    /// - Throws: `StoreError` with code `noSuchEntry` when there is none.
    public func record(at sequence: SequenceNumber) throws -> AuditRecord {
        AuditRecord(try store.entry(sequence), in: store.schema)
    }
}
