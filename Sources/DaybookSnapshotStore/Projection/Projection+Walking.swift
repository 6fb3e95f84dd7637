internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Projection {
    /// Walks all objects of the entities as of `sequence`.
    func objects(
        of family: [EntityNumber], at sequence: SequenceNumber, isLatest: Bool,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID) throws -> WalkStep
    ) throws {
        for entity in family.sorted() {
            let step =
                isLatest
                ? try walkRows(of: entity, in: transaction) { object, _, _ in try body(object) }
                : try walkPast(of: entity, at: sequence, in: transaction, body)
            if step == .stop { return }
        }
    }

    func walkRows(
        of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        let lower = StoreKey.entity(entity)
        let upper = StoreKey.end(of: entity)
        var step = WalkStep.proceed
        try transaction.scan(
            tables.rows, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, value in
            var reader = KeyReader()
            let object = try reader.object(key)
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(value)
            }
            step = try body(object, layout, value)
            return step == .proceed ? .proceed : .stop
        }
        return step
    }

    /// Walks the past: the first later version shows an object changed after `sequence`, the row
    /// any other.
    private func walkPast(
        of entity: EntityNumber, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID) throws -> WalkStep
    ) throws -> WalkStep {
        var isThere = try laterVersions(of: entity, than: sequence, in: transaction)
        _ = try walkRows(of: entity, in: transaction) { object, layout, _ in
            if isThere[object] == nil, layout.since <= sequence { isThere[object] = true }
            return .proceed
        }
        for object in isThere.filter(\.value).keys.sorted() {
            if try body(object) == .stop { return .stop }
        }
        return .proceed
    }

    private func laterVersions(
        of entity: EntityNumber, than sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID: Bool] {
        let lower = StoreKey.entity(entity)
        let upper = StoreKey.end(of: entity)
        var isThere: [ObjectID: Bool] = [:]
        try transaction.scan(
            tables.versions, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, value in
            var reader = KeyReader()
            let object = try reader.object(key)
            guard try reader.sequence(key) > sequence, isThere[object] == nil else {
                return .proceed
            }
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(value)
            }
            isThere[object] = layout.since <= sequence
            return .proceed
        }
        return isThere
    }

    /// The entry, up to `sequence`, that deleted an object that no longer exists.
    func deletion(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        let isThere = try withRow(of: object, at: sequence, in: transaction) { _, _ in true }
        if isThere == true { return nil }
        let prefix = StoreKey.object(object)
        // No entry has the number `.latest`, so stopping before it leaves nothing out.
        let end = StoreKey.version(object, sequence == .latest ? .latest : sequence.next)
        let last: SequenceNumber?? = try transaction.seek(
            tables.versions, before: end.span.bytes
        ) { key, _ -> SequenceNumber? in
            guard key.starts(with: prefix) else { return nil }
            var reader = KeyReader(at: StoreKey.objectSize)
            return try reader.sequence(key)
        }
        return last.flatMap(\.self)
    }
}
