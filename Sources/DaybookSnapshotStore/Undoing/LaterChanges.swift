internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Finds what later entries did to what a run of entries changed.
///
/// An entry that undoes others and leaves something as it was before them cancels with them, so
/// undoing step by step never blocks itself. Whether it does is looked up for each object, property
/// and member, not taken from its header alone.
struct LaterChanges {
    private let parts: StoreParts
    private let range: ClosedRange<SequenceNumber>
    /// Whether an entry that undoes others cancels with them.
    private let cancelsUndone: Bool
    /// Entries that count as if they had never happened.
    private let ignored: SequenceRanges
    private var undone: [SequenceNumber: ClosedRange<SequenceNumber>?] = [:]
    private var touches: [ObjectID: [SequenceNumber]] = [:]
    /// The last entry found that took back something of the run.
    private(set) var takenBackBy: SequenceNumber?

    private var projection: Projection { parts.projection }

    init(
        _ parts: StoreParts, after range: ClosedRange<SequenceNumber>,
        ignoring ignored: SequenceRanges, cancelsUndone: Bool = true
    ) {
        self.parts = parts
        self.range = range
        self.ignored = ignored
        self.cancelsUndone = cancelsUndone
    }

    /// The later entries that changed an object and still count.
    mutating func ofObject(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        let projection = projection
        return try standing(touches(of: object, in: transaction), in: transaction) { last, first in
            try projection.ownState(of: object, at: last, in: transaction)
                == projection.ownState(of: object, at: first, in: transaction)
        }
    }

    /// The later entries that gave a property another value, or made or deleted its object, and still
    /// count.
    mutating func ofValue(
        _ slot: Int, of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        let projection = projection
        func value(_ sequence: SequenceNumber) throws -> Value? {
            try projection.value(slot, of: object, at: sequence, in: transaction)
        }
        let later = try touches(of: object, in: transaction).filter {
            try value($0.previous) != value($0)
        }
        return try standing(later, in: transaction) { try value($0) == value($1) }
    }

