public import DaybookSnapshotStore
import Foundation

/// The state of a projection, as it was kept last: for one call of ``JournalProjection/read(_:)``.
///
/// Everything that is read from it is of one moment, whoever moves the projection meanwhile.
public struct ProjectionSnapshot<Key: ProjectionKey, Value: Codable & Sendable>: ~Copyable {
    private let reader: StateReader
    private let coding: StateCoding<Key, Value>

    init(_ reader: consuming StateReader, _ coding: StateCoding<Key, Value>) {
        self.reader = reader
        self.coding = coding
    }

    /// The version of the fold that has made the state: below that of the program while it builds a new one. Zero
    /// when none has begun.
    public var version: Int { reader.generation?.version ?? 0 }

    /// How many keys there are.
    public var count: Int { reader.generation?.keyCount ?? 0 }

    /// The value under a key; nil when there is none.
    ///
    /// - Throws: ``StoreError`` with code `unreadableValue` when the value is not one of the type; with `corrupt`.
    /// - Complexity: O(log *n*) page reads.
    public subscript(key: Key) -> Value? {
        get throws(StoreError) {
            try coding.store.store.refusing {
                guard let bytes = key.projectionKey(in: coding.store) else { return nil }
                return try reader.value(under: bytes).map { try coding.decoded($0) }
            }
        }
    }

    /// Passes keys and values to `body`, in the order of the keys.
    ///
    /// - Parameters:
    ///   - lower: The first key; nil for the first of all.
    ///   - upper: The key behind the last; nil for the end.
    ///   - body: Takes a key and its value.
    /// - Throws: ``StoreError`` with code `unreadableValue` or `corrupt`; what `body` throws.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of keys passed on.
    public func forEach(
        from lower: Key? = nil, to upper: Key? = nil, _ body: (Key, Value) throws -> Void
    ) throws {
        let range = StateRange(
            from: try lower.map { try coding.bytes(of: $0) },
            to: try upper.map { try coding.bytes(of: $0) })
        try walk(range) { key, value in
            try body(key, value)
            return .proceed
        }
    }

    /// Keys and values, in the order of the keys.
    ///
    /// - Parameters:
    ///   - lower: The first key; nil for the first of all.
    ///   - upper: The key behind the last; nil for the end.
    ///   - limit: How many at most; nil for all.
    /// - Returns: The keys with their values.
    /// - Throws: ``StoreError`` with code `unreadableValue` or `corrupt`.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of keys.
    public func records(
        from lower: Key? = nil, to upper: Key? = nil, limit: Int? = nil
    ) throws(StoreError) -> [(key: Key, value: Value)] {
        try coding.store.store.refusing {
            let range = StateRange(
                from: try lower.map { try coding.bytes(of: $0) },
                to: try upper.map { try coding.bytes(of: $0) })
            return try records(in: range, limit)
        }
    }

    fileprivate func records(
        in range: StateRange, _ limit: Int?
    ) throws -> [(key: Key, value: Value)] {
        var found: [(key: Key, value: Value)] = []
        guard limit.map({ $0 > 0 }) ?? true else { return found }
        try walk(range) { key, value in
            found.append((key, value))
            return found.count == limit ? .stop : .proceed
        }
        return found
    }

    private func walk(
        _ range: StateRange, _ body: (Key, Value) throws -> WalkStep
    ) throws {
        try reader.generation?.check(Key.projectionKeyForm, of: coding.name)
        try reader.walk(from: range.lower, to: range.upper) { key, value in
            try body(try coding.key(key), try coding.decoded(value))
        }
    }
}

extension ProjectionSnapshot where Key == String {
    /// Keys that begin with a text, and their values, in the order of the keys.
    ///
    /// - Parameters:
    ///   - prefix: The text.
    ///   - limit: How many at most; nil for all.
    /// - Returns: The keys with their values.
    /// - Throws: ``StoreError`` with code `unreadableValue` or `corrupt`.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of keys.
    public func records(
        prefix: String, limit: Int? = nil
    ) throws(StoreError) -> [(key: String, value: Value)] {
        try coding.store.store.refusing {
            try records(in: StateRange(prefix: try coding.bytes(of: prefix)), limit)
        }
    }
}
