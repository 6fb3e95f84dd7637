internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// Index records, and connections between objects.
extension Projector {
    mutating func addIndex(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan
    ) throws {
        guard property.indexHolds(field), !pending.lacks(property.number, of: change.object) else {
            return
        }
        try setIndexKey(property, field, entry)
        index.add(indexKeys.bytes)
    }

    mutating func removeIndex(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan
    ) throws {
        guard property.indexHolds(field), !pending.lacks(property.number, of: change.object) else {
            return
        }
        try setIndexKey(property, field, entry)
        removals.add(projection.tables.index, indexKeys.bytes)
    }

    /// Adds the record of a value that the entry replaces or takes along, where there is an index of the property. Null is
    /// a value here, whether or not the index has it.
    mutating func addFormer(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan
    ) throws {
        guard property.isIndexed else { return }
        try setIndexKey(property, field, entry)
        index.add(StoreKey.former(indexKeys.bytes, of: property.number, until: sequence))
    }

    private mutating func setIndexKey(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan
    ) throws {
        do {
            try indexKeys.set(property.number, field, in: entry, change.object)
        } catch {
            throw StoreError.entryUnreadable(sequence, cause: error)
        }
    }

    mutating func indexConstraints(
        _ entity: FoldedEntity, from old: [Value]?, to new: [Value]?
    ) {
        for constraint in entity.compounds {
            let before = old.flatMap { constraint.key(of: constraint.values(in: $0)) }
            let after = new.flatMap { constraint.key(of: constraint.values(in: $0)) }
            guard before != after else { continue }
            let id = StoreKey.object(change.object)
            if let before { removals.add(projection.tables.index, before + id) }
            if let after { index.add(after + id) }
        }
    }

    mutating func connect(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan
    ) throws {
        guard let destination = try value(field, entry).reference else { return }
        try addReferrer(StoreKey.link(from: destination, property.number, to: change.object))
    }

    mutating func addReferrer(_ key: [UInt8]) throws {
        guard state.beginReferrer(key) else {
            throw StoreError.corrupt(
                "The reference of \(projection.schema.name(of: change.object)) that entry "
                    + "\(sequence) begins is there already")
        }
        referrers.add(key, StoreKey.sequence(sequence))
    }

    mutating func disconnect(
        _ property: FoldedEntity.Property, _ field: EncodedField, _ entry: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let destination = try value(field, entry).reference else { return }
        try endReferrer(
            StoreKey.link(from: destination, property.number, to: change.object),
            in: transaction)
    }

    private mutating func endReferrer(
        _ key: [UInt8], in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard
            let since = try state.endLink(key, .referrer, before: sequence, in: transaction)
        else {
            throw StoreError.corrupt(
                "The reference of \(projection.schema.name(of: change.object)) that entry "
                    + "\(sequence) ends is not in the tables")
        }
        referrersPast.add(key + StoreKey.sequence(sequence), since)
        removals.add(projection.tables.referrers, key)
    }

    mutating func fold(
        _ edits: [MembershipEdit], in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let owner = change.object
        for edit in edits {
            for member in edit.removed {
                let key = StoreKey.link(from: owner, edit.property, to: member.object)
                guard
                    let found = try state.endLink(key, .member, before: sequence, in: transaction),
                    found.suffix(8) == member.orderBytes[...]
                else {
                    throw mismatch(edit.property)
                }
                membersPast.add(key + StoreKey.sequence(sequence), found)
                removals.add(projection.tables.members, key)
                let back = StoreKey.link(from: member.object, edit.property, to: owner)
                try endReferrer(back, in: transaction)
            }
            for member in edit.added {
                let key = StoreKey.link(from: owner, edit.property, to: member.object)
                let isMoved = edit.removed.contains { $0.object == member.object }
                guard
                    try state.beginMember(key, isMoved ? .moved : .joined, in: transaction)
                else { throw mismatch(edit.property) }
                members.add(key, StoreKey.sequence(sequence) + member.orderBytes)
                try addReferrer(StoreKey.link(from: member.object, edit.property, to: owner))
            }
        }
    }

    /// Ends all memberships of the object of the change over a relationship that was removed from the
    /// model, which the change does not name.
    mutating func endMembers(
        of property: PropertyNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let owner = change.object
        let members = try state.members(of: owner, property, before: sequence, in: transaction)
        for member in members {
            let key = StoreKey.link(from: owner, property, to: member)
            guard
                let found = try state.endLink(key, .member, before: sequence, in: transaction)
            else { throw mismatch(property) }
            membersPast.add(key + StoreKey.sequence(sequence), found)
            removals.add(projection.tables.members, key)
            try endReferrer(StoreKey.link(from: member, property, to: owner), in: transaction)
        }
    }

    private func value(_ field: EncodedField, _ entry: RawSpan) throws -> Value {
        do {
            return try entry.value(at: field)
        } catch {
            throw StoreError.entryUnreadable(sequence, cause: error)
        }
    }
}

extension Member {
    fileprivate var orderBytes: [UInt8] {
        var writer = KeyWriter(capacity: 8)
        writer.append(order.bitPattern)
        return writer.bytes
    }
}
