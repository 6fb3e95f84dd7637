package import JournalLog
internal import LMDB
internal import ObjectModel

extension Store {
    /// The draft that takes an entry back: the state in which it never happened, for what it
    /// touched.
    ///
    /// Nothing is saved yet. Committing the draft appends an entry; undoing that one is a redo.
    ///
    /// - Parameters:
    ///   - sequence: The entry to undo.
    ///   - author: Who undoes it.
    ///   - note: Why.
    ///   - context: The name of the context that undoes it.
    /// - Returns: The draft, based on the head.
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` and one line for each property,
    ///   object or reference that a later entry has touched; with
    ///   ``StoreError/Code/noSuchEntry``.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes and of later versions of
    ///   their objects.
    package func undoDraft(
        of sequence: SequenceNumber, author: String? = nil, note: String? = nil,
        context: String? = nil
    ) throws -> Draft {
        let entry = try entry(sequence)
        guard entry.header.kind != .model else {
            throw StoreError(
                .undoBlocked, "Entry \(sequence) sets the model and cannot be undone.")
        }
        return try reading { transaction in
            var obstacles = UndoObstacles(entry, parts)
            let changes = try obstacles.inverse(in: transaction)
            guard obstacles.lines.isEmpty else {
                throw StoreError(
                    .undoBlocked,
                    "Entry \(sequence) cannot be undone, because later entries touched the same.",
                    details: obstacles.lines)
            }
            let header = EntryHeader(
                kind: .undo, author: author, note: note, context: context,
                base: try parts.journal.head(in: transaction), undoes: sequence)
            return Draft(header: header, changes: changes)
        }
    }
}

/// Finds what stands in the way of taking an entry back.
private struct UndoObstacles {
    private let entry: Entry
    private let parts: StoreParts
    private let changed: [ObjectID: Change]
    private var headers: [SequenceNumber: EntryHeader] = [:]
    private(set) var lines: [String] = []

    private var projection: Projection { parts.projection }
    private var schema: Schema { parts.projection.schema }

    init(_ entry: Entry, _ parts: StoreParts) {
        self.entry = entry
        self.parts = parts
        changed = Dictionary(entry.changes.map { ($0.object, $0) }) { first, _ in first }
    }

    /// The inverse of every change; what cannot be taken back is noted.
    mutating func inverse(in transaction: borrowing ReadTransaction) throws -> [Change] {
        for change in entry.changes { try check(change, in: transaction) }
        return entry.changes.map(\.inverse).sorted { $0.precedes($1) }
    }

    private mutating func check(
        _ change: Change, in transaction: borrowing ReadTransaction
    ) throws {
        let later = try standing(
            projection.touches(of: change.object, after: entry.sequence, in: transaction),
            in: transaction)
        switch change.kind {
        case .insert:
            for sequence in later {
                try note(sequence, "changed", nil, change.object, in: transaction)
            }
            guard later.isEmpty else { return }
            try checkReferrers(of: change.object, in: transaction)
        case .delete(let values, _):
            for sequence in later {
                try note(sequence, "brought back", nil, change.object, in: transaction)
            }
            try checkTargets(of: values, change.object, in: transaction)
            try checkMembers(change, in: transaction)
            try checkUniqueness(of: values, change.object, in: transaction)
        case .update(let edits, _):
            for sequence in later {
                try check(edits, against: sequence, change.object, in: transaction)
            }
            for edit in edits {
                try checkTarget(edit.old, edit.property, change.object, in: transaction)
            }
            try checkMembers(change, in: transaction)
        }
    }

    /// Which of our properties a later entry changed.
    private mutating func check(
        _ edits: [Edit], against sequence: SequenceNumber, _ object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws {
        let before = try projection.row(of: object, at: sequence.previous, in: transaction)
        let after = try projection.row(of: object, at: sequence, in: transaction)
        guard let before, let after else {
            let verb = after == nil ? "deleted" : "brought back"
            return try note(sequence, verb, nil, object, in: transaction)
        }
        for edit in edits {
            guard let slot = schema.entity(object.entity)?.property(edit.property)?.slot else {
                continue
            }
            if before.values[slot] != after.values[slot] {
                try note(sequence, "changed", edit.property, object, in: transaction)
            }
        }
    }

    /// Who refers to an object that would go, and does not go or change with it.
    private mutating func checkReferrers(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let prefix = StoreKey.object(object)
        let end = StoreKey.end(of: prefix) ?? []
        var links: [Link] = []
        try transaction.scan(
            projection.tables.referrers, from: prefix.span.bytes, to: end.span.bytes,
            order: .ascending
        ) { key, value in
            links.append(try Link(key, value))
            return .proceed
        }
        for link in links where !goesWithUs(link) {
            try note(
                link.since, "made a reference to \(schema.name(of: object)) of", link.property,
                link.other, in: transaction)
        }
    }

    /// Whether a reference is one that our entry made, in whatever entry it was made again.
    private func goesWithUs(_ link: Link) -> Bool {
        if schema.property(link.property).map(schema.leavesDangling) == true { return true }
        guard let change = changed[link.other] else { return false }
        switch change.kind {
        case .insert: return true
        case .delete: return false
        case .update(let edits, let members):
            return edits.contains {
                $0.property == link.property && $0.new.reference == link.object
            }
                || members.contains { edit in
                    edit.property == link.property
                        && edit.added.contains { $0.object == link.object }
                }
        }
    }

    /// Of later entries those whose effect has not been taken back: an entry and the one that
    /// undoes it cancel each other, and so LIFO undo never stands in its own way.
    private mutating func standing(
        _ later: [SequenceNumber], in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        var standing = Set(later)
        for sequence in later.reversed() where standing.contains(sequence) {
            let undone = try header(of: sequence, in: transaction)?.undoes
            if let undone, standing.remove(undone) != nil { standing.remove(sequence) }
        }
        return standing.sorted()
    }

    private mutating func header(
        of sequence: SequenceNumber, in transaction: borrowing ReadTransaction
    ) throws -> EntryHeader? {
        if let known = headers[sequence] { return known }
        let found = try parts.journal.entry(at: sequence, in: transaction)
        let header = try found.map { try Entry($0).header }
        headers[sequence] = header
        return header
    }

    /// Whether what an object would refer to again is there.
    private mutating func checkTargets(
        of values: [Value], _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        for property in schema.entity(object.entity)?.referenceSlots ?? [] {
            guard let slot = property.slot else { continue }
            try checkTarget(values[slot], property.number, object, in: transaction)
        }
    }

    private mutating func checkTarget(
        _ value: Value, _ property: PropertyNumber, _ object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws {
        guard let target = value.reference, !comesBack(target) else { return }
        guard
            let deletion = try projection.deletion(
                of: target, at: try parts.journal.head(in: transaction), in: transaction)
        else { return }
        try note(
            deletion, "deleted \(schema.name(of: target)), which is needed by", property, object,
            in: transaction)
    }

    private func comesBack(_ object: ObjectID) -> Bool {
        if let change = changed[object], change.isDelete { true } else { false }
    }

    /// Whether somebody touched the same members since, or a member that would return is gone.
    private mutating func checkMembers(
        _ change: Change, in transaction: borrowing ReadTransaction
    ) throws {
        for edit in change.members {
            for member in Set((edit.added + edit.removed).map(\.object)).sorted() {
                let key = StoreKey.link(from: change.object, edit.property, to: member)
                let later = try laterTouches(of: key, in: transaction)
                for sequence in try standing(later, in: transaction) {
                    try note(sequence, "changed", edit.property, change.object, in: transaction)
                }
            }
            for member in edit.removed {
                try checkTarget(
                    .object(member.object), edit.property, change.object, in: transaction)
            }
        }
    }

    /// The entries after ours that made or ended one membership.
    private func laterTouches(
        of key: [UInt8], in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        var found: Set<SequenceNumber> = []
        let lower = key + StoreKey.sequence(.zero)
        let upper = key + StoreKey.sequence(.latest)
        try transaction.scan(
            projection.tables.membersPast, from: lower.span.bytes, to: upper.span.bytes,
            order: .ascending
        ) { key, value in
            let link = try Link(key, value)
            found.insert(link.since)
            if let removal = link.removal { found.insert(removal) }
            return .proceed
        }
        let since = try transaction.get(projection.tables.members, key.span.bytes) { value in
            try Link(key.span.bytes, value).since
        }
        if let since { found.insert(since) }
        return found.filter { $0 > entry.sequence }.sorted()
    }

    /// Whether somebody has taken a unique value meanwhile that would come back.
    private mutating func checkUniqueness(
        of values: [Value], _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        for property in schema.entity(object.entity)?.indexedSlots ?? [] where property.isUnique {
            guard let slot = property.slot, !values[slot].isNull else { continue }
            let key = StoreKey.index(property.number, values[slot])
            for other in try projection.holders(of: key, in: transaction) where other != object {
                guard changed[other] == nil else { continue }
                let sequence = try projection.withRow(
                    of: other, at: .latest, in: transaction
                ) { _, layout in layout.since }
                try note(
                    sequence ?? .zero,
                    "gave \(schema.name(of: other)) the same unique value as", property.number,
                    object, in: transaction)
            }
        }
    }

    // MARK: - Words

    private mutating func note(
        _ sequence: SequenceNumber, _ verb: String, _ property: PropertyNumber?,
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let entity = schema.entity(object.entity)
        let name = property.flatMap { entity?.property($0)?.name }
        let place = name.map { "'\($0)' of " } ?? ""
        let by = try parts.journal.entry(at: sequence, in: transaction).map { try Entry($0) }
        let author = by?.header.author.map { " by \($0)" } ?? ""
        let time = by.map { " at \(TimeText.text(ofMicroseconds: $0.time))" } ?? ""
        let line =
            "Entry \(sequence)\(author) \(verb) \(place)\(schema.name(of: object))\(time)."
        if !lines.contains(line) { lines.append(line) }
    }
}
