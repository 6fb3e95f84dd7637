internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

/// Plans the undo of an entry that set a model: the model before, what the entry removed with its
/// values, and the entry's own changes undone.
struct ModelReversal {
    private let parts: StoreParts
    private let undone: Entry
    private let range: ClosedRange<SequenceNumber>
    private let after: Schema
    private let before: Schema
    /// The model that the reversal sets.
    private let reverted: Schema
    /// What later entries have touched of what the entry introduced, and the last one that has.
    /// Without a property the whole object is of a new entity.
    private var touches: [Touch: SequenceNumber] = [:]

    private struct Touch: Hashable {
        let object: ObjectID
        let property: PropertyNumber?
    }

    /// - Parameters:
    ///   - entry: The entry to undo.
    ///   - history: The versions of the model.
    ///   - parts: The store by the model in force.
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` for the first entry, and when a later
    ///   one has set another model.
    init(of entry: Entry, in history: ModelHistory, _ parts: StoreParts) throws {
        guard let before = history.schema(before: entry.sequence) else {
            throw StoreError.undoBlocked(
                "Entry \(entry.sequence) sets the model and cannot be undone.")
        }
        // Models that have been undone since are no obstacle.
        if let later = history.versions.last, later.sequence > entry.sequence,
            entry.version?.isInForce(under: later.schema.version) != true
        {
            throw StoreError.undoBlocked(
                "Entry \(entry.sequence) cannot be undone, because entry \(later.sequence) has set "
                    + "another model since. Undo that one first.")
        }
        self.parts = parts
        self.before = before
        undone = entry
        range = entry.sequence...entry.sequence
        after = parts.projection.schema
        reverted = Schema(after.version.reverted(to: before.version))
    }

    /// The plan.
    ///
    /// - Parameters:
    ///   - header: The header of the entry to be appended.
    ///   - later: Passes on the entries after the one to undo.
    ///   - transaction: The state to look at.
    /// - Returns: The plan, refused when later entries are in the way.
    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` when objects do not fit the model
    ///   before.
    mutating func plan(
        _ header: EntryHeader, later: ((Entry) throws -> Void) throws -> Void,
        in transaction: borrowing ReadTransaction
    ) throws -> UndoPlan {
        try later { look(at: $0) }
        let obstacles = try obstacles(in: transaction)
        var request = SaveRequest(header: header)
        request.version = reverted.version
        let name = range.sentenceStart
        guard obstacles.isEmpty else {
            let refusal = StoreError.undoBlocked(
                "\(name) cannot be undone, because later entries touched what it brought. Undo those "
                    + "as well.", obstacles)
            return UndoPlan(
                request: request, obstacles: obstacles, refusal: refusal, takenBackBy: nil)
        }
        let own = try ownChanges(in: transaction)
        // Relationships come back with their objects: nothing is moved to them again.
        let steps = reverted.steps(from: after).filter { !$0.bringsContent }
        var check = MigrationCheck(steps, parts, to: reverted, with: own)
        var changes = ChangeSet()
        let wanted = try own + check.run(in: transaction)
        for change in try wanted.withoutDerived(in: reverted) + lostReferences(own, in: transaction)
        {
            guard let entity = reverted.entity(change.object.entity) else { continue }
            try changes.append(change, of: entity)
        }
        request.changes = try DerivedValues.completed(
            changes.ordered, parts.with(reverted).projection,
            renewing: reverted.derivationsRenewed(after: after), in: transaction)
        return UndoPlan(request: request, obstacles: [], refusal: nil, takenBackBy: nil)
    }

    // MARK: - What came later

    /// Gathers what a later entry did to what the entry introduced.
    private mutating func look(at entry: Entry) {
        for change in entry.changes {
            let object = change.object
            guard let entity = after.entity(object.entity) else { continue }
            guard let kept = reverted.entity(object.entity) else {
                touches[Touch(object: object, property: nil)] = entry.sequence
                continue
            }
            var touched = change.members.map(\.property)
            switch change.kind {
            case .update(let edits, _): touched += edits.map(\.property)
            case .insert: touched += entity.properties.map(\.number)
            case .delete: break
            }
            for number in touched where kept.property(number) == nil {
                touches[Touch(object: object, property: number)] = entry.sequence
            }
        }
    }

