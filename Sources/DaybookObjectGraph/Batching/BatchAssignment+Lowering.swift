import DaybookObjectModel
import DaybookSnapshotStore

extension [RowAssignment] {
    /// The assignments of a request, in terms of an entity's rows.
    ///
    /// - Throws: ``QueryError`` when an assignment does not fit the model, or two are of one property.
    init<Object>(
        _ assignments: [BatchAssignment<Object>], of entity: GraphEntity, in store: PersistentStore
    ) throws(QueryError) {
        self = []
        for assignment in assignments {
            self += try assignment.lowered(of: entity, in: store)
        }
        var seen: Set<PropertyNumber> = []
        for assignment in self where !seen.insert(assignment.property).inserted {
            let name = entity.schema.property(assignment.property)?.name ?? ""
            throw QueryError("The batch assigns '\(name)' twice. Say once what it becomes.")
        }
        guard !isEmpty else {
            throw QueryError("The batch assigns nothing. Say which properties become what.")
        }
    }
}

extension BatchAssignment {
    fileprivate func lowered(
        of entity: GraphEntity, in store: PersistentStore
    ) throws(QueryError) -> [RowAssignment] {
        switch change {
        case .value(let operand):
            let property = try settable(target, of: entity)
            let (expression, _) = try expression(operand, entity)
            return [RowAssignment(property: property.number, expression: expression)]
        case .result(let operation, let operand):
            let property = try settable(target, of: entity)
            let (other, type) = try expression(operand, entity)
            guard let own = property.attribute?.type.storage, own.isNumber,
                type == nil || type == own
            else {
                throw QueryError(
                    "'\(property.name)' cannot be calculated: both must be numbers of one kind.")
            }
            return [
                RowAssignment(
                    property: property.number,
                    expression: .result(operation, .property(property.number), other))
            ]
        case .elements(let values):
            guard case .keyPath(let path) = target,
                case .composite(after: [], let elements) = entity.meaning(of: path.keyPath)
            else { throw noProperty(of: entity) }
            var assignments: [RowAssignment] = []
            for (element, value) in zip(elements, values) {
                let property = try settable(.name(element.name), of: entity)
                assignments.append(
                    RowAssignment(property: property.number, expression: .constant(value)))
            }
            return assignments
        case .reference(let id):
            let property = try relationship(of: entity)
            guard let id else {
                return [RowAssignment(property: property.number, expression: .constant(.null))]
            }
            guard id.storeIdentifier == store.identifier else {
                throw QueryError(
                    "'\(property.name)' cannot lead to '\(id)' of another store.")
            }
            return [
                RowAssignment(property: property.number, expression: .constant(.object(id.object)))
            ]
        }
    }

    private func expression(
        _ operand: Operand, _ entity: GraphEntity
    ) throws(QueryError) -> (RowExpression, AttributeType.Storage?) {
        switch operand {
        case .constant(let value): return (.constant(value), nil)
        case .property(let key):
            let property = try attribute(key, of: entity)
            return (.property(property.number), property.attribute?.type.storage)
        }
    }

    // MARK: - Properties

    private func settable(
        _ key: RequestKey, of entity: GraphEntity
    ) throws(QueryError) -> SchemaProperty {
        let property = try attribute(key, of: entity)
        guard !property.isDerived else {
            throw QueryError("'\(property.name)' is derived and cannot be set.")
        }
        return property
    }

    private func attribute(
        _ key: RequestKey, of entity: GraphEntity
    ) throws(QueryError) -> SchemaProperty {
        let property = try self.property(key, of: entity)
        guard property.isAttribute else {
            throw QueryError(
                "'\(property.name)' is a relationship: use 'relate' with the identifier of an object."
            )
        }
        guard property.isPersistent else {
            throw QueryError("'\(property.name)' is transient and is not stored.")
        }
        return property
    }

    private func relationship(of entity: GraphEntity) throws(QueryError) -> SchemaProperty {
        let property = try self.property(target, of: entity)
        guard property.relationship != nil else {
            throw QueryError("'\(property.name)' is no relationship.")
        }
        guard property.slot != nil, !property.isSelfInverse else {
            throw QueryError(
                "'\(property.name)' is not kept with the object alone: set it in managed objects.")
        }
        return property
    }

    private func property(
        _ key: RequestKey, of entity: GraphEntity
    ) throws(QueryError) -> SchemaProperty {
        let names =
            switch key {
            case .keyPath(let path): entity.path(of: path.keyPath)
            case .name(let name): [name]
            }
        guard names.count == 1 else { throw noProperty(of: entity) }
        guard let property = entity.schema.property(named: names[0]) else {
            let hint = names[0].suggestion(among: entity.schema.properties.map(\.name))
            throw QueryError(
                "'\(entity.schema.name)' has no property '\(names[0])'"
                    + (hint.isEmpty ? "." : hint))
        }
        return property
    }

    private func noProperty(of entity: GraphEntity) -> QueryError {
        QueryError(
            "A key path leads to no property of '\(entity.schema.name)' itself, so a batch cannot use it."
        )
    }
}

extension AttributeType.Storage {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .double, .decimal: true
        default: false
        }
    }
}
