internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Rebases the changes of a request on what their objects have become since the request's base.
///
/// A change that collides with nothing comes out as it went in; comparing its old values is enough
/// to tell.
struct Merger {
    private let projection: Projection
    private let request: SaveRequest
    /// What collided, whichever side then won.
    private(set) var conflicts: [MergeConflict] = []
    /// Where both sides' changes have become one.
    private(set) var merged: [MergedValue] = []
    /// Whether every change came out as it went in.
    private(set) var isUntouched = true
    /// The new objects whose numbers other objects have.
    private var taken: [ValidationFailure] = []
    private var numbersMaximum: [EntityNumber: UInt64] = [:]

    init(_ request: SaveRequest, _ projection: Projection) {
        self.request = request
        self.projection = projection
    }

    /// Merges all changes.
    ///
    /// - Returns: Changes that apply to the tables as they are, in the order of an entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` for new objects with the numbers of others.
    mutating func merge(
        _ changes: [Change], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Change] {
        try checkWatched(besides: changes, in: transaction)
        let first = try changes.firstIndex { try !applies($0, in: transaction) }
        guard let first else { return changes }
        var merged = Array(changes[..<first])
        var returning: [ObjectID] = []
        for change in changes[first...] {
            if try applies(change, in: transaction) {
                merged.append(change)
                continue
            }
            isUntouched = false
            guard let settled = try settle(change, in: transaction) else { continue }
            merged.append(settled)
            if settled.isInsert, !change.isInsert { returning.append(settled.object) }
        }
        guard taken.isEmpty else { throw StoreError.validation(taken) }
        if !returning.isEmpty {
            var members = MemberReturn(merged, of: changes, projection)
            for object in returning { try members.complete(object, in: transaction) }
            merged = members.changes
        }
        if !isUntouched { merged.sort { $0.precedes($1) } }
        return merged
    }

    /// Whether a change fits the tables as it is.
    private mutating func applies(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if case .insert = change.kind { return try isNew(change.object, in: transaction) }
        guard let entity = projection.schema.entity(change.object.entity) else { return false }
        let key = StoreKey.object(change.object)
        let fits = try transaction.get(projection.tables.rows, key.span.bytes) { bytes in
            let object = change.object
            let layout = try projection.decoding(object) { () throws(DecodingFailure) in
                try RowLayout(bytes)
            }
            if let since = request.rowSeen(object),
                try projection.hasMoved(object, layout, bytes, since: since)
            {
                return false
            }
            switch change.kind {
            case .insert: return false
            case .update(let edits, _):
                for edit in edits {
                    guard let slot = entity.property(edit.property)?.slot,
                        try projection.value(slot, of: object, layout, bytes) == edit.old
                    else { return false }
                }
                return true
            case .delete(let values, _):
                return try entity.withoutDerived(projection.values(of: object, layout, bytes))
                    == values
            }
        }
        guard fits == true else { return false }
        return try membersApply(change, entity, in: transaction)
    }

    private func membersApply(
        _ change: Change, _ entity: SchemaEntity, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if case .delete(_, let members) = change.kind {
            guard !entity.storedToMany.isEmpty else { return members.isEmpty }
            let state = try state(of: change.object, in: transaction)
            let removed = members.map { edit in
                (edit.property, edit.removed.map { ($0.object, $0.order) })
            }
            let listed = Dictionary(
                removed.map { ($0.0, Dictionary($0.1) { first, _ in first }) }
            ) { first, _ in first }
            return state?.members == listed && members.allSatisfy(\.added.isEmpty)
        }
        for edit in change.members {
            let current = try members(of: change.object, edit, in: transaction)
            let isFitting =
                edit.removed.allSatisfy { current[$0.object] == $0.order }
                && edit.added.allSatisfy { member in
                    current[member.object] == nil
                        || edit.removed.contains { $0.object == member.object }
                }
            guard isFitting else { return false }
        }
        return true
    }

