public import ObjectModel
import SnapshotStore

extension ManagedObjectContext {
    /// Checks everything pending, and refuses with all that is wrong.
    ///
    /// Hooks may mend values while they look at them, so it is all checked again until nothing is
    /// changed any more.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure; with code `unsettled` when
    ///   hooks do not come to an end.
    func validate() throws {
        var failures: [ValidationFailure] = []
        try untilSettled("Validation") { _ in
            failures = pendingFailures(.called)
        }
        try refuse(failures)
    }

    /// Checks everything pending against the rules of the model alone, and changes nothing.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure.
    func checkRules() throws {
        try refuse(pendingFailures(.passedOver))
    }

    private func refuse(_ failures: [ValidationFailure]) throws {
        guard !failures.isEmpty else { return }
        throw StoreError.validation(failures.sorted { $0.precedes($1) })
    }

    /// What becomes of the hooks of objects in a check.
    private enum Hooks {
        case called, passedOver
    }

    private func pendingFailures(_ hooks: Hooks) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        var counts = CountedRelationships()
        let hasCounts = coordinator.model.schema.entities.contains { !$0.counted.isEmpty }
        let all = pending.items
        let items = all.span
        for index in items.indices {
            guard let change = items[index].change else { continue }
            check(change, of: items[index].object, hooks, &failures)
            if hasCounts { counts.note(change, of: items[index].object, self) }
        }
        return failures + counts.failures(in: self)
    }

    // MARK: - One object

    private func check(
        _ change: Change, of object: ManagedObject, _ hooks: Hooks,
        _ failures: inout [ValidationFailure]
    ) {
        let schema = object.binding.schema
        do {
            switch change.kind {
            case .insert:
                for property in schema.slots { check(property, of: object, hooks, &failures) }
                if hooks == .called { try object.validateForInsert() }
            case .update(let edits, _):
                for index in edits.indices {
                    guard let property = schema.property(edits[index].property) else { continue }
                    check(property, of: object, hooks, &failures)
                }
                if hooks == .called { try object.validateForUpdate() }
            case .delete(let values, let members):
                failures += denials(of: object, values, members)
                if hooks == .called { try object.validateForDelete() }
            }
        } catch {
            failures += object.failures(error, property: nil)
        }
    }

    private func check(
        _ property: SchemaProperty, of object: ManagedObject, _ hooks: Hooks,
        _ failures: inout [ValidationFailure]
    ) {
        guard let slot = property.slot else { return }
        var value = object.value(inSlot: slot)
        if property.isAttribute, hooks == .called {
            do {
                try object.validate(&value, forKey: property.name)
            } catch {
                failures += object.failures(error, property: property.name)
            }
            if !object.has(value, inSlot: slot) {
                object.setValue(value, inSlot: slot)
                value = object.value(inSlot: slot)
            }
        }
        guard let misfit = property.misfit(of: value) else { return }
        failures.append(
            ValidationFailure(
                misfit, of: property, in: object.graphID.object, coordinator.model.schema))
    }

    /// Relationships with the rule `deny` that still lead somewhere from a deleted object.
    private func denials(
        of object: ManagedObject, _ values: [Value], _ members: [MembershipEdit]
    ) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        for (index, property) in object.binding.schema.properties.enumerated() {
            guard property.relationship?.deleteRule == .deny else { continue }
            let remaining: [ManagedObject]
            if let slot = property.slot {
                remaining = [values[slot].reference].compactMap { $0 }.map {
                    self.object(GraphID(store: object.graphID.store, object: $0))
                }
            } else if property.isStoredToMany {
                let removed = members.first { $0.property == property.number }?.removed ?? []
                remaining = removed.map {
                    self.object(GraphID(store: object.graphID.store, object: $0.object))
                }
            } else {
                remaining = object.destinations(ofPropertyAt: index)
            }
            let count = remaining.count { !$0.isDeleted }
            guard count > 0 else { continue }
            failures.append(
                ValidationFailure(
                    .deleteDenied, object: object.graphID.object, property: property.name,
                    "'\(object.objectID)' cannot be deleted while its relationship "
                        + "'\(property.name)' leads to \(count) object\(count == 1 ? "" : "s")."))
        }
        return failures
    }
}

extension ManagedObject {
    /// Checks a value for an attribute without setting it: ``validate(_:forKey:)`` first, which may
    /// mend it, and then the rules of the model.
    ///
    /// - Throws: ``ValidationFailure``, or what ``validate(_:forKey:)`` throws.
    /// - Precondition: The entity has an attribute of that name.
    public func validateValue(_ value: inout Value, forKey key: String) throws {
        let property = property(named: key)
        precondition(property.isAttribute, "Only the values of attributes can be validated.")
        try validate(&value, forKey: key)
        guard let misfit = property.misfit(of: value), let context = binding.context else { return }
        throw ValidationFailure(
            misfit, of: property, in: graphID.object, context.coordinator.model.schema)
    }

    /// What a hook has thrown, as failures of this object.
    fileprivate func failures(_ error: any Error, property: String?) -> [ValidationFailure] {
        switch error {
        case var failure as ValidationFailure:
            failure.object = failure.object ?? graphID.object
            failure.property = failure.property ?? property
            return [failure]
        case let error as StoreError where !error.failures.isEmpty:
            return error.failures
        default:
            return [
                ValidationFailure(
                    .invalid, object: graphID.object, property: property, "\(objectID): \(error)")
            ]
        }
    }
}

/// The relationships whose objects have to be counted, because pending changes touch them.
///
/// A change names only the end of a relationship that is stored; the other end may be one of an
/// object for which nothing is pending.
private struct CountedRelationships {
    private struct Key: Hashable {
        let object: GraphID
        let property: PropertyNumber
    }

    private var keys: Set<Key> = []

    mutating func note(
        _ change: Change, of object: ManagedObject, _ context: ManagedObjectContext
    ) {
        let entity = object.binding.schema
        let id = object.graphID
        switch change.kind {
        case .insert(let values, _):
            for property in entity.counted { note(id, property.number) }
            for property in entity.referenceSlots {
                note(property, from: id, to: property.slot.flatMap { values[$0].reference })
            }
        case .update(let edits, _):
            for edit in edits {
                guard let property = entity.property(edit.property) else { continue }
                note(property, from: id, to: edit.old.reference)
                note(property, from: id, to: edit.new.reference)
            }
        case .delete(let values, _):
            for property in entity.referenceSlots {
                note(property, from: id, to: property.slot.flatMap { values[$0].reference })
            }
        }
        for edit in change.members {
            guard let property = entity.property(edit.property) else { continue }
            note(id, edit.property)
            for member in edit.added + edit.removed {
                note(property, from: id, to: member.object)
            }
        }
    }

    private mutating func note(
        _ property: SchemaProperty, from owner: GraphID, to destination: ObjectID?
    ) {
        guard let destination, let inverse = property.end?.inverse else { return }
        note(GraphID(store: owner.store, object: destination), inverse)
    }

    private mutating func note(_ object: GraphID, _ property: PropertyNumber) {
        keys.insert(Key(object: object, property: property))
    }

    func failures(in context: ManagedObjectContext) -> [ValidationFailure] {
        keys.compactMap { key in
            guard
                let property = context.binding(key.object.object.entity).schema.property(
                    key.property), property.isCounted
            else { return nil }
            let object = context.object(key.object)
            guard object.isEditable else { return nil }
            let count = object.memberList(of: property, context).orders.count
            guard let misfit = property.misfit(ofCount: count) else { return nil }
            return ValidationFailure(
                misfit, of: property, in: key.object.object, context.coordinator.model.schema)
        }
    }
}
