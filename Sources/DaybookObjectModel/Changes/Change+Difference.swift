extension Change {
    /// The change that leads from one state of an object to another; nil when there is none.
    ///
    /// - Complexity: O(*p* + *m*), *p* the number of properties, *m* of members.
    package init?(
        of object: ObjectID, from old: ObjectState?, to new: ObjectState?, _ entity: SchemaEntity
    ) {
        let (before, after) = (old?.members ?? [:], new?.members ?? [:])
        let members = Set(before.keys).union(after.keys).sorted().map {
            MembershipEdit(property: $0, from: before[$0] ?? [:], to: after[$0] ?? [:])
        }.filter { !$0.isEmpty }
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?):
            self.init(object: object, kind: .insert(values: new.values, members: members))
        case (let old?, nil):
            self.init(object: object, kind: .delete(values: old.values, members: members))
        case (let old?, let new?):
            self.init(
                object: object,
                kind: .update(
                    edits: [Edit](from: old.values, to: new.values, of: entity), members: members))
            if isEmpty { return nil }
        }
    }
}

extension [Edit] {
    /// The edits that lead from some values to others, both in slot order.
    package init(from old: [Value], to new: [Value], of entity: SchemaEntity) {
        self = zip(entity.slots, zip(old, new)).compactMap { property, pair in
            pair.0 == pair.1 ? nil : Edit(property: property.number, old: pair.0, new: pair.1)
        }
        sort { $0.property < $1.property }
    }
}