    /// The current order of the objects that an edit names.
    private func members(
        of owner: ObjectID, _ edit: MembershipEdit,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID: Double] {
        var found: [ObjectID: Double] = [:]
        for member in edit.removed + edit.added {
            let key = StoreKey.link(from: owner, edit.property, to: member.object)
            let table = projection.tables.members
            let order = try transaction.get(table, key.span.bytes) { value in
                try Link(key.span.bytes, value).order
            }
            if let order { found[member.object] = order }
        }
        return found
    }

    private mutating func isNew(
        _ object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let greatest: UInt64
        if let known = numbersMaximum[object.entity] {
            greatest = known
        } else {
            greatest = try projection.tables.rows.numberMaximum(of: object.entity, in: transaction)
            numbersMaximum[object.entity] = greatest
        }
        if object.number > greatest { return true }
        let key = StoreKey.object(object)
        return try !transaction.contains(projection.tables.rows, key.span.bytes)
    }

    private func state(
        of object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ObjectState? {
        try projection.ownState(of: object, at: .latest, in: transaction)
    }

    /// Merges one change property by property.
    private mutating func settle(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Change? {
        guard let entity = projection.schema.entity(change.object.entity) else { return nil }
        let current = try state(of: change.object, in: transaction)
        let isReturning = current == nil && request.returning.contains(change.object)
        let policy = isReturning ? .mergeByPropertyObjectTrump : request.policy
        let outcome = ThreeWayMerge(of: entity, policy: policy).merge(
            ours: change, seen: request.seen[change.object], current: current,
            movement: try movement(of: change.object, in: transaction))
        if change.isInsert, current != nil, !request.returned.contains(change.object),
            outcome.change != nil || !outcome.conflicts.isEmpty
        {
            taken.append(numberTaken(change.object))
            return nil
        }
        if !isReturning { conflicts += outcome.conflicts }
        merged += outcome.merged
        return outcome.change
    }

    private func numberTaken(_ object: ObjectID) -> ValidationFailure {
        let name = projection.schema.name(of: object)
        return ValidationFailure(
            .invalid, object: object,
            "\(name) is new here, and the store has got another object of that number meanwhile, as from a "
                + "second copy of the file. Insert a new object in its place.")
    }

    /// Records a conflict for each watched object that others have changed.
    private mutating func checkWatched(
        besides changes: [Change], in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard !request.watched.isEmpty else { return }
        let changed = Set(changes.map(\.object))
        for (object, seen) in request.watched.sorted(by: { $0.key < $1.key })
        where !changed.contains(object) {
            let hasMoved = try projection.withRow(of: object, at: .latest, in: transaction) {
                bytes, layout in try projection.hasMoved(object, layout, bytes, since: seen)
            }
            guard hasMoved != false else { continue }
            conflicts.append(
                MergeConflict(kind: hasMoved == nil ? .deletedByThem : .value, object: object))
        }
    }

    private func movement(
        of object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ObjectMovement {
        guard let seen = request.rowSeen(object) else { return .untold }
        let hasMoved = try projection.withRow(of: object, at: .latest, in: transaction) {
            bytes, layout in try projection.hasMoved(object, layout, bytes, since: seen)
        }
        guard hasMoved == true else { return .untold }
        return request.watched[object] == nil ? .row : .watched
    }
}

extension Table {
    /// The greatest object number among an entity's records, in the tables of rows and of versions; 0
    /// when there are none.
    func numberMaximum(
        of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        let end = StoreKey.end(of: entity)
        let prefix = StoreKey.entity(entity)
        let last: UInt64? = try transaction.seek(self, before: end.span.bytes) { key, _ in
            // Verifying finds keys that are not those of an object.
            guard key.starts(with: prefix), key.byteCount >= StoreKey.objectSize else { return 0 }
            var reader = KeyReader()
            return try reader.object(key).number
        }
        return last ?? 0
    }
}
