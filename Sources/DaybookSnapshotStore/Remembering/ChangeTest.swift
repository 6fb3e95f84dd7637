package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
internal import Synchronization

/// What an entry did to one property of an object that was there before and after it.
package struct PastChange: Sendable, Hashable {
    /// The entry.
    package let sequence: SequenceNumber
    /// The property.
    package let property: PropertyNumber
    /// The value before; null for a relationship without a slot.
    package let old: Value
    /// The value after; null for a relationship without a slot.
    package let new: Value
    /// The objects that a relationship no longer leads to, in its order.
    package let removed: [ObjectID]
    /// The objects that it newly leads to, in its order. One that is also in ``removed`` has moved.
    package let added: [ObjectID]
}

/// A question about changes, made ready for the objects of one entity.
struct ChangeTest: Sendable {
    private let change: FilterChange
    private let property: SchemaProperty
    private let first: SequenceNumber
    private let last: SequenceNumber
    private let authors = EntryAuthors()

    /// - Returns: nil when the entity does not have the property.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` or ``StoreError/Code/noSuchTag``.
    init?(
        _ change: FilterChange, of entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws {
        let range = try snapshot.entries(since: change.since, until: change.until)
        guard let property = entity.property(change.property.number) else { return nil }
        self.change = change
        self.property = property
        (first, last) = range
    }

    /// Passes on the changes that meet the question, oldest first.
    func forEachChange(
        of object: ObjectID, in snapshot: borrowing Snapshot,
        _ body: (PastChange) throws -> WalkStep
    ) throws {
        guard first <= last else { return }
        guard let slot = property.slot else {
            return try forEachMembersChange(of: object, snapshot, body)
        }
        // One state at a time is in hand, however many there are.
        var before: (value: Value, end: SequenceNumber)?
        try snapshot.projection.forEachState(
            of: object, from: first, through: last, in: snapshot.transaction
        ) { row, bytes, replacement in
            let value = try snapshot.projection.value(slot, of: object, row, bytes)
            let old = before
            before = replacement.map { (value, $0) }
            // Where one state does not end as the next begins, the object was away.
            guard let old, old.end == row.since, row.since >= first,
                change.isMet(from: old.value, to: value), try isByAuthor(row.since, snapshot)
            else { return .proceed }
            return try body(
                PastChange(row.since, property.number, from: old.value, to: value))
        }
    }

    /// The same for a relationship that is kept as connections.
    private func forEachMembersChange(
        of object: ObjectID, _ snapshot: borrowing Snapshot,
        _ body: (PastChange) throws -> WalkStep
    ) throws {
        var removed: [SequenceNumber: [ObjectID: Double]] = [:]
        var added: [SequenceNumber: [ObjectID: Double]] = [:]
        try snapshot.projection.forEachLink(
            of: property, from: object, in: snapshot.transaction
        ) { link in
            if link.since >= first, link.since <= last {
                added[link.since, default: [:]][link.other] = link.order
            }
            if let removal = link.removal, removal >= first, removal <= last {
                removed[removal, default: [:]][link.other] = link.order
            }
        }
        for sequence in Set(removed.keys).union(added.keys).sorted() {
            let (lost, gained) = (removed[sequence] ?? [:], added[sequence] ?? [:])
            guard lost != gained, try isByAuthor(sequence, snapshot) else { continue }
            let before = snapshot.then(at: sequence.previous)
            let after = snapshot.then(at: sequence)
            guard try before.exists(object), try after.exists(object) else { continue }
            if Set(lost.keys) == Set(gained.keys) {
                // Members may have got other places without another order.
                let old: [ObjectID] = try before.members(of: property, in: object)
                guard try old != after.members(of: property, in: object) else { continue }
            }
            let step = try body(
                PastChange(
                    sequence: sequence, property: property.number, old: .null, new: .null,
                    removed: lost.without(gained), added: gained.without(lost)))
            if step == .stop { return }
        }
    }

    private func isByAuthor(
        _ sequence: SequenceNumber, _ snapshot: borrowing Snapshot
    ) throws -> Bool {
        guard case .named(let author) = change.author else { return true }
        return try authors.author(of: sequence, in: snapshot) == author
    }
}

extension [ObjectID: Double] {
    /// The members that others do not have in the same place, in order.
    fileprivate func without(_ others: [ObjectID: Double]) -> [ObjectID] {
        filter { others[$0.key] != $0.value }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
            .map(\.key)
    }
}

/// The authors of entries that have been looked up, each once.
private final class EntryAuthors: Sendable {
    private let known = Mutex<[SequenceNumber: String?]>([:])

