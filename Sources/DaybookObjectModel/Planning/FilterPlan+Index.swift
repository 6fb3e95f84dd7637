/// A walk over an index in the order of its values, until enough objects are found.
package struct OrderedWalk: Sendable {
    /// The attribute.
    package let property: SchemaProperty
    /// The values among which all matches are; nil for all.
    package let range: IndexRange?
    /// The direction.
    package let isAscending: Bool
    /// How many objects are enough.
    package let window: Int

    /// About how much work it is where every record is of an object that matches.
    fileprivate var cost: Double {
        Double(window) * (FilterPlan.Cost.record + FilterPlan.Cost.lookUp)
    }

    /// The walk, in one line for people.
    package var explanation: String {
        "index of '\(property.name)' in its order\(range == nil ? "" : ", 1 range"), until \(window) "
            + "object\(window == 1 ? " is" : "s are") found"
    }
}

/// The records of an index that stand for all matches of a filter, and for no other object.
package struct IndexCover: Sendable {
    /// The index.
    package let index: SchemaIndex
    /// The values.
    package let ranges: [CompoundRange]
}

extension FilterPlan {
    /// How the index of a query's first sorting is walked where that costs less than to find all matches and sort
    /// them; nil where it does not, or no index has that order.
    ///
    /// - Parameter query: The query, of whose filter this is a plan.
    /// - Returns: The walk. Whether the store has the index is left to the caller.
    package func walk(inOrderOf query: Query) -> OrderedWalk? {
        guard let window = query.windowEnd, let first = query.sortings.first,
            let property = query.indexedOrder
        else { return nil }
        let (range, rest) = range(of: property, query.filter)
        let walk = OrderedWalk(
            property: property, range: range, isAscending: first.isAscending, window: window)
        switch access {
        case .objects: return nil
        case .scan:
            let isFew = walk.cost < Double(total)
            return isFew || query.isPart || total <= Cost.fewObjects ? walk : nil
        case .index(let own, _) where own.number == property.number:
            guard range != nil else { return nil }
            return Double(window) / rest < Double(count) ? walk : nil
        default:
            guard total > Cost.fewObjects, count > 0 else { return nil }
            let share = Double(count) / Double(total) * (chosen == query.filter ? 1 : Cost.guess)
            // The matches may all be at the other end.
            let ordered = 2 * walk.cost / share
            return ordered < cost ? walk : nil
        }
    }

    /// The range of an attribute's values that the plan knows, with the share of the objects in it that are taken
    /// to match.
    private func range(
        of property: SchemaProperty, _ filter: Filter
    ) -> (range: IndexRange?, share: Double) {
        var plans = [self] + passedOver
        for plan in plans {
            if case .intersection(let parts) = plan.access { plans += parts }
        }
        for plan in plans {
            guard case .index(let own, let ranges) = plan.access, own.number == property.number,
                ranges.count == 1
            else { continue }
            // All with one value would be read.
            if case .exactly = ranges[0] { continue }
            return (ranges[0], plan.chosen == filter ? 1 : Cost.guess)
        }
        return (nil, filter == .constant(true) ? 1 : Cost.guess)
    }

    /// The index records that tell which objects match without a look at these; nil where rows have to be read.
    ///
    /// - Parameter filter: The filter, of which this is a plan.
    /// - Returns: The records, of values whose order in the index is exactly that of the filter.
    package func cover(of filter: Filter) -> IndexCover? {
        switch access {
        case .index(let property, let ranges) where chosen == filter:
            let conditions = filter.conjuncts.keyConditions
            guard conditions.count == 1, conditions[0].isExact else { return nil }
            return IndexCover(
                index: SchemaIndex(of: property),
                ranges: ranges.map { CompoundRange(equals: [], next: $0) })
        case .compound(let compound):
            guard compound.isExact, compound.conditions.cover(filter) else { return nil }
            return IndexCover(index: compound.index, ranges: compound.ranges)
        default: return nil
        }
    }
}

extension SchemaProperty {
    /// Whether the key of a value in an index tells the value.
    package var isKeyWhole: Bool {
        switch attribute?.type {
        case .data, .codable: false
        default: slot != nil
        }
    }
}

extension Query {
    /// Whether all objects of the entities match.
    package var asksForAll: Bool {
        if case .constant(true) = filter { true } else { false }
    }

    /// The walk that finds the first few of all objects in the order of an index, which needs no plan: of
    /// however many there are, no other access reads fewer records. Whether the store has the index, and
    /// whether that has objects of other entities as well, is left to the caller.
    package var walkToFirst: OrderedWalk? {
        guard asksForAll, sortings.count == 1, let property = indexedOrder, let window = windowEnd,
            case let walk = OrderedWalk(
                property: property, range: nil, isAscending: sortings[0].isAscending,
                window: window),
            walk.cost < Double(FilterPlan.fewObjects)
        else { return nil }
        return walk
    }

    /// The attribute of the objects themselves by which they are sorted first, if it has an index in that order.
    package var indexedOrder: SchemaProperty? {
        guard let first = sortings.first, first.options.isEmpty, first.path.scope == 0,
            first.path.steps.count == 1, first.path.steps[0].isIndexed
        else { return nil }
        return first.path.steps[0]
    }
}
