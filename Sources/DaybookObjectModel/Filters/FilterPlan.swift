import Foundation

/// One end of a range of index keys.
package struct IndexBound: Sendable, Hashable {
    /// The value at the end.
    package var value: Value
    /// Whether the range includes the value itself.
    package var isIncluded: Bool

    /// An end of a range.
    package init(_ value: Value, isIncluded: Bool) {
        self.value = value
        self.isIncluded = isIncluded
    }
}

/// A range of index keys.
package enum IndexRange: Sendable, Hashable {
    /// One value; null is only looked up in ordinary indexes, because unique ones do not hold it.
    case exactly(Value)
    /// Between two ends of one kind; without an end, to the least or greatest of its kind. Null is
    /// never included.
    case between(IndexBound?, IndexBound?)
    /// Texts that start with this one.
    case prefix(String)
}

/// A way to find all objects that may meet a filter without examining every object.
///
/// An index returns a superset: the whole filter is evaluated again for every object, and objects
/// of other entities, which may share an inherited property's index, are left out.
package struct FilterPlan: Sendable {
    /// The source of the objects.
    package enum Access: Sendable {
        /// These objects, if they exist.
        case objects([ObjectID])
        /// Objects with values of the property within the ranges.
        case index(SchemaProperty, [IndexRange])
        /// Objects whose stored relationship leads to the object.
        case referrers(SchemaProperty, ObjectID)
        /// Objects whose relationship leads to one that meets a condition.
        case join(SchemaProperty, Filter)
        /// Objects that the entries of some time have touched.
        case changes(FilterChange)
        /// All objects of the query's entities.
        case scan
    }

    /// Whether objects may be found through the objects they are connected with.
    package enum JoinChoice: Sendable {
        case allowed
        case avoided
    }

    /// The source of the objects.
    package let access: Access
    /// The part of the filter that led to this access; nil for a scan.
    package let chosen: Filter?
    private let cost: Int
    /// Whether objects are asked about their past as well.
    private var asksForPast = false

    /// Chooses the narrowest access among the conditions that all must hold.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - joins: Whether objects may be found through the objects they are connected with.
    package init(_ filter: Filter, joins: JoinChoice = .allowed) {
        var best = FilterPlan(.scan, nil, cost: Cost.scan)
        if case .constant(false) = filter {
            best = FilterPlan(.objects([]), filter, cost: 0)
        }
        let conjuncts = filter.conjuncts
        for conjunct in conjuncts {
            guard let candidate = FilterPlan(conjunct: conjunct), candidate.cost < best.cost,
                joins == .allowed || !candidate.isJoin
            else { continue }
            best = candidate
        }
        self = best.narrowed(by: conjuncts)
        asksForPast = filter.asksForPast
    }

    private var isJoin: Bool {
        if case .join = access { true } else { false }
    }

    private init(_ access: Access, _ chosen: Filter?, cost: Int) {
        self.access = access
        self.chosen = chosen
        self.cost = cost
    }

    /// The relative cost of an access: the fewer objects it can find, the lower.
    private enum Cost {
        static let object = 1
        static let unique = 2
        static let equality = 1_000
        static let referrers = 2_000
        static let prefix = 100_000
        static let range = 200_000
        static let halfRange = 400_000
        /// Added for a relationship on the way.
        static let join = 10_000
        /// The greatest cost of a join, where all objects at the other end must be read.
        static let longestJoin = 500_000
        static let changes = 600_000
        static let scan = 1_000_000
    }

    private init?(conjunct filter: Filter) {
        if let plan = FilterPlan(withinOneEntity: filter) {
            self = plan
            return
        }
        guard let (property, condition) = filter.joined else { return nil }
        let cost = Cost.join + FilterPlan(condition).cost
        self.init(.join(property, condition), filter, cost: min(cost, Cost.longestJoin))
    }

    private init?(withinOneEntity filter: Filter) {
        switch filter {
        case .comparison(let comparison):
            let turned = comparison.withConstantOnTheRight
            guard let turned, let constant = turned.right.constant else { return nil }
            self.init(turned, constant, filter)
        case .membership(let expression, let values, let options):
            if expression == .object {
                let objects = Set(values.values.compactMap(\.reference)).sorted()
                self.init(.objects(objects), filter, cost: Cost.object * max(1, objects.count))
                return
            }
            guard let property = expression.property else { return nil }
            guard options.isEmpty else {
                let texts = values.values.map { $0.foldedText(options) }
                guard let index = property.foldedIndex, texts.allSatisfy({ $0 != nil }) else {
                    return nil
                }
                let ranges = Set(texts.compactMap { $0.map { IndexRange.exactly(.string($0)) } })
                self.init(
                    .index(index, ranges.sorted()), filter,
                    cost: Cost.equality * max(1, ranges.count))
                return
            }
            var ranges: Set<IndexRange> = []
            for value in values.values {
                switch property.indexRange(equalTo: value) {
                case .never: continue
                case .range(let range): ranges.insert(range)
                case .unknown: return nil
                }
            }
            let cost = (property.isUnique ? Cost.unique : Cost.equality) * max(1, ranges.count)
            self.init(.index(property, ranges.sorted()), filter, cost: cost)
        case .between(let expression, .constant(let lower), .constant(let upper)):
            guard let property = expression.property,
                let lower = property.indexKey(lower), let upper = property.indexKey(upper)
            else { return nil }
            let range = IndexRange.between(
                IndexBound(lower, isIncluded: true), IndexBound(upper, isIncluded: true))
            self.init(.index(property, [range]), filter, cost: Cost.range)
        case .quantified(.any, let path, .comparison(let comparison)):
            // ANY tags == tag, where the object itself holds the tags.
            guard path.scope == 0, path.steps.count == 1, path.steps[0].isStoredToMany,
                comparison.left == .object, comparison.operator == .equal,
                case .constant(.object(let object)) = comparison.right
            else { return nil }
            self.init(.referrers(path.steps[0], object), filter, cost: Cost.referrers)
        case .past(let path, .change(let change)):
            // What a relationship leads to is in the entries of the other side.
            guard path == FilterPath(), change.since != nil,
                change.property.slot != nil || change.property.isStoredToMany
            else { return nil }
            self.init(.changes(change), filter, cost: Cost.changes)
        default: return nil
        }
    }

    private init?(_ comparison: FilterComparison, _ constant: Value, _ filter: Filter) {
        if comparison.left == .object {
            guard comparison.operator == .equal else { return nil }
            self.init(
                .objects(constant.reference.map { [$0] } ?? []), filter, cost: Cost.object)
            return
        }
        guard let property = comparison.left.property else { return nil }
        guard comparison.options.isEmpty else {
            self.init(folded: comparison, property, constant, filter)
            return
        }
        if case .object(let object) = constant {
            guard comparison.operator == .equal, property.relationship != nil,
                property.end?.isStored == true, property.relationship?.isToMany == false
            else { return nil }
            self.init(.referrers(property, object), filter, cost: Cost.referrers)
            return
        }
        switch comparison.operator {
        case .equal:
            let cost = property.isUnique ? Cost.unique : Cost.equality
            switch property.indexRange(equalTo: constant) {
            case .never: self.init(.objects([]), filter, cost: 0)
            case .range(let range): self.init(.index(property, [range]), filter, cost: cost)
            case .unknown: return nil
            }
        case .less, .lessOrEqual:
            guard let key = property.indexKey(constant) else { return nil }
            let bound = IndexBound(key, isIncluded: comparison.operator == .lessOrEqual)
            self.init(.index(property, [.between(nil, bound)]), filter, cost: Cost.halfRange)
        case .greater, .greaterOrEqual:
            guard let key = property.indexKey(constant) else { return nil }
            let bound = IndexBound(key, isIncluded: comparison.operator == .greaterOrEqual)
            self.init(.index(property, [.between(bound, nil)]), filter, cost: Cost.halfRange)
        case .beginsWith:
            guard case .string(let prefix)? = property.indexKey(constant), !prefix.isEmpty else {
                return nil
            }
            self.init(.index(property, [.prefix(prefix)]), filter, cost: Cost.prefix)
        default: return nil
        }
    }

    /// Finds texts in an index that ignores the same differences as the comparison.
    private init?(
        folded comparison: FilterComparison, _ property: SchemaProperty, _ constant: Value,
        _ filter: Filter
    ) {
        guard let index = property.foldedIndex,
            let text = constant.foldedText(comparison.options)
        else { return nil }
        switch comparison.operator {
        case .equal:
            self.init(.index(index, [.exactly(.string(text))]), filter, cost: Cost.equality)
        case .beginsWith where !text.isEmpty:
            self.init(.index(index, [.prefix(text)]), filter, cost: Cost.prefix)
        default: return nil
        }
    }

    /// Closes the open end of a range by other conditions on the same property.
    private func narrowed(by conjuncts: [Filter]) -> FilterPlan {
        guard case .index(let property, let ranges) = access, ranges.count == 1,
            case .between(var lower, var upper) = ranges[0], lower == nil || upper == nil
        else { return self }
        var parts = chosen.map { [$0] } ?? []
        for conjunct in conjuncts where conjunct != chosen {
            guard let other = FilterPlan(conjunct: conjunct),
                case .index(let candidate, let others) = other.access,
                candidate.number == property.number, others.count == 1,
                case .between(let otherLower, let otherUpper) = others[0]
            else { continue }
            if lower == nil, let bound = otherLower {
                lower = bound
                parts.append(conjunct)
            }
            if upper == nil, let bound = otherUpper {
                upper = bound
                parts.append(conjunct)
            }
        }
        let chosen = parts.count == 1 ? parts[0] : Filter.and(parts)
        return FilterPlan(.index(property, [.between(lower, upper)]), chosen, cost: cost)
    }

    /// The attribute whose index finds the objects, or those that lead to them.
    package var index: SchemaProperty? {
        switch access {
        case .index(let property, _): property
        case .join(_, let condition): FilterPlan(condition).index
        default: nil
        }
    }

    /// The plan, in one line for people.
    package func explanation(in schema: Schema) -> String {
        asksForPast
            ? "\(present(in: schema)); the past of each object is read from its versions"
            : present(in: schema)
    }

    private func present(in schema: Schema) -> String {
        let reason = chosen.map { " for \($0.text(in: schema))" } ?? ""
        return switch access {
        case .objects(let objects):
            objects.isEmpty
                ? "nothing is read: no object can match\(reason)"
                : "\(objects.count) named object\(objects.count == 1 ? "" : "s")\(reason)"
        case .index(let property, let ranges):
            "index of '\(property.name)', \(ranges.count) range\(ranges.count == 1 ? "" : "s")"
                + reason
        case .referrers(let property, _): "references through '\(property.name)'\(reason)"
        case .join(let property, let condition):
            "references through '\(property.name)' of the objects for \(condition.text(in: schema)), or "
                + "all objects where those are many\(reason)"
        case .changes:
            "the objects in the entries since then\(reason), or all objects where these are many"
        case .scan: "all objects are read: no index serves the filter"
        }
    }
}

