public import DaybookSnapshotStore
public import Foundation

/// A type that the keys of a projection's state can have.
///
/// `String`, `Data`, `Int`, `UUID`, `Date` and ``ManagedObjectID`` are, and so is each type that is raw
/// representable as one of them and says that it conforms:
///
/// ```swift
/// enum Rank: String, ProjectionKey { case junior, senior }
/// ```
///
/// Equal keys must have equal bytes, and different ones different bytes. The state keeps its keys in the order of
/// the bytes: texts in that of their Unicode scalars, numbers and dates from the least to the greatest.
public protocol ProjectionKey: Hashable, Sendable {
    /// How the bytes are to be read by those who do not know the type, such as the command.
    static var projectionKeyForm: ProjectionKeyForm { get }

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - bytes: What ``projectionKey(in:)`` has given.
    ///   - store: The store of the state.
    init?(projectionKey bytes: [UInt8], in store: PersistentStore)

    /// The key as bytes.
    ///
    /// - Parameter store: The store of the state.
    /// - Returns: At most 507 bytes; nil for what cannot be a key in the store.
    func projectionKey(in store: PersistentStore) -> [UInt8]?
}

extension ProjectionKey where Self: RawRepresentable, RawValue: ProjectionKey {
    /// The form of the raw value.
    public static var projectionKeyForm: ProjectionKeyForm { RawValue.projectionKeyForm }

    /// Reads a raw value; nil when no case has it.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        guard let raw = RawValue(projectionKey: bytes, in: store) else { return nil }
        self.init(rawValue: raw)
    }

    /// The bytes of the raw value.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? {
        rawValue.projectionKey(in: store)
    }
}

extension String: ProjectionKey {
    /// ``ProjectionKeyForm/string``.
    public static var projectionKeyForm: ProjectionKeyForm { .string }

    /// Reads UTF-8.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        self.init(validating: bytes, as: UTF8.self)
    }

    /// UTF-8, in Unicode's composed form (NFC): texts that are equal in Swift are one key.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? {
        let bytes = Array(utf8)
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
        return Array(precomposedStringWithCanonicalMapping.utf8)
    }
}

extension Data: ProjectionKey {
    /// ``ProjectionKeyForm/data``.
    public static var projectionKeyForm: ProjectionKeyForm { .data }

    /// Takes the bytes.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        self.init(bytes)
    }

    /// The bytes.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? { Array(self) }
}

extension Int: ProjectionKey {
    /// ``ProjectionKeyForm/integer``.
    public static var projectionKeyForm: ProjectionKeyForm { .integer }

    /// Reads eight bytes.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        guard let number = StateKey.integer(bytes) else { return nil }
        self.init(exactly: number)
    }

    /// Eight bytes, big-endian, the sign bit flipped.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? {
        StateKey.bytes(of: Int64(self))
    }
}

extension UUID: ProjectionKey {
    /// ``ProjectionKeyForm/uuid``.
    public static var projectionKeyForm: ProjectionKeyForm { .uuid }

    /// Reads sixteen bytes.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        guard let uuid = StateKey.uuid(bytes) else { return nil }
        self = uuid
    }

    /// Its sixteen bytes.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? { StateKey.bytes(of: self) }
}

extension Date: ProjectionKey {
    /// ``ProjectionKeyForm/date``.
    public static var projectionKeyForm: ProjectionKeyForm { .date }

    /// Reads eight bytes.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        guard let date = StateKey.date(bytes) else { return nil }
        self = date
    }

    /// Eight bytes, which are in the order of the dates; nil for "not a number".
    public func projectionKey(in store: PersistentStore) -> [UInt8]? { StateKey.bytes(of: self) }
}

extension ManagedObjectID: ProjectionKey {
    /// ``ProjectionKeyForm/object``.
    public static var projectionKeyForm: ProjectionKeyForm { .object }

    /// Reads the numbers of entity and object.
    public init?(projectionKey bytes: [UInt8], in store: PersistentStore) {
        guard let object = StateKey.object(bytes) else { return nil }
        self = store.objectID(object)
    }

    /// The numbers of entity and object, twelve bytes; nil for an object of another store.
    public func projectionKey(in store: PersistentStore) -> [UInt8]? {
        storeIdentifier == store.identifier ? StateKey.bytes(of: object) : nil
    }
}
