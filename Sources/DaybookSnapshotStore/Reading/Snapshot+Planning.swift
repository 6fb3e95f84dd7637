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
        try estimatedCount(of: entities, in: projection.tables.rows)
    }

    /// About how many earlier versions the objects of the entities have.
    ///
    /// - Complexity: O(log *n*) page reads for each entity.
    package func estimatedVersionCount(of entities: [EntityNumber]) throws -> Int {
        try estimatedCount(of: entities, in: projection.tables.versions)
    }

    private func estimatedCount(of entities: [EntityNumber], in table: Table) throws -> Int {
        var count = 0
        for entity in entities {
            count += try transaction.estimatedCount(
                table, from: StoreKey.entity(entity).span.bytes,
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
        guard try isServing(SchemaIndex(of: index)) else { return nil }
        return try estimatedCount(in: ranges) { range in
            if index.isUnique, case .exactly = range { return 1 }
            return try estimatedCount(within: StoreKey.bounds(of: range, index.number))
        }
    }

    /// About how many values within ranges the objects have and once had, as the index of a property and that of its
    /// changes tell; nil where these do not serve.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimatedCount(
        ofEver index: SchemaProperty, in ranges: [IndexRange]
    ) throws -> Int? {
        guard try models.hasIndex(of: SchemaIndex(of: index), in: transaction),
            try models.hasIndexedChanges(of: index, in: transaction)
        else { return nil }
        return try estimatedCount(in: ranges) { range in
            try estimatedCount(within: StoreKey.bounds(of: range, index.number))
                + estimatedCount(within: StoreKey.formerBounds(of: range, index.number))
        }
    }

    /// The sum for all ranges. Of many, some are asked for.
    private func estimatedCount(
        in ranges: [IndexRange], _ count: (IndexRange) throws -> Int
    ) rethrows -> Int {
        let step = max(1, ranges.count / Self.rangesAsked)
        var sum = 0
        for place in stride(from: 0, to: ranges.count, by: step) { sum += try count(ranges[place]) }
        return sum * step
    }

    private func estimatedCount(within bounds: (lower: [UInt8], upper: [UInt8])) throws -> Int {
        guard bounds.lower.lexicographicallyPrecedes(bounds.upper) else { return 0 }
        return try transaction.estimatedCount(
            projection.tables.index, from: bounds.lower.span.bytes, to: bounds.upper.span.bytes)
    }

    /// About how many records an index over several properties has within ranges; nil where it does not serve.
    ///
    /// - Complexity: O(log *n*) page reads for each of some ranges.
    package func estimatedCount(
        of index: SchemaIndex, in ranges: [CompoundRange]
    ) throws -> Int? {
        guard try isServing(index) else { return nil }
        let step = max(1, ranges.count / Self.rangesAsked)
        var count = 0
        for place in stride(from: 0, to: ranges.count, by: step) {
            let (lower, upper) = StoreKey.bounds(of: ranges[place], in: index)
            guard lower.lexicographicallyPrecedes(upper) else { continue }
            count += try transaction.estimatedCount(
                projection.tables.index, from: lower.span.bytes, to: upper.span.bytes)
        }
        return count * step
    }

    private func isServing(_ index: SchemaIndex) throws -> Bool {
        guard try models.hasIndex(of: index, in: transaction) else { return false }
        if !isLatest, case .tooMany = try past.knowledge(of: pastPlace(of: index)) {
            return false
        }
        return true
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

    /// How the objects of a query are found in its order; nil where finding all matches first is cheaper, or no index
    /// has the order.
    func order(of query: Query, _ plan: FilterPlan) throws -> IndexOrder? {
        let single = try plan.walk(inOrderOf: query).flatMap { walk in
            try orderIndex(of: query) != nil
                && isShort(
                    SchemaIndex(of: walk.property), window: walk.window, for: query, plan)
                ? walk : nil
        }
        let compound = try CompoundWalk(query, plan, self).flatMap { walk in
            try index(of: walk.index) != nil
                && isShort(walk.index, within: walk.range, window: walk.window, for: query, plan)
                ? walk : nil
        }
        guard let compound else { return single.map { .single($0) } }
        guard let single else { return .compound(compound) }
        let isBetter =
            compound.isWholeOrder
            && (!compound.range.equals.isEmpty || compound.sortings.count > 1)
        return isBetter ? .compound(compound) : .single(single)
    }

    /// Whether the walk over an index that has the objects of other entities as well passes no more of its
    /// records than there are objects to look at instead.
    private func isShort(
        _ index: SchemaIndex, within range: CompoundRange? = nil, window: Int, for query: Query,
        _ plan: FilterPlan
    ) throws -> Bool {
        guard isShared(index, beyond: query.entities) else { return true }
        let few = Double(max(plan.total, FilterPlan.fewObjects))
        if let range, let within = try estimatedCount(of: index, in: [range]),
            Double(within) <= few
        {
            return true
        }
        let lower = StoreKey.index(index.number)
        let upper = StoreKey.end(of: lower) ?? []
        let all = try transaction.estimatedCount(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes)
        // Those of the others lie among them anyhow.
        let share = Double(plan.total) / Double(max(all, 1))
        let passed = share > 0 ? min(Double(all), Double(window) / share) : Double(all)
        return passed <= few
    }

    /// Whether an index has objects of other entities than some.
    func isShared(_ index: SchemaIndex, beyond entities: [EntityNumber]) -> Bool {
        if entities.count == 1, let entity = schema.entity(entities[0]), entity.superentity == nil,
            entity.family.count == 1
        {
            return false
        }
        return schema.entities.contains { entity in
            !entity.isAbstract && !entities.contains(entity.number)
                && index.elements.allSatisfy { entity.property($0.property.number) != nil }
        }
    }

    /// How a query will be carried out, and why not by an index that might serve it, in one line for people.
    package func explanation(of query: Query) throws -> String {
        var obstacles: [String] = []
        var additions: [String] = []
        var known: Set<PropertyNumber> = []
        let plan = try plan(query)
        let order = try order(of: query, plan)
        var used = plan.compoundIndexes.map(\.number)
        if case .compound(let walk) = order { used.append(walk.index.number) }
        let indexes =
            query.filter.servingIndexes.map { SchemaIndex(of: $0) }
            + query.servingCompoundIndexes(in: schema)
        for index in indexes where known.insert(index.number).inserted {
            switch try indexUse(of: index) {
            case .present: break
            case .past(let changed, let moment, let isInEntries):
                guard !index.isCompound || used.contains(index.number) else { break }
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
                    "the index of \(index.text) is "
                        + (pending.contains(index.number)
                            ? "being built" : "not in the store's model any more"))
            }
        }
        let text: String
        switch order {
        case .single(let walk): text = walk.explanation
        case .compound(let walk): text = walk.explanation(tellsAll: isLatest && !query.isPart)
        case nil:
            text = plan.explanation(in: schema, obstacles: obstacles)
            if isLatest, plan.cover(of: query.filter) != nil, !used.isEmpty {
                additions.append("to count them, its records alone are read")
            }
        }
        return ([text] + additions).joined(separator: "; ")
    }
}

/// A walk over an index in the order of a query.
enum IndexOrder {
    /// Over that of one attribute.
    case single(OrderedWalk)
    /// Over one of several properties.
    case compound(CompoundWalk)
}
