internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

/// The states that some objects are to have, adjusted so that the graph stays whole.
///
/// Undo and restore say what they want. ``settle(in:)`` then leaves out, or reports, whatever would
/// break a reference, give an object two owners where it can have one, or repeat a unique value.
/// ``changes(in:)`` returns the changes from the tables' state to the wanted one.
struct GraphRepair {
    /// The wanted state of each object; nil to delete it.
    private(set) var wanted: [ObjectID: ObjectState?] = [:]
    private(set) var obstacles: [UndoObstacle] = []
    let policy: UndoPolicy
    private let parts: StoreParts
    private let ignored: SequenceRanges
    private var states: [ObjectID: ObjectState?] = [:]
    private var queue = RepairQueue()
    private var reported: Set<UndoObstacle> = []
    private var entries: [SequenceNumber: (author: String?, time: Int64)] = [:]

    private var projection: Projection { parts.projection }
    private var schema: Schema { parts.projection.schema }

    /// Starts with nothing wanted. Ignored entries count as no obstacle.
    init(
        _ parts: StoreParts, _ policy: UndoPolicy,
        ignoring ignored: SequenceRanges = SequenceRanges()
    ) {
        self.parts = parts
        self.policy = policy
        self.ignored = ignored
    }

    // MARK: - Wanted states

    /// Sets the wanted state of an object.
    mutating func want(_ state: ObjectState?, for object: ObjectID) {
        wanted[object] = .some(state)
    }

