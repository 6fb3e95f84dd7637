internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

extension Snapshot: PlanEstimates {
    /// How many ranges of an index are asked for, of any number.
    private static var rangesAsked: Int { 16 }

    /// About how many objects the entities have now, which is near to what they had.
    ///
    /// - Complexity: O(log *n*) page reads for each entity.
    package func estimatedCount(of entities: [EntityNumber]) throws -> Int {
        var count = 0
        for entity in entities {
            count += try transaction.estimatedCount(
                projection.tables.rows, from: StoreKey.entity(entity).span.bytes,
                to: StoreKey.end(of: entity).span.bytes)
        }
        return count
    }

    /// About how many records the index of a property has within ranges; nil where it does not serve.
    ///
    /// In the past that is told from the index of now, without a look at what has changed since.
    ///
    /// Of many ranges some are asked for, and the others taken to have as many.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimatedCount(
        of index: SchemaProperty, in ranges: [IndexRange]
    ) throws -> Int? {
        guard try models.hasIndex(of: index, in: transaction) else { return nil }
        if !isLatest, case .tooMany = past.knowledge(of: index.number, at: sequence) { return nil }
        var count = 0
        let step = max(1, ranges.count / Self.rangesAsked)
        let asked = stride(from: 0, to: ranges.count, by: step)
        for range in asked.lazy.map({ ranges[$0] }) {
            if index.isUnique, case .exactly = range {
                count += 1
                continue
            }
            let (lower, upper) = StoreKey.bounds(of: range, index.number)
            count += try transaction.estimatedCount(
                projection.tables.index, from: lower.span.bytes, to: upper.span.bytes)
        }
        return count * step
    }

    /// About how many objects lead to another through a stored relationship now.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimatedCount(
        ofReferrersTo object: ObjectID, through property: SchemaProperty
    ) throws -> Int {
        let prefix = StoreKey.links(of: object, property.number)
        let end = StoreKey.end(of: prefix) ?? []
        return try transaction.estimatedCount(
            projection.tables.referrers, from: prefix.span.bytes, to: end.span.bytes)
    }

    /// About how many objects the entries have touched that a condition on the past is about: one for each entry.
    package func estimatedCount(of change: FilterChange) throws -> Int {
        let (first, last) = try entries(since: change.since, until: change.until)
        return first <= last ? Int(clamping: last.rawValue - first.rawValue + 1) : 0
    }
}

extension Snapshot {
    /// How the objects that match a query are found in this state.
    package func plan(
        _ query: Query, joins: FilterPlan.JoinChoice = .allowed
    ) throws -> FilterPlan {
        try FilterPlan(query.filter, of: query.entities, joins: joins, self)
    }

    /// How a query will be carried out, and why not by an index that might serve it, in one line for people.
    package func explanation(of query: Query) throws -> String {
        var obstacles: [String] = []
        var additions: [String] = []
        var known: Set<PropertyNumber> = []
        for property in query.filter.servingIndexes where known.insert(property.number).inserted {
            switch try indexUse(of: property) {
            case .present: break
            case .past(let changed, let moment, let isInEntries):
                additions.append(
                    "as of entry \(moment), with what \(changed) changed "
                        + "object\(changed == 1 ? "" : "s") had then, found in "
                        + (isInEntries ? "the entries since" : "all versions"))
            case .tooManyChanges(let moment):
                obstacles.append("too many have changed since entry \(moment)")
            case .none:
                let pending = try StoreMetadata.pendingIndexes(
                    projection.tables.meta, in: transaction)
                obstacles.append(
                    "the index of '\(property.name)' is "
                        + (pending.contains(property.number)
                            ? "being built" : "not in the store's model any more"))
            }
        }
        let plan = try plan(query)
        let text =
            try walk(inOrderOf: query, plan)?.explanation
            ?? plan.explanation(in: schema, obstacles: obstacles)
        return ([text] + additions).joined(separator: "; ")
    }
}
