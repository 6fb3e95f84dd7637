// The room of batches: which changes an update or a delete of many objects comes to, worked out from the rows
// of one state. It reads, and leaves checking, merging and writing to the room of committing.

package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// What a batch does with each of its objects.
package enum BatchTask: Sendable {
    /// Gives properties other values; no property twice.
    case update([RowAssignment])
    /// Deletes it, and applies the delete rules.
    case delete
}

/// The changes that a batch comes to in one state of the store.
package struct BatchPlan: Sendable {
    /// The changes. Those that follow from a delete rule name their cause.
    package let changes: [Change]
    /// The last entry of the state.
    package let base: SequenceNumber
    /// What the changes rest on: they may be saved as long as it holds.
    package let condition: SaveCondition
    /// Why the batch cannot be done as it is; nil when nothing has been found.
    package let refusal: StoreError?
}

extension Store {
    /// Works out what a batch comes to now. Nothing is written.
    ///
    /// - Parameters:
    ///   - task: What to do with each object.
    ///   - query: The objects.
    /// - Returns: The plan.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a row cannot be read;
    ///   ``QueryError`` when a pattern of the filter takes too long.
    /// - Complexity: As of fetching the objects; for a delete also O(*r* log *n*) page reads, *r* the
    ///   number of objects that are related to them.
    package func batchPlan(_ task: BatchTask, of query: Query) throws -> BatchPlan {
        try readWithSequence { snapshot, base in
            let (changes, failures): ([Change], [ValidationFailure])
            switch task {
            case .update(let assignments):
                let beginning = UpdatePlanner(assignments, in: snapshot.projection)
                var planner = beginning
                try snapshot.gatherBatch(query, from: beginning) { part, object, row, bytes in
                    try part.take(object, row, bytes)
                } join: { part in
                    planner.append(part)
                }
                (changes, failures) = (planner.changes, planner.failures)
            case .delete:
                var planner = DeletePlanner(in: snapshot.projection)
                let beginning = RowDeletes(in: snapshot.projection)
                try snapshot.gatherBatch(query, from: beginning) { part, object, row, bytes in
                    try part.take(object, row, bytes)
                } join: { part in
                    planner.append(part)
                }
                (changes, failures) = try planner.finish(in: snapshot.transaction)
            }
            return BatchPlan(
                changes: changes, base: base,
                condition: SaveCondition(.unchanged, query, since: base),
                refusal: failures.isEmpty ? nil : .validation(failures).inStore(uuid))
        }
    }
}

extension Snapshot {
    /// Gathers the objects of a batch part by part; several parts at the same time where all objects of an entity
    /// are walked.
    ///
    /// - Parameters:
    ///   - query: The objects.
    ///   - beginning: A part with nothing in it.
    ///   - add: Adds an object with its row to a part. It is called on several threads.
    ///   - join: Takes the parts in the order of their objects.
    /// - Throws: As ``gather(_:among:begin:add:join:bytes:)``.
    fileprivate func gatherBatch<Part: Sendable>(
        _ query: Query, from beginning: Part,
        add: @Sendable (inout Part, ObjectID, RowLayout, RawSpan) throws -> Void,
        join: (Part) -> Void
    ) throws {
        // Only with a limit does the order decide which objects these are.
        guard query.limit != nil || query.offset > 0 else {
            return try gather(query, among: candidates(query)) {
                beginning
            } add: { part, object, row, bytes, _ in
                try add(&part, object, row, bytes)
                return .proceed
            } join: { part in
                join(part)
                return .proceed
            }
        }
        let objects = try fetch(query).sorted()
        var part = beginning
        _ = try projection.walkRows(of: objects[...], at: sequence, in: transaction) {
            object, row, bytes in
            try add(&part, object, row, bytes)
            return .proceed
        }
        join(part)
    }
}