    /// The work of later entries that would be lost: what is no longer as the entry left it.
    private func obstacles(in transaction: borrowing ReadTransaction) throws -> [UndoObstacle] {
        var obstacles: [UndoObstacle] = []
        let ordered = touches.sorted {
            ($0.value, $0.key.object, $0.key.property?.rawValue ?? 0)
                < ($1.value, $1.key.object, $1.key.property?.rawValue ?? 0)
        }
        for (touch, sequence) in ordered where try isLost(touch, in: transaction) {
            obstacles.append(try obstacle(touch, sequence, in: transaction))
        }
        return obstacles
    }

    private func isLost(
        _ touch: Touch, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        let projection = parts.projection
        guard let now = try projection.ownState(of: touch.object, at: .latest, in: transaction)
        else { return false }
        let then = try projection.ownState(of: touch.object, at: undone.sequence, in: transaction)
        guard let number = touch.property,
            let entity = after.entity(touch.object.entity), let property = entity.property(number)
        else { return now != then }
        guard let slot = property.slot else {
            return now.members[number] ?? [:] != then?.members[number] ?? [:]
        }
        return now.value(inSlot: slot) != then?.value(inSlot: slot) ?? entity.defaults[slot]
    }

    private func obstacle(
        _ touch: Touch, _ sequence: SequenceNumber, in transaction: borrowing ReadTransaction
    ) throws -> UndoObstacle {
        let heading = try parts.heading(of: sequence, in: transaction)
        let name = after.name(of: touch.object)
        let property = touch.property.flatMap {
            after.entity(touch.object.entity)?.property($0)?.name
        }
        let subject = property.map { "'\($0)' of \(name)" } ?? name
        let by = heading?.author.map { " by \($0)" } ?? ""
        let at = heading.map { " at \(DateText.text(microseconds: $0.time))" } ?? ""
        return UndoObstacle(
            entry: sequence, author: heading?.author,
            date: heading.map { Date(timeIntervalSince1970: Double($0.time) / 1_000_000) },
            object: touch.object, objectName: name, propertyName: property,
            description: "Entry \(sequence)\(by)\(at) changed \(subject).")
    }

    // MARK: - Changes

    /// The changes that undo the entry's own, as far as the model before knows them.
    private func ownChanges(in transaction: borrowing ReadTransaction) throws -> [Change] {
        let known = undone.changes.compactMap { $0.shown(by: reverted) }
            .withoutDerived(in: reverted).filter { !$0.isEmpty }
        guard !known.isEmpty else { return [] }
        // By the model before: what it brings back is part of what is there again.
        var planner = UndoPlanner(parts.with(reverted), range, .refuse, ignoring: SequenceRanges())
        try planner.takeBack(known, in: transaction)
        let changes = try planner.plan.changes(in: transaction)
        if let refusal = planner.refusal(isEmpty: false, isNetEmpty: false) { throw refusal }
        return changes
    }

    /// References over relationships that come back and whose objects have been deleted meanwhile, or are
    /// deleted with the entry's own changes.
    ///
    /// - Parameters:
    ///   - own: The changes that undo the entry's own.
    ///   - transaction: The state to look at.
    /// - Returns: The changes that empty them.
    /// - Throws: ``StoreError`` when a row cannot be read.
    private func lostReferences(
        _ own: [Change], in transaction: borrowing ReadTransaction
    ) throws -> [Change] {
        let projection = Projection(tables: parts.tables, schema: reverted)
        let coming = Set(own.filter(\.isInsert).map(\.object))
        let going = Set(own.filter(\.isDelete).map(\.object))
        func isThere(_ object: ObjectID) throws -> Bool {
            if coming.contains(object) { return true }
            return try !going.contains(object)
                && transaction.contains(parts.tables.rows, StoreKey.object(object).span.bytes)
        }
        var changes: [Change] = []
        for entity in reverted.entities {
            let old = after.entity(entity.number)
            let back = (entity.referenceSlots + entity.storedToMany).filter {
                old?.property($0.number) == nil
            }
            guard !back.isEmpty else { continue }
            _ = try projection.walkRows(of: entity.number, in: transaction) { object, row, bytes in
                guard !going.contains(object) else { return .proceed }
                let change = try lost(
                    back, of: object, row, bytes, projection, where: isThere, in: transaction)
                if let change { changes.append(change) }
                return .proceed
            }
        }
        return changes
    }

