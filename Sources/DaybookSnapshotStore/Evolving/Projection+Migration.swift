internal import DaybookLMDB
internal import DaybookObjectModel

extension Projection {
    /// The value from which a field of a row is converted, if it is and there is one.
    func source(
        of slot: Int, _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan
    ) throws -> Value? {
        guard slot >= row.count, let entity = schema.entity(object.entity),
            case .converted(let source, _) = entity.fills[slot],
            let place = entity.numbers.slots.firstIndex(where: { $0.property == source })
        else { return nil }
        // The row may be older than that field, too, which then is converted itself.
        let value = try value(place, of: object, row, bytes)
        return value.isNull ? nil : value
    }

    /// The objects that lead to one over a relationship, whichever end is stored.
    func owners(
        of object: ObjectID, over property: SchemaProperty,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        guard let end = property.end, !end.isStored, let inverse = end.inverse,
            let opposite = schema.entity(object.entity)?.property(inverse)
        else {
            return try referrers(
                to: object, property.number, at: .latest, in: transaction)
        }
        let members: [Member] = try members(
            of: opposite, in: object, at: .latest, in: transaction)
        return members.map(\.object).sorted()
    }
}