    /// The edits to take back, last first: those that the run made to a property whose attribute
    /// merges and that no later entry has taken back.
    ///
    /// Later edits of such a property build on the value there and restore no earlier one, so only
    /// the headers of the entries show what has been undone.
    ///
    /// - Parameters:
    ///   - net: The net edit that the run made to the property.
    ///   - slot: The slot of the property in rows.
    ///   - object: The object.
    ///   - transaction: The transaction to read in.
    /// - Returns: The edits; none when all has been taken back.
    /// - Throws: ``StoreError`` when a row or an entry cannot be read.
    mutating func standingEdits(
        _ net: Edit, _ slot: Int, of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> [Edit] {
        let own = try projection.touches(
            of: object, after: range.lowerBound.previous, in: transaction
        ).filter { range ~= $0 || !ignored.contains($0) }
        var edits: [SequenceNumber: Edit] = [:]
        for sequence in own {
            let old = try projection.value(
                slot, of: object, at: sequence.previous, in: transaction)
            let new = try projection.value(slot, of: object, at: sequence, in: transaction)
            guard let old, let new, old != new else { continue }
            edits[sequence] = Edit(property: net.property, old: old, new: new)
        }
        var takenBack: Set<SequenceNumber> = []
        // One that makes or deletes the object edits nothing, and may undo what did.
        for sequence in own.sorted(by: >)
        where sequence > range.upperBound && !takenBack.contains(sequence) {
            guard let undone = try undone(by: sequence, in: transaction) else { continue }
            takenBack.formUnion(own.filter { undone ~= $0 })
            if undone.overlaps(range) { takenBackBy = max(takenBackBy ?? .zero, sequence) }
        }
        let ours = edits.keys.filter { range ~= $0 }
        if takenBack.isDisjoint(with: ours) { return [net] }
        return ours.filter { !takenBack.contains($0) }.sorted(by: >).compactMap { edits[$0] }
    }

    /// The later entries that made, moved or ended one membership and still count.
    mutating func ofMember(
        _ member: ObjectID, _ property: PropertyNumber, of object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        let links = try links(
            StoreKey.link(from: object, property, to: member), in: transaction)
        let events = Set(links.flatMap { [$0.since] + ($0.removal.map { [$0] } ?? []) })
        func order(_ sequence: SequenceNumber) -> Double? {
            links.first { $0.since <= sequence && sequence < $0.removal ?? .latest }?.order
        }
        let later = events.filter { $0 > range.upperBound }.sorted()
        return try standing(later, in: transaction) { order($0) == order($1) }
    }

    // MARK: - Reading

    private mutating func touches(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber] {
        if let known = touches[object] { return known }
        let all = try projection.touches(of: object, after: range.upperBound, in: transaction)
        let found = try all.filter { try isOwn($0, of: object, in: transaction) }
        touches[object] = found
        return found
    }

    /// Whether an entry did more to an object than give it derived values, which follow from others.
    private func isOwn(
        _ sequence: SequenceNumber, of object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard projection.schema.entity(object.entity)?.derivedSlots.isEmpty == false else {
            return true
        }
        return try projection.ownState(of: object, at: sequence.previous, in: transaction)
            != projection.ownState(of: object, at: sequence, in: transaction)
    }

    /// Every period in which one membership stood.
    private func links(
        _ key: [UInt8], in transaction: borrowing ReadTransaction
    ) throws -> [Link] {
        var found: [Link] = []
        let lower = key + StoreKey.sequence(.zero)
        let upper = key + StoreKey.sequence(.latest)
        try transaction.scan(
            projection.tables.membersPast, from: lower.span.bytes, to: upper.span.bytes,
            order: .ascending
        ) { key, value in
            found.append(try Link(key, value))
            return .proceed
        }
        let current = try transaction.get(projection.tables.members, key.span.bytes) { value in
            try Link(key.span.bytes, value)
        }
        if let current { found.append(current) }
        return found
    }

    /// The later entries whose effect has not been taken back. `isSame` tells whether the object,
    /// value or membership is the same after two entries.
    private mutating func standing(
        _ later: [SequenceNumber], in transaction: borrowing ReadTransaction,
        isSame: (SequenceNumber, SequenceNumber) throws -> Bool
    ) throws -> [SequenceNumber] {
        var standing = Set(later.filter { !ignored.contains($0) })
        guard cancelsUndone else { return standing.sorted() }
        for sequence in later.reversed() where standing.contains(sequence) {
            guard let undone = try undone(by: sequence, in: transaction),
                undone.lowerBound >= range.lowerBound, undone.upperBound < sequence,
                try isSame(sequence, undone.lowerBound.previous)
            else { continue }
            standing = standing.filter { $0 < undone.lowerBound || $0 > sequence }
            if undone.lowerBound <= range.upperBound {
                takenBackBy = max(takenBackBy ?? .zero, sequence)
            }
        }
        return standing.sorted()
    }

    /// The entries that an entry undoes, by its header.
    private mutating func undone(
        by sequence: SequenceNumber, in transaction: borrowing ReadTransaction
    ) throws -> ClosedRange<SequenceNumber>? {
        if let known = undone[sequence] { return known }
        let found = try parts.journal.entry(at: sequence, in: transaction)
        let undoes = try found.map { try EntryPayload.header(of: $0).undoes } ?? nil
        undone[sequence] = .some(undoes)
        return undoes
    }
}

extension Projection {
    /// One value of an object as it stood at an entry; nil when the object was not there.
    fileprivate func value(
        _ slot: Int, of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing ReadTransaction
    ) throws -> Value? {
        try withRow(of: object, at: sequence, in: transaction) { bytes, layout in
            try value(slot, of: object, layout, bytes)
        }
    }
}
