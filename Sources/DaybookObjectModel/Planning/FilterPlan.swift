// The room of planning: how the objects that meet a filter are found. It knows filters, and by estimates the sizes
// of what a store keeps; it reads nothing itself.

/// How the objects that may meet a filter are found: the cheapest way by what a store says of its sizes.
///
/// Costs are counted in rows walked. The numbers are those of the store at hand, asked of its indexes anew for each
/// query, so no statistics grow old; conditions without an index are taken as ``Cost/guess``.
package struct FilterPlan: Sendable {
    /// The source of the objects.
    package let access: FilterAccess
    /// The part of the filter that led to this access; nil for a walk.
    package let chosen: Filter?
    /// About how many objects are looked at.
    package let count: Int
    /// About how many there are.
    package let total: Int
    /// About how much work it is.
    let cost: Double
    /// Whether objects are asked about their past as well.
    private(set) var asksForPast = false
    /// What a walk over all is preferred to; empty where there is nothing else.
    package let passedOver: [FilterPlan]

    enum Cost {
        /// Of a row that is looked up, where a walk has many side by side.
        static let lookUp = 4.0
        /// Of a record of an index.
        static let record = 1.0
        /// Of a row for which related objects or its versions have to be read.
        static let crossing = 5.0
        /// Of an earlier version that is read.
        static let version = 4.0
        /// Of an entry that is read.
        static let entry = 8.0
        /// The share of objects that are taken to meet a condition that has no index.
        static let guess = 0.1
        /// Of so few objects the index is as good as a walk, whatever it finds.
        static let fewObjects = 1_000
    }

    /// So few objects that an index is as good as a walk over all.
    package static var fewObjects: Int { Cost.fewObjects }

    /// Whether objects may be found through the objects they are connected with.
    package enum JoinChoice: Sendable {
        case allowed
        case avoided
    }

    /// Chooses the cheapest access.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - entities: The entities of the objects.
    ///   - joins: Whether objects may be found through the objects they are connected with.
    ///   - estimates: What is known of the sizes.
    /// - Throws: What the estimates throw.
    package init(
        _ filter: Filter, of entities: [EntityNumber], joins: JoinChoice = .allowed,
        _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws {
        let total = try estimates.estimatedCount(of: entities)
        let readsMore = filter.crossesRelationships || filter.asksForPast
        let versions = filter.asksForPast ? try estimates.estimatedVersionCount(of: entities) : 0
        let pastCost = Double(versions) * Cost.version
        let cost = Double(total) * (readsMore ? Cost.crossing : 1) + pastCost
        let frame = Frame(
            total: total, joins: joins, pastCost: total > 0 ? pastCost / Double(total) : 0,
            indexes: estimates.schema.compoundIndexes(of: entities))
        let best = try Self.narrowest(filter, in: frame, estimates)
        if let best, best.cost < cost || total <= Cost.fewObjects {
            self = best
        } else {
            self.init(
                .scan, nil, count: total, of: total, cost: cost,
                passedOver: best.map { [$0] } ?? [])
        }
        asksForPast = filter.asksForPast
    }

    private init(
        _ access: FilterAccess, _ chosen: Filter?, count: Int, of total: Int, cost: Double,
        passedOver: [FilterPlan] = []
    ) {
        self.access = access
        self.chosen = chosen
        self.count = count
        self.total = total
        self.cost = cost
        self.passedOver = passedOver
    }

    /// What is the same for all parts of a filter.
    private struct Frame {
        let total: Int
        let joins: JoinChoice
        /// Of the earlier versions of one object, where these are asked for.
        let pastCost: Double
        /// The indexes over several properties.
        let indexes: [SchemaIndex]
        /// Of an object that is looked up because of a change, and whose versions are read.
        var changedCost: Double { Cost.lookUp * Cost.crossing + pastCost }
    }

    /// The access that finds the fewest; nil where only a walk finds all.
    private static func narrowest(
        _ filter: Filter, in frame: Frame, _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws -> FilterPlan? {
        if case .or(let filters) = filter { return try union(filters, in: frame, estimates) }
        let filters = filter.conjuncts
        var plans: [FilterPlan] = []
        for (access, chosen) in filters.accesses {
            if let plan = try FilterPlan(access, chosen, in: frame, estimates) {
                plans.append(plan)
            }
        }
        for case .or(let filters) in filters {
            if let plan = try union(filters, in: frame, estimates) { plans.append(plan) }
        }
        if !frame.indexes.isEmpty {
            let conditions = filters.keyConditions
            for index in frame.indexes {
                guard let access = CompoundAccess(index, conditions),
                    access.conditions.count > 1 || access.conditions[0].access == nil,
                    let plan = try FilterPlan(
                        .compound(access), filters.only(access.conditions), in: frame, estimates)
                else { continue }
                plans.append(plan)
            }
        }
        return intersection(of: plans)
    }

    /// Each alternative in its own way; nil where one of them needs a walk.
    private static func union(
        _ filters: [Filter], in frame: Frame, _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws -> FilterPlan? {
        let total = frame.total
        var plans: [FilterPlan] = []
        for filter in filters {
            guard let plan = try narrowest(filter, in: frame, estimates) else { return nil }
            if case .objects(let objects) = plan.access, objects.isEmpty { continue }
            plans.append(plan)
        }
        if plans.count == 1 { return plans[0] }
        // Which of the conditions an object meets is not known, so that its versions are read.
        let tried = plans.filter { !$0.met.isEmpty }.reduce(0) { $0 + Double($1.count) }
        return FilterPlan(
            .union(plans), .or(filters), count: min(total, plans.reduce(0) { $0 + $1.count }),
            of: total,
            cost: plans.reduce(0) { $0 + $1.cost } + tried * (frame.changedCost - Cost.lookUp))
    }

    /// The conditions on the past that all objects meet that the plan finds, and that need not be tried again.
    package var met: [FilterChange] {
        switch access {
        // The index has each change, with its direction.
        case .changeIndex(let change, _): [change]
        case .intersection(let plans): plans.flatMap(\.met)
        default: []
        }
    }

    /// The plan that finds the fewest, and those whose records cost less than the rows that they leave out.
    private static func intersection(of plans: [FilterPlan]) -> FilterPlan? {
        guard let best = plans.min(by: { $0.cost < $1.cost }) else { return nil }
        var (count, cost) = (Double(best.count), best.cost)
        var parts = [best]
        let others = plans.filter { $0.isOfRecords && !$0.sharesCondition(with: best) }
        for plan in others.sorted(by: { $0.count < $1.count }) where best.isOfRecords {
            let share = plan.total == 0 ? 1 : min(1, Double(plan.count) / Double(plan.total))
            let records = Double(plan.count) * Cost.record
            let saved = count * (1 - share) * Cost.lookUp
            guard records < saved, !parts.contains(where: { plan.sharesCondition(with: $0) }) else {
                continue
            }
            parts.append(plan)
            count *= share
            cost += records - saved
        }
        if parts.count == 1 { return best }
        return FilterPlan(
            .intersection(parts), .and(parts.compactMap(\.chosen)), count: Int(count.rounded(.up)),
            of: best.total, cost: cost)
    }

    /// Whether the objects are found in records of their own, which can be compared with others.
    private var isOfRecords: Bool {
        switch access {
        case .index, .compound, .referrers, .changeIndex, .everIndex: true
        default: false
        }
    }

    /// Whether a condition led to both plans, so that the one leaves out nothing that the other does not.
    private func sharesCondition(with other: FilterPlan) -> Bool {
        guard let chosen, let others = other.chosen?.conjuncts else { return false }
        return chosen.conjuncts.contains { others.contains($0) }
    }

    /// The plan for an access; nil where the store does not have it.
    private init?(
        _ access: FilterAccess, _ chosen: Filter, in frame: Frame,
        _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws {
        let (total, joins) = (frame.total, frame.joins)
        switch access {
        case .objects(let objects):
            let cost = Double(objects.count) * Cost.lookUp
            self.init(access, chosen, count: objects.count, of: total, cost: cost)
        case .index(let property, let ranges):
            guard let records = try estimates.estimatedCount(of: property, in: ranges) else {
                return nil
            }
            self.init(access, chosen, records: records, of: total)
        case .compound(let compound):
            let count = try estimates.estimatedCount(of: compound.index, in: compound.ranges)
            guard let count else { return nil }
            self.init(access, chosen, records: count, of: total)
        case .referrers(let property, let object):
            self.init(
                access, chosen,
                records: try estimates.estimatedCount(ofReferrersTo: object, through: property),
                of: total)
        case .join(let property, let condition):
            guard joins == .allowed, let end = property.end else { return nil }
            try self.init(
                joining: end, condition, by: (access, chosen), of: total, estimates)
        case .changes(let change):
            let entries = try estimates.estimatedCount(of: change)
            let count = min(entries, total)
            self.init(
                access, chosen, count: count, of: total,
                cost: Double(entries) * Cost.entry + Double(count) * frame.changedCost)
        case .changeIndex(let change, _):
            guard let estimate = try estimates.estimate(ofIndexed: change) else {
                guard change.since != nil else { return nil }
                try self.init(.changes(change), chosen, in: frame, estimates)
                return
            }
            var matches = estimate.changes
            var asked = Double(estimate.changes) * Cost.record
            var isByAuthor = false
            if case .named = change.author {
                // Records tell no author: the entry is read, and what it says decides before any object is looked up.
                matches =
                    estimate.author?.changes
                    ?? Int((Double(matches) * Cost.guess).rounded(.up))
                asked *= 2
                if let own = estimate.author {
                    let lookedUp =
                        Double(own.entries) * Cost.lookUp + Double(own.changes) * Cost.record
                    isByAuthor = lookedUp < asked
                    asked = min(lookedUp, asked)
                }
            }
            let count = min(matches, total)
            self.init(
                .changeIndex(change, byAuthor: isByAuthor), chosen, count: count, of: total,
                cost: asked + Double(count) * Cost.lookUp)
        case .everIndex(let property, let ranges):
            guard let records = try estimates.estimatedCount(ofEver: property, in: ranges) else {
                return nil
            }
            // What has been found is tried on the versions.
            let count = min(records, total)
            self.init(
                access, chosen, count: count, of: total,
                cost: Double(records) * Cost.record + Double(count) * frame.changedCost)
        case .union, .intersection, .scan: return nil
        }
    }

    private init(_ access: FilterAccess, _ chosen: Filter, records: Int, of total: Int) {
        // Records of other entities, which share the index, are among them.
        let count = min(records, total)
        self.init(
            access, chosen, count: count, of: total,
            cost: Double(records) * Cost.record + Double(count) * Cost.lookUp)
    }

    private init?(
        joining end: RelationshipEnd, _ condition: Filter,
        by step: (access: FilterAccess, chosen: Filter), of total: Int,
        _ estimates: borrowing some PlanEstimates & ~Copyable
    ) throws {
        guard let family = estimates.schema.entity(end.destination)?.family else { return nil }
        let inner = try FilterPlan(condition, of: family, estimates)
        let isServed = if case .scan = inner.access { false } else { true }
        let matches = isServed ? Double(inner.count) : Double(inner.total) * Cost.guess
        let owners = inner.total == 0 ? 0 : max(1, Double(total) / Double(inner.total))
        let count = min(Double(total), matches * owners)
        self.init(
            step.access, step.chosen, count: Int(count.rounded(.up)), of: total,
            cost: inner.cost + (matches + count) * Cost.lookUp)
    }
}

extension Filter {
    /// The conditions that all must hold.
    var conjuncts: [Filter] {
        guard case .and(let filters) = self else { return [self] }
        return filters.flatMap(\.conjuncts)
    }
}

extension [Filter] {
    /// The conditions that some key conditions are made of, in their order.
    fileprivate func only(_ conditions: [KeyCondition]) -> Filter {
        let used = conditions.flatMap(\.filter.conjuncts)
        let own = filter { used.contains($0) }
        return own.count == 1 ? own[0] : .and(own)
    }

    /// What finds the objects for each condition, where one does. Two ranges of one property that close each
    /// other's open end are one.
    fileprivate var accesses: [(access: FilterAccess, chosen: Filter)] {
        let keys = keyConditions
        var found: [(access: FilterAccess, chosen: Filter)] = keys.compactMap { condition in
            condition.access.map { ($0, condition.filter) }
        }
        for condition in self where KeyCondition(condition)?.access == nil {
            found += FilterAccess.all(for: condition).map { ($0, condition) }
        }
        return found
    }
}
