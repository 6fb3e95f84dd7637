internal import DaybookLMDB
internal import DaybookObjectModel

/// The indexes that the model wants and that are still being built, object by object.
///
/// An index that is pending has the records of the objects up to one, and none of those after it.
/// Saves keep to that, and so does every comparison of the table with the journal.
struct PendingIndexes: Sendable, Equatable {
    /// The last object that each has got to, by property; no object is before ``start``.
    private var reached: [PropertyNumber: ObjectID] = [:]

    /// None.
    init() {}

    /// Indexes that have no records yet.
    init(of properties: [PropertyNumber]) {
        for property in properties { reached[property] = Self.start }
    }

    private static let start = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)

    var isEmpty: Bool { reached.isEmpty }

    /// The index that is built first, and the last object that it has got to.
    var next: (property: PropertyNumber, reached: ObjectID)? {
        reached.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether an index is being built.
    func contains(_ property: PropertyNumber) -> Bool { reached[property] != nil }

    /// Whether an index has nothing of an object, because it has not got there.
    func lacks(_ property: PropertyNumber, of object: ObjectID) -> Bool {
        guard !reached.isEmpty, let last = reached[property] else { return false }
        return last < object
    }

    /// Sets how far an index has got; nil when it is complete.
    mutating func set(_ property: PropertyNumber, reached object: ObjectID?) {
        reached[property] = object
    }
}

extension StoreMetadata {
    /// The indexes that are being built. The record is missing when there are none.
    static func pendingIndexes(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> PendingIndexes {
        guard let bytes = try record(Name.pendingIndexes, meta, in: transaction) else {
            return PendingIndexes()
        }
        var pending = PendingIndexes()
        var reader = KeyReader()
        while reader.remaining(in: bytes.span.bytes) > 0 {
            let property = PropertyNumber(rawValue: try reader.uint32(bytes.span.bytes))
            pending.set(property, reached: try reader.object(bytes.span.bytes))
        }
        return pending
    }

    static func setPendingIndexes(
        _ pending: PendingIndexes, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        guard !pending.isEmpty else {
            let name = Array(Name.pendingIndexes.utf8)
            _ = try transaction.delete(meta, name.span.bytes)
            return
        }
        var writer = KeyWriter(capacity: 64)
        var rest = pending
        while let (property, reached) = rest.next {
            writer.append(property.rawValue)
            writer.append(reached)
            rest.set(property, reached: nil)
        }
        try put(Name.pendingIndexes, writer.bytes, meta, in: transaction)
    }
}
