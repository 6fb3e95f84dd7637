internal import DaybookLMDB
internal import DaybookObjectModel

extension Snapshot {
    /// Gathers the matches of a query part by part. Where all objects of an entity are walked, and they are
    /// many, several parts are gathered at the same time.
    ///
    /// - Parameters:
    ///   - query: The query, whose order and limits are left to the caller.
    ///   - candidates: Objects that include all matches, in order; nil to walk all.
    ///   - begin: Makes a part with nothing in it, which may know of those that were joined.
    ///   - add: Adds a match, which comes behind those in the part, and says whether the part is to go on.
    ///     It is called on several threads.
    ///   - join: Takes the parts in the order of their matches, and says whether to go on.
    ///   - bytes: How much memory a part takes, where that may be much.
    /// - Throws: As ``forEachMatch(of:skipping:_:)``, and what the closures throw.
    /// - Complexity: As ``forEachMatch(of:skipping:_:)``.
    func gather<Part: Sendable>(
        _ query: Query, among candidates: Candidates?, begin: () -> Part,
        add:
            @Sendable (
                inout Part, ObjectID, RowLayout, RawSpan, borrowing Snapshot
            ) throws -> WalkStep,
        join: (Part) throws -> WalkStep, bytes: (Part) -> Int = { _ in 0 }
    ) throws {
        guard candidates == nil else {
            var part = begin()
            try forEachMatch(of: query, among: candidates) { object, row, bytes in
                try add(&part, object, row, bytes, self)
            }
            _ = try join(part)
            return
        }
        for number in query.entities.sorted() {
            guard let entity = schema.entity(number) else { continue }
            let program = try RowProgram(query.filter, for: entity, in: self)
            var step = WalkStep.proceed
            let tables = projection.tables
            // In the past an object may have versions only.
            try scanInParts(
                isLatest ? [tables.rows] : [tables.rows, tables.versions], of: number, begin: begin
            ) { part, own, lower, upper in
                _ = try own.projection.walk(
                    from: lower, to: upper, at: own.sequence, isLatest: own.isLatest,
                    in: own.transaction
                ) { object, row, bytes in
                    guard try own.accepts(object, row, bytes, program) else { return .proceed }
                    return try add(&part, object, row, bytes, own)
                }
            } join: { part in
                step = try join(part)
                return step
            } bytes: { part in
                bytes(part)
            }
            if step == .stop { return }
        }
    }

    /// Walks what tables have of an entity's objects part by part, several parts at the same time where that is
    /// much. All that a table has of one object is in the same part.
    func scanInParts<Part: Sendable>(
        _ tables: [Table], of entity: EntityNumber, begin: () -> Part,
        walk:
            @Sendable (
                inout Part, borrowing Snapshot, _ lower: [UInt8], _ upper: [UInt8]
            ) throws -> Void,
        join: (Part) throws -> WalkStep, bytes: (Part) -> Int = { _ in 0 }
    ) throws {
        let (sequence, projection, models, journal, past) = (
            sequence, projection, models, journal, past
        )
        try transaction.scanInParts(
            tables, from: StoreKey.entity(entity), to: StoreKey.end(of: entity),
            cutAfter: StoreKey.objectSize, begin: begin
        ) { part, transaction, lower, upper in
            let own = Snapshot(
                sequence: sequence, projection: projection, models: models, journal: journal,
                past: past, transaction: transaction.shared())
            try walk(&part, own, lower, upper)
        } join: { part in
            try join(part) == .proceed ? .proceed : .stop
        } bytes: { part in
            bytes(part)
        }
    }
}
