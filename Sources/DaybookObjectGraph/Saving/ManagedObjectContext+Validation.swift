public import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
import Foundation

extension ManagedObjectContext {
    /// Checks everything pending, and throws everything that is wrong.
    ///
    /// Hooks may fix values while they check them, so everything is checked again until nothing is
    /// changed any more.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure; with code `unsettled` when
    ///   hooks keep making changes.
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

    /// Whether a check calls the hooks of objects.
    private enum Hooks {
        case called, passedOver
    }

    private func pendingFailures(_ hooks: Hooks) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        var counts = CountedRelationships()
        let hasCounts = coordinator.model.schema.entities.contains { !$0.counted.isEmpty }
        let all = journal.net
        let items = all.span
        for index in items.indices {
            guard let change = items[index].change else { continue }
            check(change, of: items[index].object, hooks, &failures)
            if hasCounts { counts.record(change, of: items[index].object) }
        }
        return failures + counts.failures(in: self)
    }

    // MARK: - One object

    private func check(
        _ change: Change, of object: ManagedObject, _ hooks: Hooks,
        _ failures: inout [ValidationFailure]
    ) {
        let count = failures.count
        let occasion = checkRules(change, of: object, hooks, &failures)
        guard hooks == .called else { return }
        // A hook that asks for the rules of the model gets the result just found.
        object.markValid(failures.count == count)
        defer { object.markValid(false) }
        do {
            let found = failures.count == count ? [] : Array(failures[count...])
            try terms.with(found, of: object) {
                switch occasion {
                case .insert: try object.validateForInsert()
                case .update: try object.validateForUpdate()
                case .delete: try object.validateForDelete()
                }
            }
        } catch {
            let known = failures[count...]
            failures += object.failures(error, property: nil).filter { !known.contains($0) }
        }
    }

    private func checkRules(
        _ change: Change, of object: ManagedObject, _ hooks: Hooks,
        _ failures: inout [ValidationFailure]
    ) -> ValidationOccasion {
        let schema = object.binding.schema
        switch change.kind {
        case .insert:
            for property in schema.slots { check(property, of: object, hooks, &failures) }
            return .insert
        case .update(let edits, _):
            for index in edits.indices {
                guard let property = schema.property(edits[index].property) else { continue }
                check(property, of: object, hooks, &failures)
            }
            return .update
        case .delete(let values, let members):
            failures += denials(of: object, values, members)
            return .delete
        }
    }

    /// Checks an object against the rules of the model, outside a save.
    fileprivate func checkRules(
        of object: ManagedObject, for occasion: ValidationOccasion
    ) -> [ValidationFailure] {
        if let failures = terms.failures(foundOf: object) { return failures }
        guard object.realizeIfNeeded(), !object.status.isGone else { return [] }
        let schema = object.binding.schema
        var failures: [ValidationFailure] = []
        guard occasion != .delete else {
            let members = schema.membersLeaving(ShownObject(object: object, context: self))
            return denials(of: object, object.values, members)
        }
        for property in schema.slots { check(property, of: object, .called, &failures) }
        for property in schema.counted {
            let count = object.memberList(of: property, self).count
            guard let misfit = property.misfit(ofCount: count) else { continue }
            failures.append(object.failure(misfit, of: property, self))
        }
        return failures
    }

    private func check(
        _ property: SchemaProperty, of object: ManagedObject, _ hooks: Hooks,
        _ failures: inout [ValidationFailure]
    ) {
        guard let slot = property.slot, !property.isDerived else { return }
        var value = object.readableValue(inSlot: slot)
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
        failures.append(object.failure(misfit, of: property, self))
    }

    /// Relationships with the rule `deny` that still lead somewhere from a deleted object.
    private func denials(
        of object: ManagedObject, _ values: [Value], _ members: [MembershipEdit]
    ) -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        for (index, property) in object.binding.schema.properties.enumerated() {
            guard property.relationship?.deleteRule == .deny else { continue }
            let noted =
                object.isDeleted ? registry.barring(deleteOf: object)[property.number] : nil
            let remaining: [ManagedObject]
            if let noted {
                remaining = noted.map {
                    self.object(GraphID(store: object.graphID.store, object: $0))
                }
            } else if let slot = property.slot {
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
                .deleteDenied(
                    object.graphID.object, object.objectID.description, property.name, count: count
                )
                .inStore(object.storeIdentifier))
        }
        return failures
    }
}

