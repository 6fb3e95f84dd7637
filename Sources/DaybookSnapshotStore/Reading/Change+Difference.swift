package import DaybookObjectModel

extension Change {
    /// The change that leads from one state of an object to another; nil when there is none.
    ///
    /// - Complexity: O(*p* + *m*), *p* the number of properties, *m* of members.
    package init?(
        of object: ObjectID, from old: ObjectState?, to new: ObjectState?, _ entity: SchemaEntity
    ) {
        let members = Self.memberships(from: old?.members ?? [:], to: new?.members ?? [:])
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?):
            self.init(object: object, kind: .insert(values: new.values, members: members))
        case (let old?, nil):
            self.init(object: object, kind: .delete(values: old.values, members: members))
        case (let old?, let new?):
            let edits = entity.slots.prefix(old.values.count).enumerated().compactMap {
                slot, property -> Edit? in
                old.values[slot] == new.values[slot]
                    ? nil
                    : Edit(
                        property: property.number, old: old.values[slot], new: new.values[slot])
            }
            self.init(
                object: object,
                kind: .update(edits: edits.sorted { $0.property < $1.property }, members: members))
            if isEmpty { return nil }
        }
    }

    private static func memberships(
        from old: [PropertyNumber: [ObjectID: Double]],
        to new: [PropertyNumber: [ObjectID: Double]]
    ) -> [MembershipEdit] {
        Set(old.keys).union(new.keys).sorted().compactMap { property in
            let before = old[property] ?? [:]
            let after = new[property] ?? [:]
            func differing(
                _ members: [ObjectID: Double], from others: [ObjectID: Double]
            ) -> [Member] {
                members.compactMap {
                    others[$0.key] == $0.value ? nil : Member(object: $0.key, order: $0.value)
                }
            }
            let edit = MembershipEdit(
                property: property, added: differing(after, from: before),
                removed: differing(before, from: after))
            return edit.isEmpty ? nil : edit
        }
    }
}