    private func lost(
        _ properties: [SchemaProperty], of object: ObjectID, _ row: RowLayout, _ bytes: RawSpan,
        _ projection: Projection, where isThere: (ObjectID) throws -> Bool,
        in transaction: borrowing ReadTransaction
    ) throws -> Change? {
        var edits: [Edit] = []
        var members: [MembershipEdit] = []
        for property in properties {
            if let slot = property.slot {
                let value = try projection.value(slot, of: object, row, bytes)
                guard let target = value.reference, try !isThere(target) else { continue }
                edits.append(Edit(property: property.number, old: value, new: .null))
            } else {
                let all: [Member] = try projection.members(
                    of: property, in: object, at: .latest, in: transaction)
                let gone = try all.filter { try !isThere($0.object) }
                guard !gone.isEmpty else { continue }
                members.append(
                    MembershipEdit(
                        property: property.number, added: [],
                        removed: gone.sorted { $0.object < $1.object }))
            }
        }
        guard !edits.isEmpty || !members.isEmpty else { return nil }
        return Change(
            object: object,
            kind: .update(edits: edits.sorted { $0.property < $1.property }, members: members))
    }
}

extension Store {
    /// The plan for undoing an entry that set a model.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` for the first entry, or when a later
    ///   one has set another model; with ``StoreError/Code/validation`` when objects do not fit the model
    ///   before.
    /// - Complexity: O(*e*) page reads, *e* the size of the entries since, and O(*n*), *n* the number of
    ///   objects, where relationships come back or the model before demands more.
    func modelUndoPlan(
        of entry: Entry, author: String?, note: String?, info: [String: String], context: String?
    ) throws -> UndoPlan {
        let history = try modelHistory()
        return try reading { transaction in
            let inForce = try models.inForce(in: transaction)
            let head = try inForce.parts.journal.head(in: transaction)
            var reversal = try ModelReversal(of: entry, in: history, inForce.parts)
            let header = EntryHeader(
                kind: .model, author: author, note: note, info: info, context: context, base: head,
                undoes: entry.sequence...entry.sequence)
            return try reversal.plan(
                header,
                later: { body in
                    try inForce.parts.journal.entries(
                        from: entry.sequence.next, through: head, in: transaction
                    ) {
                        try body(try Entry($0))
                        return .proceed
                    }
                }, in: transaction)
        }
    }

    /// Appends an entry that sets a model, as it was planned.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/conflict`` when somebody has saved since it was
    ///   planned; with ``StoreError/Code/validation`` when objects do not fit the model.
    func commitModel(_ request: SaveRequest, _ version: ModelVersion) throws -> SaveResult {
        let models = models
        let clock = request.recordedAt.map { time in { @Sendable in time } } ?? options.clock
        let result = try writing { transaction in
            let inForce = try models.inForce(in: transaction)
            try models.checkView(after: inForce.place.rewinds, in: transaction)
            let last = try LastCommitState.current(inForce.parts, in: transaction)
            guard last.head.sequence == request.header.base else { throw StoreError.overtaken() }
            let entry = try ModelEntry(request.header, version, request.changes).append(
                to: inForce.parts, after: last, clock: clock, in: transaction)
            if !request.changes.isEmpty {
                let schema = Schema(version)
                let steps = schema.steps(from: inForce.parts.projection.schema)
                var check = MigrationCheck(steps, inForce.parts, to: schema)
                try check.verify(in: transaction)
            }
            return SaveResult(
                sequence: entry.sequence, digest: entry.digest, changes: request.changes,
                conflicts: [])
        }
        if let sequence = result.sequence { publish(sequence) }
        return result.shown(by: schema)
    }
}

extension StoreError {
    /// The error for a save by others since a model was planned.
    static func overtaken() -> StoreError {
        StoreError(
            .conflict,
            "Nothing was saved: entries have been saved since this was planned. Try again.")
    }
}
