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
        _ query: Query, among candidates: [ObjectID]?, begin: () -> Part,
        add:
            @Sendable (
                inout Part, ObjectID, RowLayout, RawSpan, borrowing Snapshot
            ) throws -> WalkStep,
        join: (Part) throws -> WalkStep, bytes: (Part) -> Int = { _ in 0 }
    ) throws {
        guard isLatest, candidates == nil else {
            var part = begin()
            try forEachMatch(of: query, among: candidates) { object, row, bytes in
                try add(&part, object, row, bytes, self)
            }
            _ = try join(part)
            return
        }
        let (sequence, projection, models, journal, past) = (
            sequence, projection, models, journal, past
        )
        for number in query.entities.sorted() {
            guard let entity = schema.entity(number) else { continue }
            let program = try RowProgram(query.filter, for: entity, in: self)
            var step = WalkStep.proceed
            try transaction.scanInParts(
                projection.tables.rows, from: StoreKey.entity(number),
                to: StoreKey.end(of: number), begin: begin
            ) { part, transaction, lower, upper in
                let own = Snapshot(
                    sequence: sequence, projection: projection, models: models, journal: journal,
                    past: past, transaction: transaction.shared())
                _ = try projection.walkRows(from: lower, to: upper, in: transaction) {
                    object, row, bytes in
                    guard try own.accepts(object, row, bytes, program) else { return .proceed }
                    return try add(&part, object, row, bytes, own)
                }
            } join: { part in
                step = try join(part)
                return step == .proceed ? .proceed : .stop
            } bytes: { part in
                bytes(part)
            }
            if step == .stop { return }
        }
    }
}
