internal import DaybookObjectModel

/// Compares changes with the model: entities, counts, types, values that must be there.
struct SaveRequestValidation {
    private let schema: Schema
    private var failures: [ValidationFailure] = []
    private var entity: SchemaEntity?
    private var previous: Change.SortKey?
    private var isOfOneKind = true
    /// The objects so far; also as a set once there are changes of several kinds.
    private var objects: [ObjectID] = []
    private var seen: Set<ObjectID> = []

    /// Checks changes that are in the order of an entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity``, or with
    ///   ``StoreError/Code/validation`` and every value that does not fit.
    static func check(_ changes: [Change], schema: Schema) throws {
        var validation = SaveRequestValidation(schema: schema, count: changes.count)
        for change in changes { try validation.take(change) }
        try validation.finish()
    }

    /// Checks the next change.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity``.
    mutating func take(_ change: Change) throws {
        if entity?.number != change.object.entity {
            entity = schema.entity(change.object.entity)
        }
        guard let entity else { throw Self.noSuchEntity(change) }
        if isRepeated(change) {
            report("\(schema.name(of: change.object)) is changed twice.", change)
        }
        check(change, of: entity)
    }

    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` and every value that does not fit.
    func finish() throws {
        guard failures.isEmpty else { throw StoreError.validation(failures) }
    }

    /// Whether an earlier change has the same object. Two such changes of one kind are neighbours,
    /// so only an entry with several kinds needs a search through all of them.
    private mutating func isRepeated(_ change: Change) -> Bool {
        let key = change.sortKey
        defer { previous = key }
        if let previous, previous.rank != key.rank { isOfOneKind = false }
        objects.append(change.object)
        guard isOfOneKind else {
            if seen.isEmpty { seen = Set(objects.dropLast()) }
            return !seen.insert(change.object).inserted
        }
        return previous?.object == change.object
    }

    private static func noSuchEntity(_ change: Change) -> StoreError {
        StoreError(
            .noSuchEntity, "The model has no entity of number \(change.object.entity.rawValue).")
    }

    /// Starts with room for `count` changes.
    init(schema: Schema, count: Int) {
        self.schema = schema
        objects.reserveCapacity(count)
    }

    private mutating func report(_ message: String, _ change: Change) {
        failures.append(ValidationFailure(.invalid, object: change.object, message))
    }

    private mutating func check(_ change: Change, of entity: SchemaEntity) {
        switch change.kind {
        case .insert(let values, let members):
            if entity.isAbstract {
                report("'\(entity.name)' is abstract, so there can be no object of it.", change)
            }
            guard (1...StoreLayout.objectNumberMaximum).contains(change.object.number) else {
                return report(
                    "\(schema.name(of: change.object)) has a number that is not between 1 and "
                        + "\(StoreLayout.objectNumberMaximum).", change)
            }
            guard values.count == entity.storedSlotCount else {
                return report(
                    "\(schema.name(of: change.object)) has \(values.count) values instead of "
                        + "\(entity.storedSlotCount).", change)
            }
            let values = values.span
            for slot in values.indices { check(values[slot], entity.slots[slot], change) }
            check(members, change, entity)
        case .update(let edits, let members):
            let edits = edits.span
            var isInOrder = true
            for index in edits.indices {
                let number = edits[index].property
                if index > 0, edits[index - 1].property >= number { isInOrder = false }
                guard let property = entity.property(number), let slot = property.slot,
                    slot < entity.storedSlotCount
                else {
                    report(
                        "Objects of '\(entity.name)' keep no value for property number "
                            + "\(number.rawValue).", change)
                    continue
                }
                if property.isDerived {
                    failures.append(
                        ValidationFailure(
                            ValueMisfit.derived, of: property, in: change.object, schema))
                    continue
                }
                check(edits[index].new, property, change)
            }
            if !isInOrder {
                report("The edits of \(schema.name(of: change.object)) are not in order.", change)
            }
            check(members, change, entity)
        case .delete(let values, let members):
            if values.count != entity.storedSlotCount {
                report(
                    "\(schema.name(of: change.object)) has \(values.count) values instead of "
                        + "\(entity.storedSlotCount).", change)
            }
            check(members, change, entity)
        }
    }

    private mutating func check(
        _ value: Value, _ property: SchemaProperty, _ change: Change
    ) {
        if property.isRemoved {
            guard !value.isNull else { return }
            report(
                "\(schema.name(of: change.object)) has a value for a property that was removed from "
                    + "the model.", change)
        } else if let misfit = property.misfit(of: value) {
            failures.append(ValidationFailure(misfit, of: property, in: change.object, schema))
        } else if let target = value.reference {
            check(target, property, change)
        }
    }

    private mutating func check(
        _ members: [MembershipEdit], _ change: Change, _ entity: SchemaEntity
    ) {
        for edit in members {
            guard let property = entity.property(edit.property), property.isStoredToMany else {
                report(
                    "Objects of '\(entity.name)' keep no members for property number "
                        + "\(edit.property.rawValue).", change)
                continue
            }
            for member in edit.added { check(member.object, property, change) }
        }
    }

    private mutating func check(
        _ target: ObjectID, _ property: SchemaProperty, _ change: Change
    ) {
        if let failure = schema.failure(ofReference: target, over: property, in: change.object) {
            failures.append(failure)
        }
    }
}
