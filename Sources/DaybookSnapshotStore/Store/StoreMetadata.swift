internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

/// The metadata of a store, apart from the journal.
struct StoreMetadata: Sendable {
    /// The identifier of the store.
    var uuid: UUID
    /// When it was made, in microseconds since 1970.
    var createdAt: Int64
    /// The shared journal that a new file is linked to. Later, the record in the file says so.
    private var link: FileLink?

    init(_ identity: StoreIdentity, link: FileLink? = nil) {
        uuid = identity.uuid
        createdAt = identity.createdAt
        self.link = link
    }

    /// Which store it is.
    var identity: StoreIdentity { StoreIdentity(uuid: uuid, createdAt: createdAt) }

    /// The names under which `meta` keeps the records.
    enum Name {
        static let format = "format"
        static let uuid = "uuid"
        static let createdAt = "createdAt"
        static let reserved = "reservedNumbers"
        static let all = [createdAt, format, reserved, uuid]
        /// The values that users keep; missing until some are set.
        static let userValues = "userValues"
        /// The names that users gave to entries; missing until a tag is set.
        static let tags = "tags"
        /// How far readers have come; missing until a cursor is set.
        static let cursors = "cursors"
        /// What programs fold out of the journal; missing until a fold has run.
        static let states = "states"
        /// The indexes that are being built; missing when there are none.
        static let pendingIndexes = "pendingIndexes"
        /// The shared journal that the file is linked to; missing in a store of its own.
        static let link = "link"
        /// The object numbers that a linked file has taken and not given out; missing when there are none.
        static let sharedNumbers = "sharedNumbers"
        /// What the servers of a linked file are known to keep beside the journal; missing when nothing is.
        static let sharedMarks = "sharedMarks"
        /// How often entries were cut off the end of the journal; missing while none were.
        static let rewinds = "rewinds"
        /// All of them.
        static let known: Set = [
            createdAt, format, reserved, uuid, userValues, tags, cursors, states, pendingIndexes,
            link, sharedNumbers, sharedMarks, rewinds,
        ]
    }

    /// Reads the records of a store.
    static func read(
        _ meta: Table, path: String, in transaction: borrowing some Reading & ~Copyable
    ) throws -> StoreMetadata {
        try checkFormat(meta, path: path, in: transaction)
        let uuid = try record(Name.uuid, meta, in: transaction)
        let created = try record(Name.createdAt, meta, in: transaction)
        guard let uuid, let created, let identity = try Self.identity(uuid: uuid, created: created)
        else {
            throw StoreError.corrupt("'\(path)' does not say which store it is")
        }
        return StoreMetadata(identity)
    }

    /// The identity that two records have; nil when the identifier is none.
    static func identity(uuid: [UInt8], created: [UInt8]) throws -> StoreIdentity? {
        guard let text = String(validating: uuid, as: UTF8.self),
            let identifier = UUID(uuidString: text)
        else { return nil }
        var reader = KeyReader()
        return StoreIdentity(
            uuid: identifier, createdAt: try reader.int64(created.span.bytes))
    }

    /// Checks that the file is a store of a readable format.
    static func checkFormat(
        _ meta: Table, path: String, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let format = try record(Name.format, meta, in: transaction) else {
            throw StoreError.notAStore(path)
        }
        var reader = KeyReader()
        let found = try reader.uint32(format.span.bytes)
        guard found == StoreLayout.format else { throw StoreError.otherFormat(path, found) }
    }

    /// Writes the records of a new store.
    func write(_ meta: Table, in transaction: borrowing WriteTransaction) throws {
        var format = KeyWriter(capacity: 4)
        format.append(StoreLayout.format)
        try Self.put(Name.format, format.bytes, meta, in: transaction)
        try Self.setIdentity(
            StoreIdentity(uuid: uuid, createdAt: createdAt), meta, in: transaction)
        try Self.setReserved(1, meta, in: transaction)
        if let link { try Self.setLink(link, meta, in: transaction) }
    }

    /// Says which store it is.
    static func setIdentity(
        _ identity: StoreIdentity, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var created = KeyWriter(capacity: 8)
        created.append(identity.createdAt)
        try put(Name.uuid, Array(identity.uuid.uuidString.utf8), meta, in: transaction)
        try put(Name.createdAt, created.bytes, meta, in: transaction)
    }

    // MARK: - Object numbers

    /// The first object number that is still free.
    static func reserved(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        guard let bytes = try record(Name.reserved, meta, in: transaction) else {
            throw StoreError.corrupt("The store does not say which object numbers are taken")
        }
        var reader = KeyReader()
        let number = try reader.uint64(bytes.span.bytes)
        guard (1...StoreLayout.objectNumberMaximum + 1).contains(number) else {
            throw StoreError.corrupt(
                "The store says that the object numbers below \(number) are taken, but there are "
                    + "only \(StoreLayout.objectNumberMaximum)")
        }
        return number
    }

    /// How often entries were cut off the end of the journal. What was learnt of the journal before is of no use after.
    static func rewinds(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        guard let bytes = try record(Name.rewinds, meta, in: transaction) else { return 0 }
        guard bytes.count == 8 else {
            throw StoreError.corrupt("The record '\(Name.rewinds)' of the store is no number")
        }
        var reader = KeyReader()
        return try reader.uint64(bytes.span.bytes)
    }

    /// As ``rewinds(_:in:)``; the greatest number where the record is damaged. That is for the check of the store to
    /// tell: who reads or saves only asks whether the count is another one than before, and goes on.
    static func rewindsIfSound(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        do {
            return try rewinds(meta, in: transaction)
        } catch let error as StoreError where error.code == .corrupt {
            return .max
        }
    }

    /// Counts that entries were cut off.
    static func countRewind(
        _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = KeyWriter(capacity: 8)
        writer.append(try rewinds(meta, in: transaction) &+ 1)
        try put(Name.rewinds, writer.bytes, meta, in: transaction)
    }

    static func setReserved(
        _ number: UInt64, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = KeyWriter(capacity: 8)
        writer.append(number)
        try put(Name.reserved, writer.bytes, meta, in: transaction)
    }

    // MARK: - Records

    /// A record without its digest; nil when there is none.
    static func record(
        _ name: String, _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]? {
        let key = Array(name.utf8)
        guard let bytes = try transaction.get(meta, key.span.bytes, { $0.array }) else {
            return nil
        }
        guard let content = content(of: bytes, named: name) else {
            throw StoreError.corrupt("The record '\(name)' of the store is damaged")
        }
        return content
    }

    /// The bytes of a record without its digest; nil when this does not fit.
    static func content(of bytes: [UInt8], named name: String) -> [UInt8]? {
        let content = Array(bytes.dropLast(Digest.byteCount))
        guard bytes.count >= Digest.byteCount,
            Digest.of(Array(name.utf8) + content).bytes == Array(bytes.suffix(Digest.byteCount))
        else { return nil }
        return content
    }

    static func put(
        _ name: String, _ content: [UInt8], _ meta: Table,
        in transaction: borrowing WriteTransaction
    ) throws {
        let key = Array(name.utf8)
        let value = content + Digest.of(key + content).bytes
        try transaction.put(meta, key.span.bytes, value.span.bytes, .upsert)
    }
}
