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
    @usableFromInline struct Slot {
        /// The value; nil for none.
        @usableFromInline var value: Value?
        /// Whether the fold has set it.
        @usableFromInline var isChanged: Bool
        /// The bytes of the key; nil for what cannot be a key.
        let name: [UInt8]?
    }

    private let reader: StateReader
    private let coding: StateCoding<Key, Value>
    /// What has been read or set.
    @usableFromInline var slots: [Slot] = []
    /// Where in ``slots`` a key is: by the bytes that are kept, and by the keys that have been used, which need not be
    /// made into bytes again.
    private var placesByName: [[UInt8]: Int] = [:]
    @usableFromInline var places: [Key: Int] = [:]
    /// The first thing that went wrong.
    fileprivate(set) var failure: (any Error)?

    init(_ reader: consuming StateReader, _ coding: StateCoding<Key, Value>) {
        self.reader = reader
        self.coding = coding
    }

    // Folds use keys once for each change, so this is compiled for their types in the program.

    /// The value under a key; set it to nil to remove the key.
    ///
    /// - Complexity: O(log *n*) page reads for the first use of a key.
    @inlinable
    public subscript(key: Key) -> Value? {
        mutating get { slots[place(of: key)].value }
        set {
            let place = place(of: key)
            slots[place].value = newValue
            slots[place].isChanged = true
        }
        _modify {
            let place = place(of: key)
            // The value leaves its slot meanwhile, so that a long one is changed where it is.
            var value = slots[place].value.take()
            slots[place].isChanged = true
            defer { slots[place].value = value }
            yield &value
        }
    }

    /// The value under a key, or a given one where there is none.
    ///
    /// - Complexity: O(log *n*) page reads for the first use of a key.
    @inlinable
    public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        mutating get { self[key] ?? value() }
        set { self[key] = newValue }
        _modify {
            let place = place(of: key)
            var value = slots[place].value.take() ?? value()
            slots[place].isChanged = true
            defer { slots[place].value = value }
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
            if placesByName[name] == nil { kept.append((name, try coding.decoded(bytes))) }
            return .proceed
        }
        for slot in slots {
            guard let name = slot.name, let value = slot.value, range.contains(name) else {
                continue
            }
            kept.append((name, value))
        }
        kept.sort { $0.name.lexicographicallyPrecedes($1.name) }
        return try kept.map { (try coding.key($0.name), $0.value) }
    }

    /// What has been set, sorted by key.
    func changes() throws -> [StateRecord] {
        var changes: [StateRecord] = []
        for slot in slots where slot.isChanged {
            guard let name = slot.name else { continue }
            changes.append(
                StateRecord(key: name, value: try slot.value.map { try coding.encoded($0) }))
        }
        return changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// Where in ``slots`` a key is.
    @inlinable
    mutating func place(of key: Key) -> Int {
        if let place = places[key] { return place }
        return begin(key)
    }

    /// Reads a key that has not been used yet.
    @usableFromInline
    mutating func begin(_ key: Key) -> Int {
        let place = newPlace(of: key)
        places[key] = place
        return place
    }

    private mutating func newPlace(of key: Key) -> Int {
        var name: [UInt8]?
        var value: Value?
        do {
            let bytes = try coding.bytes(of: key)
            if let known = placesByName[bytes] { return known }
            name = bytes
            placesByName[bytes] = slots.count
            value = try reader.value(under: bytes).map { try coding.decoded($0) }
        } catch {
            failure = failure ?? error
        }
        slots.append(Slot(value: value, isChanged: false, name: name))
        return slots.count - 1
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
