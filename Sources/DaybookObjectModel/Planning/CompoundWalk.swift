/// A walk over an index of several properties, in the order of those after some values, until enough objects are
/// found.
package struct CompoundWalk: Sendable {
    /// The index.
    package let index: SchemaIndex
    /// The records among which all matches are: the values of the first properties, perhaps with a range of the first
    /// by which they are sorted.
    package let range: CompoundRange
    /// The sortings that the index has behind these values, by their places in the query.
    package let sortings: [Int]
    /// The direction in which the records are walked.
    package let isAscending: Bool
    /// Whether the objects need no other sorting.
    package let isWholeOrder: Bool
    /// Whether every object within the range meets the filter, which no row has to tell.
    package let servesFilter: Bool
    /// How many objects are enough.
    package let window: Int

    /// Whether objects with equal values come in the order of the query too: the records of one entity are in the
    /// order of its objects' numbers, if no other property comes before these.
    package func isExact(_ query: Query) -> Bool {
        isWholeOrder && range.equals.count + sortings.count == index.elements.count
            && query.entities.count == 1 && isAscending != query.descendsAmongEquals
    }

    /// The walk, in one line for people.
    ///
    /// - Parameter tellsAll: Whether records of the index tell what they tell in the state that is read.
    /// - Returns: A clause.
    package func explanation(tellsAll: Bool) -> String {
        "index of \(index.text) in its order"
            + (range.equals.isEmpty && range.next == nil ? "" : ", 1 range")
            + ", until \(window) object\(window == 1 ? " is" : "s are") found"
            + (tellsAll && isWholeOrder && servesFilter ? ", by its records alone" : "")
    }

    /// How an index serves the order of a query behind the values that the filter fixes; nil where it does not.
    private init?(_ index: SchemaIndex, _ query: Query, _ conditions: [KeyCondition]) {
        guard let window = query.windowEnd else { return nil }
        var used: [KeyCondition] = []
        var equals: [Value] = []
        for element in index.elements {
            guard let condition = conditions.onProperty(element.property),
                condition.ranges.count == 1, case .exactly(let value) = condition.ranges[0]
            else { break }
            used.append(condition)
            equals.append(value)
        }
        let fixed = index.elements.prefix(equals.count).map(\.property.number)
        // What all of them have the same value of does not sort them.
        let open = query.sortings.indices.filter { place in
            query.sortings[place].ownProperty.map { !fixed.contains($0) } ?? true
        }
        var sortings: [Int] = []
        var isAscending: Bool?
        for (element, place) in zip(index.elements.dropFirst(equals.count), open) {
            let sorting = query.sortings[place]
            let direction = sorting.isAscending == element.isAscending
            guard sorting.options.isEmpty, element.property.isAttribute,
                sorting.ownProperty == element.property.number,
                isAscending == nil || isAscending == direction
            else { break }
            isAscending = direction
            sortings.append(place)
        }
        guard let isAscending else { return nil }
        let next = conditions.onProperty(index.elements[equals.count].property)
        var range = CompoundRange(equals: equals)
        if let next, next.ranges.count == 1 {
            range.next = next.ranges[0]
            used.append(next)
        }
        self.index = index
        self.range = range
        self.sortings = sortings
        self.isAscending = isAscending
        self.window = window
        isWholeOrder = sortings.count == open.count
        servesFilter = used.allSatisfy(\.isExact) && used.cover(query.filter)
    }
}

extension CompoundWalk {
    /// The cheapest walk for the order of a query; nil where to find all matches and sort them costs less, or no index
    /// has that order.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - plan: A plan of its filter.
    ///   - estimates: What is known of the sizes.
    /// - Throws: What the estimates throw.
    package init?(
        _ query: Query, _ plan: FilterPlan, _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws {
        if case .objects = plan.access { return nil }
        let indexes = query.compoundIndexes(in: estimates.schema)
        guard !indexes.isEmpty, query.windowEnd != nil, !query.sortings.isEmpty else { return nil }
        let conditions = query.filter.conjuncts.keyConditions
        var best: (walk: CompoundWalk, cost: Double)?
        for index in indexes {
            guard let walk = CompoundWalk(index, query, conditions),
                let records = try estimates.estimatedCount(of: index, in: [walk.range])
            else { continue }
            let cost = walk.cost(among: records, of: query)
            if best.map({ cost < $0.cost }) ?? true { best = (walk, cost) }
        }
        guard let best else { return nil }
        let isPage = query.isPart && best.walk.servesFilter && best.walk.isExact(query)
        guard isPage || best.cost < plan.cost || plan.total <= FilterPlan.Cost.fewObjects else {
            return nil
        }
        self = best.walk
    }

    private func cost(among records: Int, of query: Query) -> Double {
        let single = FilterPlan.Cost.record + FilterPlan.Cost.lookUp
        if servesFilter, isWholeOrder {
            return Double(min(window, records)) * FilterPlan.Cost.record
        }
        var expected = Double(window)
        // The matches may all be at the other end.
        if !servesFilter { expected *= 2 / FilterPlan.Cost.guess }
        // Those that the index does not put in order are looked at together.
        if !isWholeOrder { expected *= 2 }
        return min(Double(records), expected) * single
    }
}

extension Sorting {
    /// The property of the object itself whose value decides; nil for one of another object.
    package var ownProperty: PropertyNumber? {
        path.scope == 0 && path.steps.count == 1 ? path.steps[0].number : nil
    }
}

extension [KeyCondition] {
    /// Whether they are all that a filter says.
    func cover(_ filter: Filter) -> Bool {
        let said = flatMap(\.filter.conjuncts)
        return filter == .constant(true)
            || (said.count == filter.conjuncts.count
                && filter.conjuncts.allSatisfy { said.contains($0) })
    }
}
