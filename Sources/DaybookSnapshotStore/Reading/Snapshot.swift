// The room of reading: past and present through one snapshot, and the history and blame of objects.
// It reads the projection and the journal and writes neither.

package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// The state of the store after one entry, valid during one call.
///
/// It reads in one LMDB read transaction, which ends with the call that lent it; so only
/// ``Store/read(at:_:)`` makes one, and it cannot be kept.
package struct Snapshot: ~Copyable {
    /// The last entry seen; `.latest` for all entries, so that reading the newest state, the most
    /// frequent case, need not look up the head.
    let sequence: SequenceNumber
    let projection: Projection
    let models: ModelsInForce
    let journal: Journal
    /// What is known of indexes as of the past.
    let past: PastIndexes
    let transaction: ReadTransaction
    /// Questions about the past that are made ready once; nil where each is made ready for itself.
    var questions: PastQuestions? = nil

    /// Whether this is the newest state.
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
            try projection.withFitted(object, layout, bytes) { bytes in
                EncodedRow(checked: bytes.array, 0..<bytes.byteCount)
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

    /// Passes every object of the entities to `body`, by entity and number.
    ///
    /// - Complexity: O(*n*) page reads; in the past, also O(*v*), *v* the number of versions of the
    ///   entities' objects.
    package func objects(
        of family: [EntityNumber], _ body: (ObjectID) throws -> WalkStep
    ) throws {
        try projection.objects(
            of: family, at: sequence, isLatest: isLatest, in: transaction, body)
    }

    /// Passes every object of one entity whose number is in a range to `body`, by number.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of objects passed; in the past, of their versions.
    package func objects(
        of entity: EntityNumber, numbers: ClosedRange<UInt64>,
        _ body: (ObjectID) throws -> WalkStep
    ) throws {
        let first = StoreKey.object(ObjectID(entity: entity, number: numbers.lowerBound))
        let last = StoreKey.object(ObjectID(entity: entity, number: numbers.upperBound))
        _ = try projection.walk(
            from: first, to: StoreKey.end(of: last) ?? StoreKey.end(of: entity), at: sequence,
            isLatest: isLatest, in: transaction
        ) { object, _, _ in try body(object) }
    }

    /// The entry that deleted an object; nil when the object exists or never did.
    package func deletion(of object: ObjectID) throws -> SequenceNumber? {
        try projection.deletion(of: object, at: sequence, in: transaction)
    }
}

extension Store {
    /// Runs `body` on the state of the store after an entry.
    ///
    /// - Parameters:
    ///   - sequence: The entry; nil for the last one.
    ///   - body: Reads the snapshot, which is valid only inside; it must not save to this store.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` for a number after the head; with
    ///   ``StoreError/Code/generation`` when the entry that set the program's model was cut off;
    ///   what `body` throws.
    package func read<R>(
        at sequence: SequenceNumber? = nil, _ body: (borrowing Snapshot) throws -> R
    ) throws -> R {
        try reading { transaction in
            try body(
                try snapshot(at: sequence, in: transaction, readBy: transaction.shared()))
        }
    }

    /// Runs `body` as ``read(at:_:)`` does, and passes it the number of the last entry seen, so
    /// that a later call can read the same state.
    package func readWithSequence<R>(
        at sequence: SequenceNumber? = nil,
        _ body: (borrowing Snapshot, SequenceNumber) throws -> R
    ) throws -> R {
        try reading { transaction in
            let last = try sequence ?? StateFindings.head(of: parts.journal, in: transaction)
            return try body(
                try snapshot(at: last, in: transaction, readBy: transaction.shared()), last)
        }
    }

    /// The state after an entry, as the program's model shows it.
    ///
    /// - Parameters:
    ///   - sequence: The entry; nil for the last one.
    ///   - transaction: The state of the file.
    ///   - reader: The same one, perhaps with a meter, for what is read of the snapshot.
    /// - Returns: The snapshot.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with ``StoreError/Code/generation`` when the
    ///   entry that set the program's model was cut off.
    func snapshot(
        at sequence: SequenceNumber?, in transaction: borrowing ReadTransaction,
        readBy reader: consuming ReadTransaction
    ) throws -> Snapshot {
        try models.checkView(in: transaction)
        return Snapshot(
            sequence: try resolve(sequence, in: transaction), projection: parts.projection,
            models: models, journal: parts.journal, past: pastIndexes, transaction: reader)
    }

    /// The row of an object after an entry; nil when there was no such object.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func row(of object: ObjectID, at sequence: SequenceNumber?) throws -> Row? {
        try packedRow(of: object, at: sequence).map { Row($0) }
    }

    /// The row of an object after an entry, as the store has it; nil when there was no such object.
    ///
    /// This is the most frequent read, so the newest state is read in the fewest steps.
    ///
    /// - Complexity: O(log *n*) page reads, at any sequence number.
    package func packedRow(
        of object: ObjectID, at sequence: SequenceNumber?
    ) throws -> EncodedRow? {
        guard sequence == nil else { return try read(at: sequence) { try $0.packedRow(object) } }
        return try wrapping {
            let record = try openEnvironment().copy(
                parts.tables.rows, under: ObjectKey(object), after: { try models.checkView(in: $0) }
            )
            guard let record else { return nil }
            return try parts.projection.encodedRow(of: object, record)
        }
    }

    /// The sequence number to read at for an entry: `.latest` at the last one, where no later
    /// version needs to be skipped.
    func resolve(
        _ sequence: SequenceNumber?, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        guard let sequence else { return .latest }
        let head = try StateFindings.head(of: parts.journal, in: transaction)
        guard sequence <= head else { throw StoreError.noSuchEntry(sequence, head: head) }
        return sequence == head ? .latest : sequence
    }
}
