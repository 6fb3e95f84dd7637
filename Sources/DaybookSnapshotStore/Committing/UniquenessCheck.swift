internal import DaybookLMDB
internal import DaybookObjectModel

/// Finds objects that would share values that the model wants unique.
///
/// A value that the same entry takes from one object may be given to another.
struct UniquenessCheck {
    /// The object that claims some values of a constraint.
    private struct Claim {
        let constraint: SchemaConstraint
        let values: [Value]
        var objects: [ObjectID]
    }

    private let projection: Projection
    private var claims: [[UInt8]: Claim] = [:]
    private var order: [[UInt8]] = []
    private var freed: [[UInt8]: ObjectID] = [:]

    /// - Throws: ``StoreError`` with ``StoreError/Code/duplicate`` and every value that is taken.
    static func check(
        _ changes: [Change], _ projection: Projection,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let conflicts = try conflicts(of: changes, projection, in: transaction)
        guard conflicts.isEmpty else {
            throw StoreError.duplicate(conflicts, in: projection.schema)
        }
    }

    /// Every clash, in the order of the changes.
    static func conflicts(
        of changes: [Change], _ projection: Projection,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ConstraintConflict] {
        let isConstrained = projection.schema.entities.contains { !$0.constraints.isEmpty }
        guard isConstrained else { return [] }
        var check = UniquenessCheck(projection: projection)
        // Deletes come last in an entry, so freed values are gathered first.
        for change in changes { try check.gatherFreed(change, in: transaction) }
        for change in changes { try check.take(change, in: transaction) }
        return try check.clashes(in: transaction)
    }

    private init(projection: Projection) {
        self.projection = projection
    }

    private mutating func gatherFreed(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        for constraint in entity.constraints {
            let key: [UInt8]?
            switch change.kind {
            case .insert: continue
            case .update(let edits, _):
                guard constraint.isTouched(by: edits) else { continue }
                key = try values(constraint, before: change, in: transaction)
                    .flatMap(constraint.key)
            case .delete(let values, _): key = constraint.key(of: constraint.values(in: values))
            }
            if let key { freed[key] = change.object }
        }
    }

    private mutating func take(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        for constraint in entity.constraints {
            let wanted: [Value]
            switch change.kind {
            case .insert(let values, _): wanted = constraint.values(in: values)
            case .update(let edits, _):
                guard constraint.isTouched(by: edits),
                    let before = try values(constraint, before: change, in: transaction)
                else { continue }
                wanted = zip(constraint.properties, before).map { property, old in
                    edits.first { $0.property == property.number }?.new ?? old
                }
            case .delete: continue
            }
            guard let key = constraint.key(of: wanted) else { continue }
            if claims[key] == nil { order.append(key) }
            claims[key, default: Claim(constraint: constraint, values: wanted, objects: [])]
                .objects.append(change.object)
        }
    }

    /// The values of an updated object before the update, from its old values and the tables.
    private func values(
        _ constraint: SchemaConstraint, before change: Change,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Value]? {
        guard case .update(let edits, _) = change.kind else { return nil }
        if constraint.properties.count == 1,
            let edit = edits.first(where: {
                $0.property == constraint.properties[0].number
            })
        {
            return [edit.old]
        }
        return try projection.row(of: change.object, at: .latest, in: transaction)
            .map { constraint.values(in: $0.values) }
    }

    private func clashes(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ConstraintConflict] {
        var found: [ConstraintConflict] = []
        for key in order {
            guard let claim = claims[key] else { continue }
            let holders = try projection.holders(of: key, claim.constraint, in: transaction)
            let owner = holders.first {
                !claim.objects.contains($0) && freed[key] != $0
            }
            guard owner != nil || claim.objects.count > 1 else { continue }
            let conflict = ConstraintConflict(
                properties: claim.constraint.properties.map(\.name), values: claim.values,
                owner: owner, objects: claim.objects
            ).named(in: projection.schema)
            if !found.contains(conflict) { found.append(conflict) }
        }
        return found
    }
}

extension SchemaConstraint {
    /// The prefix of the index records of objects with these values; nil when one of the values is
    /// null, because any number of objects may have none.
    func key(of values: [Value]) -> [UInt8]? {
        guard !values.contains(where: \.isNull) else { return nil }
        if !isCompound, let value = values.first {
            return StoreKey.index(number, value)
        }
        return StoreKey.index(number, digestOf: values)
    }

    /// The values of the constraint among those of a row.
    func values(in row: [Value]) -> [Value] {
        properties.map { property in
            guard let slot = property.slot, slot < row.count else { return .null }
            return row[slot]
        }
    }

    /// Whether one of the edits changes a value of the constraint.
    func isTouched(by edits: [Edit]) -> Bool {
        edits.contains { edit in
            edit.old != edit.new && properties.contains { $0.number == edit.property }
        }
    }
}

extension Projection {
    /// The objects that have the values of a constraint.
    ///
    /// - Parameters:
    ///   - key: What their index records begin with: property and value.
    ///   - constraint: The constraint. Objects of entities that a migration takes it from, or removes,
    ///     have their records until its changes are made.
    ///   - transaction: The state to look at.
    /// - Returns: The objects, in the order of their identifiers.
    /// - Throws: ``StoreError`` when the index cannot be read.
    func holders(
        of key: [UInt8], _ constraint: SchemaConstraint,
        in transaction: borrowing some Reading & ~Copyable
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
        return objects.filter { object in
            let constraints = schema.entity(object.entity)?.constraints ?? []
            return constraints.contains { $0.number == constraint.number }
        }
    }
}
