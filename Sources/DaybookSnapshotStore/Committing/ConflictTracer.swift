public import DaybookJournalLog
internal import DaybookLMDB
public import DaybookObjectModel
public import Foundation

extension MergeConflict {
    /// The entry that made "theirs": the last one to change the property, or to delete the object.
    /// Nil when "theirs" is in no store yet, as in a conflict with a parent context.
    public var sequence: SequenceNumber? { origin.map { SequenceNumber($0.entry) } }

    /// When that entry happened.
    public var time: Date? {
        origin.map { Date(timeIntervalSince1970: Double($0.time) / 1_000_000) }
    }
}

/// Finds the entries that made "theirs" in conflicts.
///
/// The versions of an object are walked back until one has another value, but not past the base:
/// O(log *n*) page reads for each entry that changed the object since.
struct ConflictTracer {
    private let parts: StoreParts
    private let base: SequenceNumber
    private let head: SequenceNumber
    private var known: [SequenceNumber: MergeConflict.Origin] = [:]

    private var projection: Projection { parts.projection }

    /// Prepares to look at what entries after `base`, up to `head`, have done.
    init(_ parts: StoreParts, after base: SequenceNumber, upTo head: SequenceNumber = .latest) {
        self.parts = parts
        self.base = base
        self.head = head
    }

    /// Conflicts with the names of their properties and the entries that made "theirs".
    mutating func traced(
        _ conflicts: [MergeConflict], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [MergeConflict] {
        var traced = conflicts.named(in: projection.schema)
        for index in traced.indices {
            let conflict = traced[index]
            let entity = projection.schema.entity(conflict.object.entity)
            let property = conflict.property.flatMap { entity?.property($0) }
            guard let sequence = try entry(behind: conflict, property, in: transaction) else {
                continue
            }
            traced[index].origin = try origin(sequence, in: transaction)
        }
        return traced
    }

    private func entry(
        behind conflict: MergeConflict, _ property: SchemaProperty?,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        switch conflict.kind {
        case .value, .deletedByUs:
            // Where only the row has moved, its last change is the one that collides.
            let slot = conflict.base == conflict.theirs ? nil : property?.slot
            return try lastChange(of: slot, in: conflict.object, in: transaction)
        case .deletedByThem:
            return try projection.deletion(of: conflict.object, at: head, in: transaction)
        case .reference:
            return try lastChange(
                ofReference: conflict, property: property, in: transaction)
        }
    }

    /// The entry since the base that last changed the value in a slot; the one that last changed
    /// the object where there is no slot or none has changed it.
    private func lastChange(
        of slot: Int?, in object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        guard let row = try projection.row(of: object, at: head, in: transaction) else {
            return nil
        }
        guard let slot, slot < row.values.count else { return row.since }
        var sequence = row.since
        while sequence > base {
            let before = try projection.row(of: object, at: sequence.previous, in: transaction)
            guard let before, slot < before.values.count,
                before.values[slot] == row.values[slot]
            else { return sequence }
            sequence = before.since
        }
        return row.since
    }

    /// The entry that deleted what our side refers to, gave it to another object, or refers to what
    /// our side deletes.
    private func lastChange(
        ofReference conflict: MergeConflict, property: SchemaProperty?,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        guard let property else { return nil }
        if let target = conflict.theirs.reference {
            return try linked(conflict.object, property, to: target, in: transaction)
        }
        guard let target = conflict.ours.reference else { return nil }
        if let deletion = try projection.deletion(of: target, at: head, in: transaction) {
            return deletion
        }
        let holders = try projection.referrers(
            to: target, property.number, at: head, in: transaction)
        guard let holder = holders.first(where: { $0 != conflict.object }) else { return nil }
        return try linked(holder, property, to: target, in: transaction)
    }

    private func linked(
        _ owner: ObjectID, _ property: SchemaProperty, to target: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        let key = StoreKey.link(from: target, property.number, to: owner)
        return try transaction.get(projection.tables.referrers, key.span.bytes) { value in
            try Link(key.span.bytes, value).since
        }
    }

    private mutating func origin(
        _ sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> MergeConflict.Origin? {
        if let origin = known[sequence] { return origin }
        guard let heading = try parts.heading(of: sequence, in: transaction) else { return nil }
        let origin = MergeConflict.Origin(
            entry: sequence.rawValue, author: heading.author, time: heading.time)
        known[sequence] = origin
        return origin
    }
}

extension Store {
    /// Conflicts found outside of a save, with the entries that made "theirs".
    ///
    /// - Parameters:
    ///   - conflicts: The conflicts found while following the journal.
    ///   - base: The last entry that was known before.
    ///   - head: The last entry that is known now.
    /// - Returns: The same conflicts, in the same order.
    /// - Throws: ``StoreError`` when the store or one of the entries cannot be read.
    package func traced(
        _ conflicts: [MergeConflict], after base: SequenceNumber, upTo head: SequenceNumber
    ) throws -> [MergeConflict] {
        guard !conflicts.isEmpty else { return [] }
        return try reading { transaction in
            var origins = ConflictTracer(parts, after: base, upTo: head)
            return try origins.traced(conflicts, in: transaction).inStore(uuid)
        }
    }
}