    /// So many are kept at a time.
    private static let countMaximum = 1 << 16

    func author(
        of sequence: SequenceNumber, in snapshot: borrowing Snapshot
    ) throws -> String? {
        if let author = known.withLock({ $0[sequence] }) { return author }
        let author = try snapshot.heading(of: sequence).author
        known.withLock { known in
            if known.count >= Self.countMaximum { known.removeAll() }
            known.updateValue(author, forKey: sequence)
        }
        return author
    }
}

extension Snapshot {
    /// Passes on the changes of some objects that meet any of some questions, each once with the heading of its
    /// entry; those of an object come together, oldest first.
    ///
    /// - Parameters:
    ///   - questions: The questions.
    ///   - objects: The objects, each once.
    ///   - body: Takes the object, the change, and the heading of its entry.
    /// - Throws: As ``holds(_:of:)``, and what `body` throws.
    /// - Complexity: O(log *n* + *k*) page reads for each question and object, *k* the number of the object's
    ///   versions or connections; where an index has the changes, and the objects are not few, O(log *n* + *c*) for each
    ///   question, *c* the number of changes that the index has. Headings and changes that were read stay in memory
    ///   until it returns.
    package func forEachChange(
        meeting questions: [FilterChange], of objects: [ObjectID],
        _ body: (ObjectID, PastChange, EntryHeading) throws -> Void
    ) throws {
        let indexed = try questions.map { try indexedFindings($0, of: objects) }
        var headings: [SequenceNumber: EntryHeading] = [:]
        func tell(_ object: ObjectID, _ change: PastChange) throws {
            if let known = headings[change.sequence] { return try body(object, change, known) }
            let heading = try heading(of: change.sequence)
            headings[change.sequence] = heading
            try body(object, change, heading)
        }
        var made: [EntityNumber: [ChangeTest?]] = [:]
        // Objects of one entity mostly follow each other.
        var current: (entity: EntityNumber, tests: [ChangeTest?])?
        for (place, object) in objects.enumerated() {
            if current?.entity != object.entity {
                let tests = try made[object.entity] ?? tests(questions, of: object.entity)
                made[object.entity] = tests
                current = (object.entity, tests)
            }
            guard let tests = current?.tests else { continue }
            var found: Set<PastChange> = []
            for (question, test) in tests.enumerated() {
                func take(_ change: PastChange) throws {
                    if questions.count == 1 { return try tell(object, change) }
                    found.insert(change)
                }
                guard let test else { continue }
                if let findings = indexed[question], findings.isComplete(at: place) {
                    try findings.forEachChange(at: place, take)
                    continue
                }
                try test.forEachChange(of: object, in: self) { change in
                    try take(change)
                    return .proceed
                }
            }
            for change in found.sorted(by: PastChange.precedes) { try tell(object, change) }
        }
    }

    /// Questions made ready for the objects of an entity; nil for those about what it does not have.
    private func tests(
        _ questions: [FilterChange], of number: EntityNumber
    ) throws -> [ChangeTest?] {
        guard let entity = schema.entity(number) else { return [] }
        return try questions.map { try ChangeTest($0, of: entity, in: self) }
    }
}

extension PastChange {
    /// A change of a property that has a slot.
    init(
        _ sequence: SequenceNumber, _ property: PropertyNumber, from old: Value, to new: Value
    ) {
        self.init(
            sequence: sequence, property: property, old: old, new: new,
            removed: old.reference.map { [$0] } ?? [], added: new.reference.map { [$0] } ?? [])
    }

    fileprivate static func precedes(_ left: PastChange, _ right: PastChange) -> Bool {
        (left.sequence, left.property) < (right.sequence, right.property)
    }
}
