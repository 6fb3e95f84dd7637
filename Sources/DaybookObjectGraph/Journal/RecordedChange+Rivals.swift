import DaybookObjectModel

extension [RecordedChange] {
    /// These changes so that taking them back, or making them, gives no object to two owners of which it may have one.
    ///
    /// A context that has not merged what others have saved shows an object with its owner there and, in a list that is
    /// read later, with theirs; an event may have deleted all three. What others come to have in the same step, an
    /// object that comes back does not get.
    ///
    /// - Parameter isBack: Whether the changes are taken back.
    /// - Returns: The changes, in the same order.
    func withoutRivals(isBack: Bool) -> [RecordedChange] {
        func comesBack(_ recorded: RecordedChange) -> Bool {
            isBack ? recorded.change.isDelete : recorded.change.isInsert
        }
        guard count > 1, contains(where: comesBack) else { return self }
        let rivals = owners(isBack: isBack).filter { $0.value.count > 1 }
        guard !rivals.isEmpty else { return self }
        let back = Set(filter(comesBack).map(\.object.graphID))
        return map { recorded in
            guard comesBack(recorded) else { return recorded }
            let object = recorded.object
            var change = isBack ? recorded.change.inverse : recorded.change
            let left = change.leaveOut(
                of: object.binding.schema,
                where: { reference in
                    guard let owners = rivals[RelationKey(reference, of: object)] else {
                        return false
                    }
                    let owner = owners.first { !back.contains($0) } ?? owners.first
                    return owner != object.graphID
                },
                unlessTaken: { _, _ in false })
            guard !left.isEmpty else { return recorded }
            let kind = isBack ? change.inverse.kind : change.kind
            return RecordedChange(
                object: object,
                change: Change(
                    object: recorded.change.object, kind: kind, cause: recorded.change.cause),
                isSaved: recorded.isSaved)
        }
    }

    /// The owners that objects have got in the end, which may have one: by the object and the owner's relationship.
    private func owners(isBack: Bool) -> [RelationKey: [GraphID]] {
        var owners: [RelationKey: [GraphID]] = [:]
        let ordered: [RecordedChange] = isBack ? reversed() : self
        for recorded in ordered {
            let object = recorded.object
            let change = isBack ? recorded.change.inverse : recorded.change
            change.forEachReference(of: object.binding.schema) { reference in
                guard reference.property.isExclusive else { return }
                let key = RelationKey(reference, of: object)
                if reference.begins {
                    owners[key, default: []].append(object.graphID)
                } else if reference.ends {
                    owners[key]?.removeAll { $0 == object.graphID }
                }
            }
        }
        return owners
    }
}

extension RelationKey {
    /// A reference as it is known to the object that it leads to.
    fileprivate init(_ reference: ReferenceChange, of owner: ManagedObject) {
        self.init(
            owner: GraphID(store: owner.graphID.store, object: reference.destination),
            property: reference.property.number)
    }
}
