internal import DaybookLMDB
package import DaybookObjectModel

extension Snapshot {
    /// Works out an aggregate of an attribute of all objects that match a query, whose order, offset and limit
    /// do not count. Only that field of each row is read.
    ///
    /// - Parameters:
    ///   - aggregation: An aggregate, to which the values are added.
    ///   - property: The attribute.
    ///   - query: The query.
    /// - Throws: As ``fetch(_:)``.
    /// - Complexity: As ``fetch(_:)`` without a limit, in constant memory.
    package func aggregate(
        _ aggregation: inout Aggregation, of property: SchemaProperty, _ query: Query
    ) throws {
        let number = property.number
        let plan = try plan(query)
        if aggregation.isOrderFree, let question = try covered(query, plan, of: [number]) {
            var values = aggregation.beginning
            let isWhole = try forEachRecord(of: question) { _, row in
                values.add(row[0])
                return .proceed
            }
            if isWhole { return aggregation.append(values) }
        }
        try gather(query, among: candidates(query, plan)) {
            (values: aggregation.beginning, place: RowPlace(number))
        } add: { part, object, row, bytes, snapshot in
            let projection = snapshot.projection
            guard let slot = part.place.slot(in: object.entity, projection.schema) else {
                return .proceed
            }
            guard slot < row.count else {
                part.values.add(try projection.value(slot, of: object, row, bytes))
                return .proceed
            }
            do throws(DecodingFailure) {
                let field = try row.field(slot, in: bytes)
                if !field.isEmpty { try part.values.add(bytes, field) }
            } catch {
                throw projection.unreadable(object, error)
            }
            return .proceed
        } join: { part in
            aggregation.append(part.values)
            return .proceed
        }
    }
}

/// Where a property is in the rows of an entity. It is looked up again when rows of another entity follow.
struct RowPlace: Sendable {
    private let property: PropertyNumber
    private var entity: EntityNumber?
    private var slot: Int?

    init(_ property: PropertyNumber) {
        self.property = property
    }

    /// The slot in rows of an entity; nil when they have none.
    @inline(__always)
    mutating func slot(in entity: EntityNumber, _ schema: Schema) -> Int? {
        if self.entity != entity {
            self.entity = entity
            slot = schema.entity(entity)?.slot(of: property)
        }
        return slot
    }
}
