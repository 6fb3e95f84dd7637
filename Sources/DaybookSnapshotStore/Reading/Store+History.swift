package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// What one entry did to one object.
package struct ObjectVersion: Sendable, Hashable {
    /// The entry.
    package let sequence: SequenceNumber
    /// The object before the entry; nil when it did not exist.
    package let before: ObjectState?
    /// The object after the entry; nil when it was deleted.
    package let after: ObjectState?
}

extension Store {
    /// What every entry that touched an object did to it, oldest first; empty when there never was
    /// such an object.
    ///
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of these entries.
    package func history(of object: ObjectID) throws -> [ObjectVersion] {
        try reading { transaction in
            let projection = parts.projection
            return try projection.touches(of: object, in: transaction).map { sequence in
                ObjectVersion(
                    sequence: sequence,
                    before: try projection.state(
                        of: object, at: sequence.previous, in: transaction),
                    after: try projection.state(of: object, at: sequence, in: transaction))
            }
        }
    }
}

extension Store {
    /// The entries that inserted, updated or deleted an object, in order; empty when there never was
    /// such an object.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of these entries.
    package func entries(touching object: ObjectID) throws -> [SequenceNumber] {
        try reading { try parts.projection.touches(of: object, in: $0) }
    }
}

extension Projection {
    /// The entries that inserted, updated or deleted an object, in order.
    ///
    /// Updates and deletes left a version; inserts show in the `since` of the first state.
    func touches(
        of object: ObjectID, after first: SequenceNumber = .zero,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [SequenceNumber] {
        var found: Set<SequenceNumber> = []
        let lower = StoreKey.version(object, first)
        let upper = StoreKey.version(object, .latest)
        try transaction.scan(
            tables.versions, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, value in
            var reader = KeyReader(at: StoreKey.objectSize)
            found.insert(try reader.sequence(key))
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(value)
            }
            found.insert(layout.since)
            return .proceed
        }
        let key = StoreKey.object(object)
        let since = try transaction.get(tables.rows, key.span.bytes) { value in
            try decoding(object) { () throws(DecodingFailure) in try RowLayout(value).since }
        }
        if let since { found.insert(since) }
        return found.filter { $0 > first }.sorted()
    }
}
