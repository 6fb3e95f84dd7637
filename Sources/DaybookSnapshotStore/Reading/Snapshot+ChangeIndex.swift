internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

// The index of changes: which entries have changed a property, and of which objects. Where the table also has entries
// by author, an author's changes are found by those of their entries.

extension Snapshot {
    /// How the index of changes serves a condition on the past; nil where it does not.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimate(ofIndexed change: FilterChange) throws -> IndexedChangesEstimate? {
        guard try models.hasIndexedChanges(of: change.property, in: transaction) else { return nil }
        let (first, last) = try entries(since: change.since, until: change.until)
        guard first <= last else { return IndexedChangesEstimate(0) }
        let all = try estimatedCount(of: changes(of: change.property, in: first...last))
        guard let place = try placeOfAuthor(of: change) else { return IndexedChangesEstimate(all) }
        let entries = try estimatedCount(of: StoreKey.bounds(at: place, in: first...last))
        let share = min(1, Double(entries) / Double(last.rawValue - first.rawValue + 1))
        return IndexedChangesEstimate(
            all,
            of: IndexedChangesEstimate.Author(
                entries: entries, changes: Int((Double(all) * share).rounded(.up))))
    }

    /// The objects in which entries have changed a property, of one author where the condition names one: each once
    /// and in order.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of changes between the two moments. For an author also
    ///   O(log *n*) for each of their entries; where the table has entries by author, *k* is the number of their changes.
    func indexedChanges(
        of change: FilterChange, byAuthor isByAuthor: Bool
    ) throws -> [ObjectID] {
        let (first, last) = try entries(since: change.since, until: change.until)
        guard first <= last else { return [] }
        var objects: Set<ObjectID> = []
        if isByAuthor, let place = try placeOfAuthor(of: change) {
            for sequence in try entries(at: place, in: first...last) {
                try forEachChange(of: change.property, in: sequence...sequence) { _, object in
                    objects.insert(object)
                }
            }
            return objects.sorted()
        }
        var entry: (sequence: SequenceNumber, isMeant: Bool)?
        try forEachChange(of: change.property, in: first...last) { sequence, object in
            // The changes of one entry lie side by side.
            if entry?.sequence != sequence {
                entry = (sequence, try isMeant(sequence, by: change))
            }
            if entry?.isMeant == true { objects.insert(object) }
        }
        return objects.sorted()
    }

    private func isMeant(_ sequence: SequenceNumber, by change: FilterChange) throws -> Bool {
        guard case .named(let author) = change.author else { return true }
        return try heading(of: sequence).author == author
    }

    // MARK: - Changes

    private func forEachChange(
        of property: SchemaProperty, in range: ClosedRange<SequenceNumber>,
        _ body: (SequenceNumber, ObjectID) throws -> Void
    ) throws {
        let (lower, upper) = changes(of: property, in: range)
        try transaction.scan(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, _ in
            var reader = KeyReader(at: StoreKey.changesNumberSize)
            try body(try reader.sequence(key), try reader.object(key))
            return .proceed
        }
    }

    /// Where the index has the changes of some entries.
    private func changes(
        of property: SchemaProperty, in range: ClosedRange<SequenceNumber>
    ) -> (lower: [UInt8], upper: [UInt8]) {
        (
            StoreKey.changes(of: property.number, from: range.lowerBound),
            StoreKey.changes(of: property.number, from: range.upperBound.next)
        )
    }

    // MARK: - Entries by author

    /// Where the table has the entries of the author whom a condition names; nil where it does not have them, or may
    /// have the name in several spellings.
    private func placeOfAuthor(of change: FilterChange) throws -> [UInt8]? {
        guard case .named(let author?) = change.author, author.isSettled,
            try models.inForce(in: transaction).parts.projection.indexes(.author)
        else { return nil }
        return StoreKey.entries(by: .author, author)
    }

    private func entries(
        at place: [UInt8], in range: ClosedRange<SequenceNumber>
    ) throws -> [SequenceNumber] {
        let (lower, upper) = StoreKey.bounds(at: place, in: range)
        var found: [SequenceNumber] = []
        try transaction.scan(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, _ in
            var reader = KeyReader(at: place.count)
            found.append(try reader.sequence(key))
            return .proceed
        }
        return found
    }

    private func estimatedCount(of bounds: (lower: [UInt8], upper: [UInt8])) throws -> Int {
        try transaction.estimatedCount(
            projection.tables.index, from: bounds.lower.span.bytes, to: bounds.upper.span.bytes)
    }
}
