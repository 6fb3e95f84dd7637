internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

// The index of changes: which entries have changed a property, and of which objects.

extension Snapshot {
    /// About how many changes the index of changes has that a condition on the past may be about; nil where it does not
    /// serve.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimatedCount(ofIndexed change: FilterChange) throws -> Int? {
        guard try models.hasIndexedChanges(of: change.property, in: transaction) else { return nil }
        guard let (lower, upper) = try indexBounds(of: change) else { return 0 }
        return try transaction.estimatedCount(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes)
    }

    /// The objects in which entries have changed a property, of one author where the condition names one: each once
    /// and in order.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of changes between the two moments; for an author also
    ///   O(log *n*) for each of their entries.
    func indexedChanges(of change: FilterChange) throws -> [ObjectID] {
        guard let (lower, upper) = try indexBounds(of: change) else { return [] }
        var objects: Set<ObjectID> = []
        var entry: (sequence: SequenceNumber, isMeant: Bool)?
        try transaction.scan(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, _ in
            var reader = KeyReader(at: StoreKey.changesNumberSize)
            let sequence = try reader.sequence(key)
            // The changes of one entry lie side by side.
            if entry?.sequence != sequence {
                entry = (sequence, try isMeant(sequence, by: change))
            }
            if entry?.isMeant == true { objects.insert(try reader.object(key)) }
            return .proceed
        }
        return objects.sorted()
    }

    private func isMeant(_ sequence: SequenceNumber, by change: FilterChange) throws -> Bool {
        guard case .named(let author) = change.author else { return true }
        return try heading(of: sequence).author == author
    }

    /// Where the index has the changes of the entries that a condition is about; nil where there are none of these.
    private func indexBounds(
        of change: FilterChange
    ) throws -> (lower: [UInt8], upper: [UInt8])? {
        let (first, last) = try entries(since: change.since, until: change.until)
        guard first <= last else { return nil }
        let property = change.property.number
        return (
            StoreKey.changes(of: property, from: first),
            StoreKey.changes(of: property, from: last.next)
        )
    }
}
