public import DaybookSnapshotStore
import Foundation

/// The state of a projection while its fold works on it: a dictionary that is kept in the store.
///
/// ```swift
/// state["cash", default: 0] += amount
/// ```
///
/// What the fold changes is kept together with how far it has come, or not at all. A read or a write that fails
/// ends the fold with that error once it has returned, and nothing of the page is kept.
public struct ProjectionState<Key: ProjectionKey, Value: Codable & Sendable>: ~Copyable {
    private struct Slot {
        /// The value; nil for none.
        var value: Value?
        /// Whether the fold has set it.
        var isChanged: Bool
    }

    private let reader: StateReader
    private let coding: StateCoding<Key, Value>
    /// What has been read or set, by the bytes of the keys.
    private var known: [[UInt8]: Slot] = [:]
    /// The first thing that went wrong.
    fileprivate(set) var failure: (any Error)?

    init(_ reader: consuming StateReader, _ coding: StateCoding<Key, Value>) {
        self.reader = reader
        self.coding = coding
    }

    /// The value under a key; set it to nil to remove the key.
    ///
    /// - Complexity: O(log *n*) page reads for the first use of a key.
    public subscript(key: Key) -> Value? {
        mutating get {
            guard let name = name(of: key) else { return nil }
            return slot(name).value
        }
        set {
            guard let name = name(of: key) else { return }
            known[name] = Slot(value: newValue, isChanged: true)
        }
        _modify {
            guard let name = name(of: key) else {
                var nobody: Value?
                yield &nobody
                return
            }
            // The value leaves its slot meanwhile, so that a long one is changed where it is.
            var value = slot(name).value
            known[name] = Slot(value: nil, isChanged: true)
            defer { known[name]?.value = value }
            yield &value
        }
    }

    /// The value under a key, or a given one where there is none.
    ///
    /// - Complexity: O(log *n*) page reads for the first use of a key.
    public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        mutating get { self[key] ?? value() }
        set { self[key] = newValue }
        _modify {
            guard let name = name(of: key) else {
                var nobody = value()
                yield &nobody
                return
            }
            var value = slot(name).value ?? value()
            known[name] = Slot(value: nil, isChanged: true)
            defer { known[name]?.value = value }
            yield &value
        }
    }

    /// Keys and values, in the order of the keys, with what the fold has changed.
    ///
    /// - Parameters:
    ///   - lower: The first key; nil for the first of all.
    ///   - upper: The key behind the last; nil for the end.
    /// - Returns: The keys with their values, all in memory.
    /// - Throws: ``StoreError`` with code `unreadableValue` or `corrupt`; with `foldFailed` for what cannot be a key.
    /// - Complexity: O(log *n* + *k* + *c* log *c*) page reads, *k* the number of keys, *c* that of the keys that the
    ///   fold has used since the last page.
    public mutating func records(
        from lower: Key? = nil, to upper: Key? = nil
    ) throws(StoreError) -> [(key: Key, value: Value)] {
        do throws(StoreError) {
            return try coding.store.store.refusing {
                let range = StateRange(
                    from: try lower.map { try coding.bytes(of: $0) },
                    to: try upper.map { try coding.bytes(of: $0) })
                return try records(in: range)
            }
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    fileprivate func records(in range: StateRange) throws -> [(key: Key, value: Value)] {
        var kept: [(name: [UInt8], value: Value)] = []
        try reader.walk(from: range.lower, to: range.upper) { name, bytes in
            if known[name] == nil { kept.append((name, try coding.decoded(bytes))) }
            return .proceed
        }
        for (name, slot) in known where range.contains(name) {
            if let value = slot.value { kept.append((name, value)) }
        }
        kept.sort { $0.name.lexicographicallyPrecedes($1.name) }
        return try kept.map { (try coding.key($0.name), $0.value) }
    }

    /// What has been set, sorted by key.
    func changes() throws -> [StateRecord] {
        var changes: [StateRecord] = []
        for (name, slot) in known where slot.isChanged {
            changes.append(
                StateRecord(key: name, value: try slot.value.map { try coding.encoded($0) }))
        }
        return changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private mutating func name(of key: Key) -> [UInt8]? {
        do throws(StoreError) {
            return try coding.bytes(of: key)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    private mutating func slot(_ name: [UInt8]) -> Slot {
        if let slot = known[name] { return slot }
        var slot = Slot(value: nil, isChanged: false)
        do {
            slot.value = try reader.value(under: name).map { try coding.decoded($0) }
        } catch {
            failure = failure ?? error
        }
        known[name] = slot
        return slot
    }
}

extension ProjectionState where Key == String {
    /// Keys that begin with a text, and their values, in the order of the keys, with what the fold has changed.
    ///
    /// - Parameter prefix: The text.
    /// - Returns: The keys with their values, all in memory.
    /// - Throws: As ``records(from:to:)``.
    /// - Complexity: As for ``records(from:to:)``.
    public mutating func records(
        prefix: String
    ) throws(StoreError) -> [(key: String, value: Value)] {
        do throws(StoreError) {
            return try coding.store.store.refusing {
                try records(in: StateRange(prefix: try coding.bytes(of: prefix)))
            }
        } catch {
            failure = failure ?? error
            throw error
        }
    }
}