    /// The wanted state of an object, or else its current state.
    mutating func state(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> ObjectState? {
        if let state = wanted[object] { return state }
        return try current(object, in: transaction)
    }

    /// The current state of an object.
    mutating func current(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> ObjectState? {
        if let known = states[object] { return known }
        let state = try projection.ownState(of: object, at: .latest, in: transaction)
        states[object] = .some(state)
        return state
    }

    /// The changes from the current state to the wanted one, in the order of an entry.
    mutating func changes(in transaction: borrowing ReadTransaction) throws -> [Change] {
        var changes: [Change] = []
        for (object, state) in wanted {
            guard let entity = schema.entity(object.entity) else { continue }
            let current = try current(object, in: transaction)
            let state = current == nil ? state?.filled(by: entity) : state
            if let change = Change(of: object, from: current, to: state, entity) {
                changes.append(change)
            }
        }
        return changes.sorted { $0.precedes($1) }
    }

    // MARK: - Settling

    /// Makes the wanted states fit each other and everything else.
    ///
    /// Under ``UndoPolicy/refuse`` nothing is changed, only reported.
    mutating func settle(in transaction: borrowing ReadTransaction) throws {
        queue = RepairQueue(wanted, schema)
        while let object = queue.next() {
            guard let state = wanted[object] else { continue }
            if let state {
                try settleReferences(of: object, state, in: transaction)
                try mirror(object, in: transaction)
                try settleUniqueValues(of: object, in: transaction)
            } else {
                try settleReferrers(of: object, in: transaction)
            }
        }
    }

    /// How many objects settling has visited, repeats included.
    var visitCount: Int { queue.visitCount }

    /// Whether obstacles are only reported.
    private var onlyReports: Bool { policy == .refuse }

    /// Drops what was wanted of an object, so that it stays as it is.
    private mutating func leave(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        guard !onlyReports else { return }
        wanted[object] = nil
        queue.revisit(afterLeaving: object, as: try current(object, in: transaction), schema)
    }

    /// Gives a property another value than the wanted one.
    private mutating func set(
        _ value: Value, _ slot: Int, of object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws {
        guard !onlyReports, case .some(.some(var state)) = wanted[object] else { return }
        state.values[slot] = value
        wanted[object] = .some(state)
        queue.revisit(afterSetting: object, as: try current(object, in: transaction), schema)
    }

    // MARK: - References that would be made

    private mutating func settleReferences(
        of object: ObjectID, _ state: ObjectState, in transaction: borrowing ReadTransaction
    ) throws {
        guard let entity = schema.entity(object.entity) else { return }
        let current = try current(object, in: transaction)
        for property in entity.referenceSlots {
            guard let slot = property.slot, let target = state.values[slot].reference,
                current?.values[slot].reference != target,
                try !mayRefer(object, property, to: target, in: transaction)
            else { continue }
            if let current {
                try set(current.values[slot], slot, of: object, in: transaction)
            } else if property.relationship?.isOptional == true {
                try set(.null, slot, of: object, in: transaction)
            } else {
                return try leave(object, in: transaction)
            }
        }
        for property in entity.storedToMany {
            let old = current?.members[property.number] ?? [:]
            for member in (state.members[property.number] ?? [:]).keys.sorted()
            where old[member] == nil {
                guard try !mayRefer(object, property, to: member, in: transaction) else { continue }
                leaveOut(member, property.number, of: object)
            }
        }
    }

    /// Makes the other ends of relationships that are their own inverses follow, where they are stored, too.
    private mutating func mirror(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        guard case .some(.some(let state)) = wanted[object],
            let entity = schema.entity(object.entity)
        else { return }
        let current = try current(object, in: transaction)
        for property in entity.properties where property.isSelfInverse {
            let old = current?.targets(of: property) ?? [:]
            let new = state.targets(of: property)
            for target in Set(old.keys).union(new.keys).sorted() where target != object {
                let order = new[target]
                guard (old[target] == nil) != (order == nil),
                    var other = try self.state(of: target, in: transaction),
                    (other.targets(of: property)[object] == nil) != (order == nil)
                else { continue }
                other.set(object, order, in: property)
                want(other, for: target)
                queue.add(target)
            }
        }
    }

    private mutating func leaveOut(
        _ member: ObjectID, _ property: PropertyNumber, of object: ObjectID
    ) {
        guard !onlyReports, case .some(.some(var state)) = wanted[object] else { return }
        state.members[property]?[member] = nil
        if state.members[property]?.isEmpty == true { state.members[property] = nil }
        wanted[object] = .some(state)
        queue.add(object)
    }

    /// Whether a reference can be made: its target exists, and no other object holds a target that
    /// only one can hold.
    private mutating func mayRefer(
        _ owner: ObjectID, _ property: SchemaProperty, to target: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        var links: [Link] = []
        let standing = try property.standing(
            of: target, from: owner,
            exists: { try state(of: $0, in: transaction) != nil },
            holders: { target in
                links = try projection.links(to: target, property.number, in: transaction)
                return try links.map(\.other).filter {
                    try refers($0, property, to: target, in: transaction)
                }
            })
        switch standing {
        case .allowed: return true
        case .gone:
            let deletion = try projection.deletion(of: target, at: .latest, in: transaction)
            let verb = deletion == nil ? "made" : "deleted"
            try report(
                deletion, "\(verb) \(schema.name(of: target)), which is needed by",
                property.number, owner, in: transaction)
            return false
        case .held(let others):
            for other in others {
                if policy == .overwrite,
                    try letGo(other, property, of: target, in: transaction)
                {
                    continue
                }
                try report(
                    links.first { $0.other == other }?.since,
                    "gave \(schema.name(of: target)) to \(schema.name(of: other)), which is "
                        + "needed by", property.number, owner, in: transaction)
                return false
            }
            return true
        }
    }

    // MARK: - References to what would go

    private mutating func settleReferrers(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        for link in try projection.links(to: object, nil, in: transaction) {
            guard let property = schema.entity(link.other.entity)?.property(link.property),
                !schema.leavesDangling(property),
                try refers(link.other, property, to: object, in: transaction)
            else { continue }
            if policy == .overwrite, try letGo(link.other, property, of: object, in: transaction) {
                continue
            }
            try report(
                link.since, "made", link.property, link.other,
                " refer to \(schema.name(of: object))", in: transaction)
            if !onlyReports { return try leave(object, in: transaction) }
        }
    }

    /// Takes a reference out of the wanted state of its owner.
    ///
    /// - Returns: Whether the owner can do without the reference.
    private mutating func letGo(
        _ owner: ObjectID, _ property: SchemaProperty, of target: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard var state = try state(of: owner, in: transaction) else { return true }
        if let slot = property.slot {
            guard property.relationship?.isOptional == true else { return false }
            state.values[slot] = .null
        } else {
            state.members[property.number]?[target] = nil
            if state.members[property.number]?.isEmpty == true {
                state.members[property.number] = nil
            }
        }
        want(state, for: owner)
        queue.add(owner)
        return true
    }

    /// Whether an owner will refer to an object.
    private mutating func refers(
        _ owner: ObjectID, _ property: SchemaProperty, to target: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard let state = try state(of: owner, in: transaction) else { return false }
        if let slot = property.slot { return state.values[slot].reference == target }
        return state.members[property.number]?[target] != nil
    }

    // MARK: - Unique values

    private mutating func settleUniqueValues(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        for constraint in schema.entity(object.entity)?.constraints ?? [] {
            guard let state = try state(of: object, in: transaction),
                let key = constraint.key(of: constraint.values(in: state.values))
            else { continue }
            let current = try current(object, in: transaction)
            let old = current.flatMap { constraint.key(of: constraint.values(in: $0.values)) }
            guard old != key, let holder = try holder(of: key, constraint, object, in: transaction)
            else { continue }
            let since = try projection.withRow(of: holder, at: .latest, in: transaction) {
                _, layout in layout.since
            }
            try report(
                since, "gave \(schema.name(of: holder)) the same unique value as",
                constraint.properties.first?.number, object, in: transaction)
            try leaveOut(constraint, of: object, current, in: transaction)
        }
    }

    /// Another object that will have the same unique value.
    private mutating func holder(
        of key: [UInt8], _ constraint: SchemaConstraint, _ object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> ObjectID? {
        for other in try projection.holders(of: key, constraint, in: transaction)
        where other != object {
            // Entities that inherit a property keep it in slots of their own.
            let own = schema.entity(other.entity)?.constraints.first {
                $0.number == constraint.number
            }
            guard let own, let state = try state(of: other, in: transaction) else { continue }
            if own.key(of: own.values(in: state.values)) == key { return other }
        }
        return nil
    }

    private mutating func leaveOut(
        _ constraint: SchemaConstraint, of object: ObjectID, _ current: ObjectState?,
        in transaction: borrowing ReadTransaction
    ) throws {
        let slots = constraint.properties.compactMap(\.slot)
        if let current {
            for slot in slots {
                try set(current.values[slot], slot, of: object, in: transaction)
            }
        } else if let spare = constraint.properties.first(where: {
            $0.attribute?.isOptional == true
        })?.slot {
            try set(.null, spare, of: object, in: transaction)
        } else {
            try leave(object, in: transaction)
        }
    }

    // MARK: - Obstacles

    /// Reports an obstacle: the entry in the way, if there is a single one, and what it did, worded
    /// to precede "'name' of Country/17", and perhaps to follow it.
    mutating func report(
        _ sequence: SequenceNumber?, _ verb: String, _ property: PropertyNumber?,
        _ object: ObjectID, _ rest: String = "", in transaction: borrowing ReadTransaction
    ) throws {
        if let sequence, ignored.contains(sequence) { return }
        let name = schema.name(of: object)
        let propertyName = property.flatMap { schema.entity(object.entity)?.property($0)?.name }
        let subject = propertyName.map { "'\($0)' of \(name)" } ?? name
        let entry = try sequence.flatMap { try self.entry($0, in: transaction) }
        let by = entry?.author.map { " by \($0)" } ?? ""
        let at = entry.map { " at \(DateText.text(microseconds: $0.time))" } ?? ""
        let agent = sequence.map { "Entry \($0)\(by)\(at)" } ?? "What is to be taken back"
        let obstacle = UndoObstacle(
            entry: sequence, author: entry?.author,
            date: entry.map { Date(timeIntervalSince1970: Double($0.time) / 1_000_000) },
            object: object, objectName: name, propertyName: propertyName,
            description: "\(agent) \(verb) \(subject)\(rest).")
        if reported.insert(obstacle).inserted { obstacles.append(obstacle) }
    }

    /// Who saved an entry, and when it happened.
    private mutating func entry(
        _ sequence: SequenceNumber, in transaction: borrowing ReadTransaction
    ) throws -> (author: String?, time: Int64)? {
        if let known = entries[sequence] { return known }
        guard let found = try parts.journal.entry(at: sequence, in: transaction) else { return nil }
        let header = try EntryPayload.header(of: found.payload)
        let entry = (header.author, header.occurredAt ?? found.recordedAt)
        entries[sequence] = entry
        return entry
    }
}

extension ObjectState {
    /// The state of an object that comes back, in which attributes that have become mandatory since have
    /// their default value.
    fileprivate func filled(by entity: SchemaEntity) -> ObjectState {
        var filled = self
        for (slot, property) in entity.slots.prefix(entity.storedSlotCount).enumerated()
        where slot < values.count && values[slot].isNull {
            guard let attribute = property.attribute, !attribute.isOptional else { continue }
            filled.values[slot] = attribute.defaultValue
        }
        return filled
    }
}

extension ObjectState {
    /// What a stored relationship leads to, each with its order.
    fileprivate func targets(of property: SchemaProperty) -> [ObjectID: Double] {
        guard let slot = property.slot else { return members[property.number] ?? [:] }
        return values[slot].reference.map { [$0: 0] } ?? [:]
    }

    /// Makes a stored relationship lead to an object, or, without an order, lead there no longer.
    fileprivate mutating func set(
        _ object: ObjectID, _ order: Double?, in property: SchemaProperty
    ) {
        if let slot = property.slot {
            values[slot] = order == nil ? .null : .object(object)
        } else {
            members[property.number, default: [:]][object] = order
            if members[property.number]?.isEmpty == true { members[property.number] = nil }
        }
    }
}