/// What an object is checked for.
enum ValidationOccasion {
    case insert, update, delete
}

extension ManagedObjectContext {
    /// The object that a failure is about, in this context.
    ///
    /// - Returns: The object, or a fault of it; nil when the failure names none, or one of a store
    ///   that the coordinator does not have.
    public func object(of failure: ValidationFailure) -> ManagedObject? {
        guard let object = failure.object, let store = failure.storeIdentifier,
            let entity = coordinator.model.schema.entity(object.entity)
        else { return nil }
        return self.object(
            with: ManagedObjectID(
                storeIdentifier: store, object: object, entityName: entity.name,
                isTemporaryID: false))
    }
}

extension ManagedObject {
    /// Checks a value for an attribute without setting it: ``validate(_:forKey:)`` first, which may
    /// change it, and then the rules of the model.
    ///
    /// - Throws: ``ValidationFailure``, or what ``validate(_:forKey:)`` throws.
    /// - Precondition: The entity has an attribute of that name.
    public func validateValue(_ value: inout Value, forKey key: String) throws {
        let property = property(named: key)
        require(property.isAttribute, "Only the values of attributes can be validated.")
        try validate(&value, forKey: key)
        value = value.normalized(for: property.attribute?.type)
        guard let misfit = property.misfit(of: value), let context = binding.context else { return }
        throw failure(misfit, of: property, context)
    }

    /// Checks the rules of the model, unless a save has just found that the object meets them.
    final func checkRules(for occasion: ValidationOccasion) throws {
        guard !status.isValid, let context = binding.context,
            !status.isDetached
        else { return }
        let failures = context.checkRules(of: self, for: occasion)
        guard !failures.isEmpty else { return }
        throw StoreError.invalid("\(objectID)", failures.sorted { $0.precedes($1) })
    }

    fileprivate func failure(
        _ misfit: ValueMisfit, of property: SchemaProperty, _ context: ManagedObjectContext
    ) -> ValidationFailure {
        ValidationFailure(
            misfit, of: property, in: graphID.object, context.coordinator.model.schema
        ).inStore(storeIdentifier)
    }

    /// The identifier of the object's store.
    var storeIdentifier: UUID {
        binding.identifiers(inStore: graphID.store, areTemporary: false).storeIdentifier
    }

    /// The error of a hook, as failures of this object.
    fileprivate func failures(_ error: any Error, property: String?) -> [ValidationFailure] {
        switch error {
        case var failure as ValidationFailure:
            failure.object = failure.object ?? graphID.object
            failure.property = failure.property ?? property
            return [failure.inStore(storeIdentifier)]
        case let error as StoreError where !error.failures.isEmpty:
            return error.failures
        default:
            return [
                ValidationFailure(
                    .invalid, object: graphID.object, property: property, "\(objectID): \(error)",
                    cause: error
                ).inStore(storeIdentifier)
            ]
        }
    }
}

/// The relationships whose objects have to be counted, because pending changes touch them.
///
/// A change names only the stored end of a relationship; the other end may belong to an object without
/// pending changes.
private struct CountedRelationships {
    private struct Key: Hashable {
        let object: GraphID
        let property: PropertyNumber
    }

    private var keys: Set<Key> = []

    mutating func record(_ change: Change, of object: ManagedObject) {
        let store = object.graphID.store
        change.forEachCount(of: object.binding.schema) { object, property, _ in
            keys.insert(Key(object: GraphID(store: store, object: object), property: property))
        }
    }

    func failures(in context: ManagedObjectContext) -> [ValidationFailure] {
        keys.compactMap { key in
            guard
                let property = context.binding(key.object.object.entity).schema.property(
                    key.property), property.isCounted
            else { return nil }
            let object = context.object(key.object)
            guard object.isEditable else { return nil }
            let count = object.memberList(of: property, context).count
            guard let misfit = property.misfit(ofCount: count) else { return nil }
            return object.failure(misfit, of: property, context)
        }
    }
}
