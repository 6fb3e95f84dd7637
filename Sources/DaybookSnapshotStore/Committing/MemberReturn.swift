internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Gives objects that come back what their delete had taken from them: their members, and the references of others
/// to them.
///
/// - What the entry that deleted the object has ended comes back, and nothing that others had ended before.
/// - What others have done since stays: a reference that leads elsewhere by now, or did in between, an object that is
///   gone, and one that only one object may hold and another one holds.
/// - What the request itself does to a member or a reference counts, even where nothing was left of it.
struct MemberReturn {
    private let projection: Projection
    /// What the request wants, by object.
    private let wanted: [ObjectID: Change]
    /// The changes, to which those are added that bring references back.
    private(set) var changes: [Change]
    private var positions: [ObjectID: Int] = [:]
    /// The targets that only one object may hold and that the changes give to one.
    private var claims: Set<[UInt8]> = []

    /// - Parameters:
    ///   - changes: What is left of the request.
    ///   - request: The changes as they were sent.
    ///   - projection: The tables.
    init(_ changes: [Change], of request: [Change], _ projection: Projection) {
        self.changes = changes
        self.projection = projection
        wanted = Dictionary(request.map { ($0.object, $0) }) { first, _ in first }
        for (position, change) in changes.enumerated() {
            positions[change.object] = position
            guard let entity = projection.schema.entity(change.object.entity) else { continue }
            change.forEachReference(of: entity) { reference in
                guard reference.new != nil, reference.property.isExclusive else { return }
                claims.insert(
                    StoreKey.links(of: reference.destination, reference.property.number))
            }
        }
    }

    /// Completes the insert by which an object comes back, and adds the changes of those that referred to it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a record cannot be read.
    mutating func complete(
        _ object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(object.entity),
            let position = positions[object],
            case .insert(var values, var members) = changes[position].kind,
            let deletion = try projection.deletion(of: object, at: .latest, in: transaction)
        else { return }
        let edited = wanted[object].map(\.editedProperties) ?? []
        for property in entity.referenceSlots where !edited.contains(property.number) {
            guard let slot = property.slot, slot < values.count,
                let target = values[slot].reference,
                property.relationship?.isOptional == true,
                try !mayHold(object, property, target, in: transaction)
            else { continue }
            values[slot] = .null
        }
        for property in entity.storedToMany {
            let own = members.first { $0.property == property.number }?.added ?? []
            let returning = try self.members(
                of: object, property, endedBy: deletion, besides: own, in: transaction)
            guard !returning.isEmpty else { continue }
            members.removeAll { $0.property == property.number }
            members.append(MembershipEdit(property: property.number, added: own + returning))
        }
        members.sort { $0.property < $1.property }
        changes[position].kind = .insert(values: values, members: members)
        try returnReferences(to: object, endedBy: deletion, in: transaction)
    }

    // MARK: - What it had

    /// The members that an object lost by its delete and that it may have again.
    private func members(
        of object: ObjectID, _ property: SchemaProperty, endedBy deletion: SequenceNumber,
        besides own: [Member], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Member] {
        let named = wanted[object]?.members.first { $0.property == property.number }
        let prefix = StoreKey.links(of: object, property.number)
        let table = projection.tables.membersPast
        var returning: [Member] = []
        for link in try ended(prefix, table, by: deletion, in: transaction) {
            guard named?.names(link.other) != true,
                !own.contains(where: { $0.object == link.other }),
                try mayHold(object, property, link.other, in: transaction)
            else { continue }
            returning.append(Member(object: link.other, order: link.order))
        }
        return returning
    }

    /// Whether a target is there, and nobody else holds it where only one object may.
    private func mayHold(
        _ owner: ObjectID, _ property: SchemaProperty, _ target: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        guard try willBeThere(target, in: transaction) else { return false }
        guard property.isExclusive else { return true }
        let holders = try projection.referrers(
            to: target, property.number, at: .latest, in: transaction)
        guard holders.allSatisfy({ $0 == owner }) else { return false }
        return property.slot != nil
            || !claims.contains(StoreKey.links(of: target, property.number))
    }

    private func willBeThere(
        _ object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if let position = positions[object] { return !changes[position].isDelete }
        let key = StoreKey.object(object)
        return try transaction.contains(projection.tables.rows, key.span.bytes)
    }

    // MARK: - What led to it

    private mutating func returnReferences(
        to object: ObjectID, endedBy deletion: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let prefix = StoreKey.object(object)
        let table = projection.tables.referrersPast
        for link in try ended(prefix, table, by: deletion, in: transaction) {
            let owner = link.other
            guard let property = projection.schema.entity(owner.entity)?.property(link.property),
                try mayLead(owner, property, to: object, in: transaction)
            else { continue }
            if property.slot != nil {
                guard
                    try isEmpty(property, of: owner, since: deletion, in: transaction)
                else { continue }
                let edit = Edit(property: property.number, old: .null, new: .object(object))
                try join(Change(object: owner, kind: .update(edits: [edit], members: [])))
            } else {
                let key = StoreKey.link(from: owner, property.number, to: object)
                let past = projection.tables.membersPast
                let order = try ended(key, past, by: deletion, in: transaction).first?.order ?? 0
                let edit = MembershipEdit(
                    property: property.number, added: [Member(object: object, order: order)])
                try join(Change(object: owner, kind: .update(edits: [], members: [edit])))
            }
        }
    }

    /// Whether an owner may lead to the object again: it is there, as it was, and the request has no other idea.
    private func mayLead(
        _ owner: ObjectID, _ property: SchemaProperty, to object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let isClaimed = claims.contains(StoreKey.links(of: object, property.number))
        guard !property.isExclusive || !isClaimed else { return false }
        if let position = positions[owner] {
            guard case .update = changes[position].kind else { return false }
        }
        if let change = wanted[owner] {
            guard case .update(let edits, let members) = change.kind else { return false }
            let isNamed =
                edits.contains { $0.property == property.number }
                || members.contains { $0.property == property.number && $0.names(object) }
            if isNamed { return false }
        }
        let key = StoreKey.object(owner)
        return try transaction.contains(projection.tables.rows, key.span.bytes)
    }

    /// Whether a reference has led nowhere ever since the entry that emptied it.
    private func isEmpty(
        _ property: SchemaProperty, of owner: ObjectID, since deletion: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        guard let slot = property.slot else { return false }
        var sequence = SequenceNumber.latest
        while let row = try projection.row(of: owner, at: sequence, in: transaction) {
            guard slot < row.values.count, row.values[slot].isNull else { return false }
            if row.since <= deletion { return true }
            sequence = row.since.previous
        }
        return false
    }

    private mutating func join(_ change: Change) throws {
        try changes.join(change, at: &positions, in: projection.schema)
    }

    // MARK: - The past

    /// The connections that an entry has ended, of those whose keys begin so.
    private func ended(
        _ prefix: [UInt8], _ table: Table, by sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Link] {
        let end = StoreKey.end(of: prefix) ?? []
        var found: [Link] = []
        try transaction.scan(
            table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            let link = try Link(key, value)
            if link.removal == sequence { found.append(link) }
            return .proceed
        }
        return found
    }
}

extension Change {
    /// The properties of which an update sets the value.
    fileprivate var editedProperties: Set<PropertyNumber> {
        guard case .update(let edits, _) = kind else { return [] }
        return Set(edits.map(\.property))
    }
}

extension MembershipEdit {
    /// Whether an object joins, leaves or moves.
    fileprivate func names(_ object: ObjectID) -> Bool {
        (added + removed).contains { $0.object == object }
    }
}