extension Filter {
    /// The conditions that all must hold.
    fileprivate var conjuncts: [Filter] {
        guard case .and(let filters) = self else { return [self] }
        return filters.flatMap(\.conjuncts)
    }
}

extension TextOptions {
    /// The differences that a canonical text does not have.
    package static let canonical: TextOptions = [.caseInsensitive, .diacriticInsensitive]
}

extension Value {
    /// The text as an index of canonical texts has it; nil where other differences count.
    fileprivate func foldedText(_ options: TextOptions) -> String? {
        guard options == .canonical, case .string(let text) = self else { return nil }
        return text.folded(options)
    }
}

extension SchemaProperty {
    fileprivate enum IndexLookup {
        case range(IndexRange)
        case never
        case unknown
    }

    fileprivate func indexRange(equalTo value: Value) -> IndexLookup {
        guard isIndexed else { return .unknown }
        if value.isNull { return isUnique ? .unknown : .range(.exactly(.null)) }
        guard let key = indexKey(value) else { return .unknown }
        return .range(.exactly(key))
    }

    /// The value in its index form; nil for none, or without an index.
    fileprivate func indexKey(_ value: Value) -> Value? {
        guard isIndexed, let type = attribute?.type else { return nil }
        switch (type, value) {
        case (.bool, .bool), (.int16, .int), (.int32, .int), (.int64, .int), (.decimal, .decimal),
            (.string, .string), (.url, .string), (.date, .date), (.uuid, .uuid):
            return value.normalized
        case (.data, .data), (.data, .large): return value.normalized(for: type)
        case (.float, .double(let number)), (.double, .double(let number)):
            return number.isNaN ? nil : value.normalized
        default: return nil
        }
    }
}

extension IndexRange: Comparable {
    /// Orders ranges by their start, so that an index is walked in one direction.
    package static func < (left: IndexRange, right: IndexRange) -> Bool {
        left.start.order(to: right.start) == .orderedAscending
    }

    private var start: Value {
        switch self {
        case .exactly(let value): value
        case .between(let lower, _): lower?.value ?? .null
        case .prefix(let text): .string(text)
        }
    }
}
