package import DaybookObjectModel

/// A value that is worked out from an object's row.
package indirect enum RowExpression: Sendable, Hashable {
    /// Always the same.
    case constant(Value)
    /// What a property had before the batch.
    case property(PropertyNumber)
    /// The result of an operation on two numbers.
    case result(ArithmeticOperation, RowExpression, RowExpression)
}

/// The new value of one property of each object of a batch.
package struct RowAssignment: Sendable, Hashable {
    /// The property, which has a place in rows.
    package let property: PropertyNumber
    /// Its new value.
    package let expression: RowExpression

    /// Describes the new value of a property.
    package init(property: PropertyNumber, expression: RowExpression) {
        self.property = property
        self.expression = expression
    }
}

/// Works out the changes of an update from the rows, one after the other.
struct UpdatePlanner: Sendable {
    /// The changes so far; none for an object that has the values already.
    private(set) var changes: [Change] = []
    /// The numbers that do not fit their type.
    private(set) var failures: [ValidationFailure] = []

    private let assignments: [RowAssignment]
    private let projection: Projection
    /// What is to be done to objects of the entity of the last row.
    private var steps: [Step] = []
    private var entity: SchemaEntity?

    private struct Step: Sendable {
        let property: SchemaProperty
        let slot: Int
        let expression: RowExpression

        /// The value as the property holds it; nil when it cannot.
        func stored(_ value: Value) -> Value? {
            if case .constant = expression { return value }
            let type = property.attribute?.type
            guard type == .float, case .double(let number) = value else {
                return value.normalized(for: type)
            }
            // A result of single precision is rounded to it, as when an object computes.
            let rounded = Float(number)
            return rounded.isFinite ? Value.double(Double(rounded)).normalized : nil
        }
    }

    /// A mistake in so many objects is probably in most, and need not be reported for all.
    private static let failuresMaximum = 100

    init(_ assignments: [RowAssignment], in projection: Projection) {
        self.assignments = assignments.sorted { $0.property < $1.property }
        self.projection = projection
    }

    /// Works out the change of the next object.
    mutating func take(_ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan) throws {
        guard failures.count < Self.failuresMaximum else { return }
        if entity?.number != object.entity { prepare(for: object.entity) }
        guard let entity else { return }
        var edits: [Edit] = []
        for step in steps {
            let old = try projection.value(step.slot, of: object, row, bytes)
            let result = try value(of: step.expression, entity, object, row, bytes)
            guard let new = result.flatMap({ step.stored($0) }) else {
                failures.append(
                    ValidationFailure(
                        ValueMisfit(
                            .numberTooLarge, "would become a number that its type cannot hold"),
                        of: step.property, in: object, projection.schema))
                continue
            }
            guard old != new else { continue }
            edits.append(Edit(property: step.property.number, old: old, new: new))
        }
        guard !edits.isEmpty else { return }
        changes.append(Change(object: object, kind: .update(edits: edits, members: [])))
    }

    /// Appends what another planner has made of the rows behind those of this one.
    mutating func append(_ other: UpdatePlanner) {
        changes += other.changes
        failures += other.failures.prefix(Self.failuresMaximum - failures.count)
    }

    private mutating func prepare(for number: EntityNumber) {
        entity = projection.schema.entity(number)
        steps = assignments.compactMap { assignment in
            guard let property = entity?.property(assignment.property), let slot = property.slot
            else { return nil }
            var expression = assignment.expression
            if case .constant(let value) = expression {
                // Once for all objects: it may have to compute the digest of a long value.
                expression = .constant(value.normalized(for: property.attribute?.type))
            }
            return Step(property: property, slot: slot, expression: expression)
        }
    }

    /// The value of an expression; nil when a number does not fit its type.
    private func value(
        of expression: RowExpression, _ entity: SchemaEntity, _ object: ObjectID,
        _ row: RowLayout, _ bytes: RawSpan
    ) throws -> Value? {
        switch expression {
        case .constant(let value): return value
        case .property(let number):
            guard let slot = entity.slot(of: number) else { return .null }
            return try projection.value(slot, of: object, row, bytes)
        case .result(let operation, let left, let right):
            guard let left = try value(of: left, entity, object, row, bytes),
                let right = try value(of: right, entity, object, row, bytes)
            else { return nil }
            return left.combined(with: right, by: operation)
        }
    }
}
