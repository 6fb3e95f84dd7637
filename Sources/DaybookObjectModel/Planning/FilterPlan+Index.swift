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

    /// The walk, in one line for people.
    package var explanation: String {
        "index of '\(property.name)' in its order\(range == nil ? "" : ", 1 range"), until \(window) "
            + "object\(window == 1 ? " is" : "s are") found"
    }
}

/// The records of an index that stand for all matches of a filter, and for no other object.
package struct IndexCover: Sendable {
    /// The attribute.
    package let property: SchemaProperty
    /// The values, of which ends that are not included are to be left out.
    package let ranges: [IndexRange]
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
            let isFew = Double(window) * (Cost.record + Cost.lookUp) < Double(total)
            return isFew || query.isPart || total <= Cost.fewObjects ? walk : nil
        case .index(let own, _) where own.number == property.number:
            guard range != nil else { return nil }
            return Double(window) / rest < Double(count) ? walk : nil
        default:
            guard total > Cost.fewObjects, count > 0 else { return nil }
            let share = Double(count) / Double(total) * (chosen == query.filter ? 1 : Cost.guess)
            // The matches may all be at the other end.
            let ordered = 2 * Double(window) / share * (Cost.record + Cost.lookUp)
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
        guard chosen == filter, case .index(let property, let ranges) = access else { return nil }
        let isBounded = ranges.allSatisfy { range in
            if case .between(nil, _) = range { false } else { true }
        }
        switch property.attribute?.type {
        // What is not a number is less than all in the index, and no condition on numbers holds for it.
        case .decimal where !isBounded: return nil
        // Dates and binary numbers of a condition may lie between those that a row can have.
        case .bool, .int16, .int32, .int64, .decimal, .uuid:
            return IndexCover(property: property, ranges: ranges)
        default: return nil
        }
    }
}

extension Query {
    /// The attribute of the objects themselves by which they are sorted first, if it has an index in that order.
    package var indexedOrder: SchemaProperty? {
        guard let first = sortings.first, first.options.isEmpty, first.path.scope == 0,
            first.path.steps.count == 1, first.path.steps[0].isIndexed
        else { return nil }
        return first.path.steps[0]
    }
}

extension IndexRange {
    /// The ends that do not belong to the range.
    package var excluded: [Value] {
        guard case .between(let lower, let upper) = self else { return [] }
        return [lower, upper].compactMap { bound in
            bound.flatMap { $0.isIncluded ? nil : $0.value }
        }
    }
}
