import DaybookObjectModel
import DaybookSnapshotStore

// Objects that cannot be related are not related: the relationship stays as it is, so that nothing shows
// an object that will not exist, and the next save reports the attempt.

/// An attempt to make a relationship lead where it cannot.
struct RefusedReference {
    enum Reason {
        /// The objects are in different stores.
        case otherStore
        /// One of them was deleted, here or by others, or had left the context.
        case gone
    }

    let owner: ManagedObject
    let property: SchemaProperty
    let destination: ManagedObject
    let reason: Reason

    /// Whether the attempt still matters: across stores, if both objects exist; otherwise if either
    /// does.
    var counts: Bool {
        switch reason {
        case .otherStore: owner.isEditable && destination.isEditable
        case .gone: owner.isEditable || destination.isEditable
        }
    }

    /// Whether undo or redo has brought the objects back, so that the attempt no longer matters.
    var isMended: Bool {
        reason == .gone && owner.isEditable && destination.isEditable
    }
}

extension ManagedObjectContext {
    /// Records an attempt to relate objects that cannot be related, which the next save refuses, or
    /// forgets an earlier one of the same relationship.
    ///
    /// - Returns: Whether the relationship stays as it is.
    func refuses(
        _ objects: [ManagedObject], in property: SchemaProperty, of owner: ManagedObject
    ) -> Bool {
        let store = owner.graphID.store
        if let stranger = objects.first(where: { $0.graphID.store != store }) {
            guard owner.isEditable else { return true }
            terms.refuse(
                RefusedReference(
                    owner: owner, property: property, destination: stranger, reason: .otherStore))
            return true
        }
        if let lost = unrelatable(objects, property, owner) {
            terms.refuse(
                RefusedReference(
                    owner: owner, property: property, destination: lost, reason: .gone))
            return true
        }
        terms.forgetReference(property, of: owner)
        return false
    }

    /// The first object that a relationship does not lead to yet and cannot, because the object or the
    /// owner no longer exists.
    private func unrelatable(
        _ objects: [ManagedObject], _ property: SchemaProperty, _ owner: ManagedObject
    ) -> ManagedObject? {
        // What a hook sets is not an edit.
        guard !isRecordingSuspended else { return nil }
        if owner.isEditable, objects.allSatisfy(\.isEditable) { return nil }
        for object in objects { lookAgain(for: object.graphID) }
        // A deleted member stays a member until the delete rules are carried out.
        let members = Set(currentDestinations(of: property, in: owner))
        let joining = objects.filter { !members.contains($0.graphID.object) }
        guard !owner.isEditable else { return joining.first { !$0.isEditable } }
        return property.end?.inverse == nil ? nil : joining.first(where: \.isEditable)
    }

    private func currentDestinations(
        of property: SchemaProperty, in owner: ManagedObject
    ) -> [ObjectID] {
        guard let slot = property.slot else {
            return owner.memberList(of: property, self).sorted
        }
        guard !owner.isFault || owner.isEditable && owner.realizeIfNeeded() else { return [] }
        return owner.value(inSlot: slot).reference.map { [$0] } ?? []
    }

    /// Refuses a save after attempts to make relationships lead where they cannot.
    ///
    /// - Throws: ``StoreError`` with code `crossStoreRelationship`, or `validation` where objects are
    ///   no more.
    func refuseReferences() throws {
        guard terms.hasRefusedReferences else { return }
        let references = terms.countingReferences()
        let lines = references.filter { $0.reason == .otherStore }.map(crossStoreLine)
        if !lines.isEmpty { throw StoreError.crossStoreRelationships(lines.sorted()) }
        let failures = references.map(failure)
        guard failures.isEmpty else {
            throw StoreError.validation(failures.sorted { $0.precedes($1) })
        }
    }

    private func crossStoreLine(_ reference: RefusedReference) -> String {
        let (owner, destination) = (reference.owner, reference.destination)
        return "'\(reference.property.name)' of '\(owner.objectID)' in "
            + "'\(coordinator.storeName(owner.graphID.store))' cannot lead to "
            + "'\(destination.objectID)' in "
            + "'\(coordinator.storeName(destination.graphID.store))'. Keep an attribute of it "
            + "instead, and fetch by that."
    }

    private func failure(_ reference: RefusedReference) -> ValidationFailure {
        let (owner, name) = (reference.owner, reference.property.name)
        let lost = reference.owner.isEditable ? reference.destination : owner
        return ValidationFailure(
            .invalid, object: owner.graphID.object, property: name,
            "'\(name)' of '\(owner.objectID)' cannot lead to '\(reference.destination.objectID)': "
                + "'\(lost.objectID)' was deleted or had left the context when it was set. Set the "
                + "relationship to objects that are there."
        )
        .inStore(owner.storeIdentifier)
    }
}
