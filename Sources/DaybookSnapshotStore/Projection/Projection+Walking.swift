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
            let step = try walk(entity, at: sequence, isLatest: isLatest, in: transaction) {
                object, _, _ in try body(object)
            }
            if step == .stop { return }
        }
    }

    /// Walks the objects of one entity as of `sequence`, in order, each with its row then.
    func walk(
        _ entity: EntityNumber, at sequence: SequenceNumber, isLatest: Bool,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        try walk(
            from: StoreKey.entity(entity), to: StoreKey.end(of: entity), at: sequence,
            isLatest: isLatest, in: transaction, body)
    }

    /// Walks the objects of one entity between two keys as of `sequence`, in order, each with its row then.
    func walk(
        from lower: [UInt8], to upper: [UInt8], at sequence: SequenceNumber, isLatest: Bool,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        isLatest
            ? try walkRows(from: lower, to: upper, in: transaction, body)
            : try walkStretch(from: lower, to: upper, at: sequence, in: transaction, body)
    }

    func walkRows(
        of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        try walkRows(
            from: StoreKey.entity(entity), to: StoreKey.end(of: entity), in: transaction, body)
    }

    /// Walks the rows between two keys.
    func walkRows(
        from lower: [UInt8], to upper: [UInt8], order: ScanOrder = .ascending,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var step = WalkStep.proceed
        try transaction.scan(
            tables.rows, from: lower.span.bytes, to: upper.span.bytes, order: order
        ) { key, value in
            step = try pass(key, value, to: body)
            return step == .proceed ? .proceed : .stop
        }
        return step
    }

    /// Walks certain objects as of `sequence`, each with its row then; those that did not exist are passed
    /// over.
    ///
    /// - Complexity: O(log *n*) page reads for each object, at most; O(1) for one that follows the one
    ///   before.
    func walkRows(
        of objects: ArraySlice<ObjectID>, at sequence: SequenceNumber,
        in transaction: borrowing ReadTransaction,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var step = WalkStep.proceed
        let start = objects.startIndex
        // While bytes of the look-up are in hand, an earlier row may be read beside it.
        let other = transaction.shared()
        try transaction.lookUp(tables.rows, count: objects.count) {
            ObjectKey(objects[start + $0])
        } _: { place, bytes in
            let object = objects[start + place]
            if let bytes {
                let layout = try decoding(object) { () throws(DecodingFailure) in
                    try RowLayout(bytes)
                }
                if layout.since <= sequence {
                    step = try body(object, layout, bytes)
                    return step == .proceed ? .proceed : .stop
                }
            }
            guard sequence < .latest else { return .proceed }
            let earlier = try withReplacedRow(of: object, since: sequence, in: other) {
                bytes, layout in try body(object, layout, bytes)
            }
            step = earlier ?? .proceed
            return step == .proceed ? .proceed : .stop
        }
        return step
    }

    /// Walks the objects of one entity from the one behind as many as are skipped, which are not read.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - skipped: How many to skip; how many there were is subtracted from it.
    ///   - transaction: The state to read.
    ///   - body: Takes an object, its row and the layout of that.
    /// - Returns: What `body` has returned last.
    /// - Throws: What `body` throws; ``StoreError`` when a row cannot be read.
    func walkRows(
        of entity: EntityNumber, skipping skipped: inout Int,
        in transaction: borrowing ReadTransaction,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        let lower = StoreKey.entity(entity)
        let upper = StoreKey.end(of: entity)
        var step = WalkStep.proceed
        try transaction.scan(
            tables.rows, from: lower.span.bytes, to: upper.span.bytes, skipping: &skipped
        ) { key, value in
            step = try pass(key, value, to: body)
            return step == .proceed ? .proceed : .stop
        }
        return step
    }

    /// The number of objects of one entity, up to a limit. None of them is read.
    func countRows(
        of entity: EntityNumber, atMost limit: Int, in transaction: borrowing ReadTransaction
    ) throws -> Int {
        let lower = StoreKey.entity(entity)
        let upper = StoreKey.end(of: entity)
        return try transaction.count(
            tables.rows, from: lower.span.bytes, to: upper.span.bytes, atMost: limit)
    }

    @inline(__always)
    private func pass(
        _ key: RawSpan, _ value: RawSpan, to body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var reader = KeyReader()
        let object = try reader.object(key)
        let layout = try decoding(object) { () throws(DecodingFailure) in
            try RowLayout(value)
        }
        return try body(object, layout, value)
    }

    /// Walks the past between two keys of one entity, stretch by stretch, so that neither what has changed
    /// behind the last object that is wanted is read, nor all of it kept.
    func walkPast(
        from lower: [UInt8], to upper: [UInt8], at sequence: SequenceNumber,
        in transaction: borrowing ReadTransaction,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var lower = lower
        var count = 64
        while lower.span.bytes.precedes(upper.span.bytes) {
            var end = upper
            for table in [tables.rows, tables.versions] {
                var skipped = count
                let bound = end
                try transaction.scan(
                    table, from: lower.span.bytes, to: bound.span.bytes, skipping: &skipped
                ) { key, _ in
                    end = key.extracting(first: StoreKey.objectSize).array
                    return .stop
                }
            }
            // So many versions may be those of one object.
            if !lower.span.bytes.precedes(end.span.bytes) {
                end = StoreKey.end(of: end) ?? upper
            }
            let step = try walkStretch(
                from: lower, to: end, at: sequence, in: transaction, body)
            if step == .stop { return .stop }
            lower = end
            count = min(2 * count, 4_096)
        }
        return .proceed
    }

    /// Walks the past between two keys: objects that were changed after `sequence` have a version, the others a row.
    private func walkStretch(
        from lower: [UInt8], to upper: [UInt8], at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var changed = try changedObjects(
            from: lower, to: upper, after: sequence, in: transaction)[...]
        var step = WalkStep.proceed
        func passOn(before object: ObjectID?) throws {
            while step == .proceed, let next = changed.first, object.map({ next < $0 }) ?? true {
                changed.removeFirst()
                let found = try withRow(of: next, at: sequence, in: transaction) { bytes, layout in
                    try body(next, layout, bytes)
                }
                step = found ?? .proceed
            }
        }
        _ = try walkRows(from: lower, to: upper, in: transaction) { object, layout, bytes in
            try passOn(before: object)
            if step == .proceed, layout.since <= sequence {
                step = try body(object, layout, bytes)
            }
            return step
        }
        if step == .proceed { try passOn(before: nil) }
        return step
    }

    /// The objects between two keys that were there at `sequence` and have been changed or deleted since, in
    /// order: those whose first later version is as old.
    private func changedObjects(
        from lower: [UInt8], to upper: [UInt8], after sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        var changed: [ObjectID] = []
        _ = try forEachReplaced(
            from: lower, to: upper, since: sequence, in: transaction
        ) { object, _, _ in
            changed.append(object)
            return .proceed
        }
        return changed
    }

    /// Passes on the objects between two keys that were there at `sequence` and have been changed or deleted since, in
    /// order, each with its row then.
    ///
    /// - Complexity: O(*v*) page reads, *v* the number of versions between the keys.
    func forEachReplaced(
        from lower: [UInt8], to upper: [UInt8], since sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        var step = WalkStep.proceed
        var seen: ObjectID?
        try transaction.scan(
            tables.versions, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, value in
            var reader = KeyReader()
            let object = try reader.object(key)
            guard try reader.sequence(key) > sequence, seen != object else { return .proceed }
            seen = object
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(value)
            }
            if layout.since <= sequence { step = try body(object, layout, value) }
            return step == .proceed ? .proceed : .stop
        }
        return step
    }

    /// Whether objects of the entities have so many versions. None of these is read.
    func hasVersions(
        _ count: Int, of entities: [EntityNumber], in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        var missing = count
        for entity in entities where missing > 0 {
            let lower = StoreKey.entity(entity)
            let upper = StoreKey.end(of: entity)
            missing -= try transaction.count(
                tables.versions, from: lower.span.bytes, to: upper.span.bytes, atMost: missing)
        }
        return missing <= 0
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
