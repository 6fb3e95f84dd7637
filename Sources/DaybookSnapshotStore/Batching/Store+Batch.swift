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
                var planner = UpdatePlanner(assignments, in: snapshot.projection)
                try snapshot.forEachRow(toBatch: query) { object, row, bytes in
                    try planner.take(object, row, bytes)
                }
                (changes, failures) = (planner.changes, planner.failures)
            case .delete:
                var planner = DeletePlanner(in: snapshot.projection)
                try snapshot.forEachRow(toBatch: query) { object, row, bytes in
                    try planner.take(object, row, bytes)
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
    /// Passes on the objects of a batch, each with its row, from which alone `body` may read.
    fileprivate func forEachRow(
        toBatch query: Query, _ body: (ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws {
        // Only with a limit does the order decide which objects these are.
        guard query.limit != nil || query.offset > 0 else {
            return try forEachMatch(of: query) { object, row, bytes in
                try body(object, row, bytes)
                return .proceed
            }
        }
        let objects = try fetch(query).sorted()
        _ = try projection.walkRows(of: objects[...], at: sequence, in: transaction) {
            object, row, bytes in
            try body(object, row, bytes)
            return .proceed
        }
    }
}
