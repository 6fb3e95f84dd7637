internal import LMDB
internal import ObjectModel

/// Checks that no two objects end up with one value of a unique attribute.
///
/// A value that the same entry takes from one object may be given to another.
struct UniquenessCheck {
    private let projection: Projection
    private var taken: [[UInt8]: ObjectID] = [:]
    private var freed: [[UInt8]: ObjectID] = [:]
    private var problems: [String] = []

    /// - Throws: ``StoreError`` with ``StoreError/Code/duplicate`` and every value that is taken.
    static func check(
        _ changes: [Change], _ projection: Projection, in transaction: borrowing WriteTransaction
    ) throws {
        let schema = projection.schema
        let hasUnique = schema.entities.contains { $0.indexedSlots.contains(where: \.isUnique) }
        guard hasUnique else { return }
        var check = UniquenessCheck(projection: projection)
        // Deletes stand last in an entry, so what is freed is gathered first.
        for change in changes { check.noteFreed(change) }
        for change in changes { try check.take(change, in: transaction) }
        guard check.problems.isEmpty else { throw StoreError.duplicate(check.problems) }
    }

    private init(projection: Projection) {
        self.projection = projection
    }

    private mutating func noteFreed(_ change: Change) {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        switch change.kind {
        case .insert: return
        case .update(let edits, _):
            for edit in edits where !edit.old.isNull {
                guard let property = entity.property(edit.property), property.isUnique else {
                    continue
                }
                freed[StoreKey.index(property.number, edit.old)] = change.object
            }
        case .delete(let values, _):
            for property in entity.indexedSlots where property.isUnique {
                guard let slot = property.slot, !values[slot].isNull else { continue }
                freed[StoreKey.index(property.number, values[slot])] = change.object
            }
        }
    }

    private mutating func take(
        _ change: Change, in transaction: borrowing WriteTransaction
    ) throws {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        switch change.kind {
        case .insert(let values, _):
            for property in entity.indexedSlots where property.isUnique {
                guard let slot = property.slot else { continue }
                try take(values[slot], property, change.object, in: transaction)
            }
        case .update(let edits, _):
            for edit in edits {
                guard let property = entity.property(edit.property), property.isUnique else {
                    continue
                }
                try take(edit.new, property, change.object, in: transaction)
            }
        case .delete: return
        }
    }

    private mutating func take(
        _ value: Value, _ property: SchemaProperty, _ object: ObjectID,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard !value.isNull else { return }
        let key = StoreKey.index(property.number, value)
        if let other = taken.updateValue(object, forKey: key), other != object {
            return note(property, object, other)
        }
        for other in try projection.holders(of: key, in: transaction)
        where other != object && freed[key] != other {
            note(property, object, other)
        }
    }

    private mutating func note(
        _ property: SchemaProperty, _ object: ObjectID, _ other: ObjectID
    ) {
        let schema = projection.schema
        problems.append(
            "'\(property.name)' of \(schema.name(of: object)) must be unique, and "
                + "\(schema.name(of: other)) has the same value.")
    }
}

extension SchemaProperty {
    var isUnique: Bool {
        attribute?.isUnique == true
    }
}

extension Projection {
    /// The objects whose index record for a property begins with `key`: property and value.
    func holders(
        of key: [UInt8], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        var objects: [ObjectID] = []
        let end = StoreKey.end(of: key) ?? []
        try transaction.scan(
            tables.index, from: key.span.bytes, to: end.span.bytes, order: .ascending
        ) { found, _ in
            if found.byteCount == key.count + StoreKey.objectSize {
                var reader = KeyReader(at: key.count)
                objects.append(try reader.object(found))
            }
            return .proceed
        }
        return objects
    }
}
