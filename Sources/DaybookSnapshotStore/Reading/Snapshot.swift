// The room of reading: past and present through one snapshot, and the history and blame of objects. It
// reads the projection and the journal and writes to neither.

package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// What the store looked like after one entry, for the length of one call.
///
/// It stands on one LMDB read transaction, which ends with the call that lent it; so it is made by
/// ``Store/read(at:_:)`` only and cannot be kept.
package struct Snapshot: ~Copyable {
    /// The last entry that is seen; `.latest` when that is all there are, so that reading the
    /// newest state, the most frequent case, need not look for the head.
    let sequence: SequenceNumber
    let projection: Projection
    let transaction: ReadTransaction

    /// Whether this is the newest state, which indexes are kept for.
    var isLatest: Bool { sequence == .latest }

    /// The model.
    package var schema: Schema { projection.schema }

    /// An object's row; nil when there was no such object.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func row(_ object: ObjectID) throws -> Row? {
        try packedRow(object).map { Row($0) }
    }

    /// An object's row as the store has it; nil when there was no such object.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func packedRow(_ object: ObjectID) throws -> EncodedRow? {
        try projection.withRow(of: object, at: sequence, in: transaction) { bytes, layout in
            try projection.decoding(object) { () throws(DecodingFailure) in
                try EncodedRow(bytes, layout)
            }
        }
    }

    /// Whether there was such an object.
    package func exists(_ object: ObjectID) throws -> Bool {
        try projection.withRow(of: object, at: sequence, in: transaction) { _, _ in true } ?? false
    }

    /// One value, without decoding the others; null when there was no such object.
    package func value(of property: SchemaProperty, in object: ObjectID) throws -> Value {
        try projection.value(of: property, in: object, at: sequence, in: transaction)
    }

    /// The objects at the other end of a relationship of any kind, sorted by (order, object).
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of connections it ever had.
    package func members(of property: SchemaProperty, in object: ObjectID) throws -> [Member] {
        try projection.members(of: property, in: object, at: sequence, in: transaction)
    }

    /// An object's values and members; nil when there was no such object.
    package func state(of object: ObjectID) throws -> ObjectState? {
        try projection.state(of: object, at: sequence, in: transaction)
    }

    /// Hands every object of the entities to `body`, in the order of entity and number.
    ///
    /// - Complexity: O(*n*) page reads; in the past, also O(*v*), *v* the number of versions of the
    ///   entities' objects.
    package func objects(
        of family: [EntityNumber], _ body: (ObjectID) throws -> WalkStep
    ) throws {
        try projection.objects(
            of: family, at: sequence, isLatest: isLatest, in: transaction, body)
    }

    /// The entry that deleted an object; nil when the object is there or never was.
    package func deletion(of object: ObjectID) throws -> SequenceNumber? {
        try projection.deletion(of: object, at: sequence, in: transaction)
    }
}

extension Store {
    /// Runs `body` on what the store looked like after an entry.
    ///
    /// - Parameters:
    ///   - sequence: The entry; nil for the last one.
    ///   - body: Reads. Valid only inside is what it is lent; it must not save to this store.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` for a number after the head;
    ///   what `body` throws.
    package func read<R>(
        at sequence: SequenceNumber? = nil, _ body: (borrowing Snapshot) throws -> R
    ) throws -> R {
        try reading { transaction in
            try body(
                Snapshot(
                    sequence: try resolve(sequence, in: transaction), projection: parts.projection,
                    transaction: transaction.shared()))
        }
    }

    /// Runs `body` as ``read(at:_:)`` does, and tells it which entry is the last one that is seen, so that
    /// more can be read of the same state in a later call.
    package func readTellingPlace<R>(
        at sequence: SequenceNumber? = nil,
        _ body: (borrowing Snapshot, SequenceNumber) throws -> R
    ) throws -> R {
        try reading { transaction in
            let place = try sequence ?? parts.journal.head(in: transaction)
            return try body(
                Snapshot(
                    sequence: try resolve(place, in: transaction), projection: parts.projection,
                    transaction: transaction.shared()), place)
        }
    }

    /// The row of an object after an entry; nil when there was no such object.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func row(of object: ObjectID, at sequence: SequenceNumber?) throws -> Row? {
        try packedRow(of: object, at: sequence).map { Row($0) }
    }

    /// The row of an object after an entry, as the store has it; nil when there was no such object.
    ///
    /// The most frequent read of all, so the newest state is read in the fewest steps.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func packedRow(
        of object: ObjectID, at sequence: SequenceNumber?
    ) throws -> EncodedRow? {
        guard sequence == nil else { return try read(at: sequence) { try $0.packedRow(object) } }
        return try wrapping {
            let record = try openEnvironment().copy(parts.tables.rows, under: ObjectKey(object))
            guard let record else { return nil }
            do throws(DecodingFailure) {
                return try EncodedRow(record)
            } catch {
                throw parts.projection.unreadable(object, error)
            }
        }
    }

    /// Where to read for an entry; at the last one there is nothing later to look out for.
    func resolve(
        _ sequence: SequenceNumber?, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        guard let sequence else { return .latest }
        let head = try parts.journal.head(in: transaction)
        guard sequence <= head else { throw StoreError.noSuchEntry(sequence, head: head) }
        return sequence == head ? .latest : sequence
    }
}
