internal import ObjectModel

/// Compares changes with the model: entities, counts, types, values that must be there.
struct DraftValidation {
    private let schema: Schema
    private var failures: [ValidationFailure] = []

    /// Checks changes that are in the order of an entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity``, or with
    ///   ``StoreError/Code/validation`` and every value that does not fit.
    static func check(_ changes: [Change], schema: Schema) throws {
        var validation = DraftValidation(schema: schema)
        var entity: SchemaEntity?
        var seen: Set<ObjectID> = []
        // Two changes of one object are neighbours unless they are of two kinds.
        let mayRepeat =
            changes.first.map { first in
                !changes.allSatisfy {
                    $0.isInsert == first.isInsert && $0.isDelete == first.isDelete
                }
            } ?? false
        for (position, change) in changes.enumerated() {
            if entity?.number != change.object.entity {
                entity = schema.entity(change.object.entity)
            }
            guard let entity else { throw noSuchEntity(change) }
            let isRepeated =
                mayRepeat
                ? !seen.insert(change.object).inserted
                : position > 0 && changes[position - 1].object == change.object
            if isRepeated {
                validation.note(
                    "\(schema.name(of: change.object)) is changed twice.", change)
            }
            validation.check(change, of: entity)
        }
        guard validation.failures.isEmpty else {
            throw StoreError.validation(validation.failures)
        }
    }

    private static func noSuchEntity(_ change: Change) -> StoreError {
        StoreError(
            .noSuchEntity, "The model has no entity of number \(change.object.entity.rawValue).")
    }

    private init(schema: Schema) {
        self.schema = schema
    }

    private mutating func note(_ message: String, _ change: Change) {
        failures.append(ValidationFailure(.invalid, object: change.object, message))
    }

    private mutating func check(_ change: Change, of entity: SchemaEntity) {
        switch change.kind {
        case .insert(let values, let members):
            if entity.isAbstract {
                note("'\(entity.name)' is abstract, so there can be no object of it.", change)
            }
            guard change.object.number > 0, values.count == entity.storedSlotCount else {
                return note(
                    "\(schema.name(of: change.object)) has \(values.count) values instead of "
                        + "\(entity.storedSlotCount).", change)
            }
            for slot in values.indices { check(values[slot], entity.slots[slot], change) }
            check(members, change, entity)
        case .update(let edits, let members):
            for edit in edits {
                guard let property = entity.property(edit.property), let slot = property.slot,
                    slot < entity.storedSlotCount
                else {
                    note(
                        "Objects of '\(entity.name)' keep no value for property number "
                            + "\(edit.property.rawValue).", change)
                    continue
                }
                check(edit.new, property, change)
            }
            if zip(edits, edits.dropFirst()).contains(where: { $0.property >= $1.property }) {
                note("The edits of \(schema.name(of: change.object)) are not in order.", change)
            }
            check(members, change, entity)
        case .delete(let values, let members):
            if values.count != entity.storedSlotCount {
                note(
                    "\(schema.name(of: change.object)) has \(values.count) values instead of "
                        + "\(entity.storedSlotCount).", change)
            }
            check(members, change, entity)
        }
    }

    private mutating func check(
        _ value: Value, _ property: SchemaProperty, _ change: Change
    ) {
        if let misfit = property.misfit(of: value) {
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
                note(
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
