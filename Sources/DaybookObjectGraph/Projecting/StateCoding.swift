import DaybookSnapshotStore
import Foundation

/// Turns the keys and values of one projection into bytes and back.
struct StateCoding<Key: ProjectionKey, Value: Codable & Sendable> {
    /// The projection, for messages.
    let name: String
    let store: PersistentStore
    private let encoder: JSONEncoder
    private let decoder = JSONDecoder()

    init(_ name: String, in store: PersistentStore) {
        self.name = name
        self.store = store
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    /// The bytes of a key.
    ///
    /// - Throws: ``StoreError`` with code `foldFailed` for what cannot be a key.
    func bytes(of key: Key) throws(StoreError) -> [UInt8] {
        guard let bytes = key.projectionKey(in: store) else {
            throw StoreError(
                .foldFailed,
                "A key of the projection '\(name)' cannot be one in '\(store.name)': it belongs to another "
                    + "store, or is not a number.")
        }
        guard bytes.count <= StateKey.bytesLimit else {
            throw StoreError(
                .foldFailed,
                "A key of the projection '\(name)' has \(bytes.count) bytes, and keys have at most "
                    + "\(StateKey.bytesLimit). Use a digest of it.")
        }
        return bytes
    }

    /// The key of bytes.
    ///
    /// - Throws: ``StoreError`` with code `unreadableValue` for those of no key.
    func key(_ bytes: [UInt8]) throws(StoreError) -> Key {
        guard let key = Key(projectionKey: bytes, in: store) else {
            throw StoreError(
                .unreadableValue,
                "A key of the projection '\(name)' is none of the type '\(Key.self)'. Give the fold a higher "
                    + "version when its keys change.")
        }
        return key
    }

    /// The bytes of a value.
    func encoded(_ value: Value) throws -> [UInt8] {
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw StoreError(
                .foldFailed,
                "A value of the projection '\(name)' cannot be written as JSON: \(error).",
                cause: error)
        }
    }

    /// The value of bytes.
    ///
    /// - Throws: ``StoreError`` with code `unreadableValue`.
    func decoded(_ bytes: Data) throws(StoreError) -> Value {
        do {
            return try decoder.decode(Value.self, from: bytes)
        } catch {
            throw StoreError(
                .unreadableValue,
                "A value of the projection '\(name)' is none of the type '\(Value.self)'. Give the fold a "
                    + "higher version when its values change.",
                cause: error)
        }
    }
}

/// Keys of a state, as bytes.
struct StateRange {
    var lower: [UInt8] = []
    /// The one behind the last; nil for the end.
    var upper: [UInt8]?

    /// All keys that begin with bytes.
    init(prefix: [UInt8]) {
        lower = prefix
        upper = StateKey.end(of: prefix)
    }

    /// All keys from one up to another one.
    init(from lower: [UInt8]?, to upper: [UInt8]?) {
        self.lower = lower ?? []
        self.upper = upper
    }

    func contains(_ key: [UInt8]) -> Bool {
        guard !key.lexicographicallyPrecedes(lower) else { return false }
        return upper.map { key.lexicographicallyPrecedes($0) } ?? true
    }
}
