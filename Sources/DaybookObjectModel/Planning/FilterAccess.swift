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

/// A way to find all objects that may meet a condition without looking at every object.
///
/// An index returns a superset: the whole filter is evaluated again for every object, and objects
/// of other entities, which may share an inherited property's index, are left out.
package enum FilterAccess: Sendable {
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
    /// The objects that at least one of these plans finds.
    case union([FilterPlan])
    /// The objects that all of these plans find.
    case intersection([FilterPlan])
    /// All objects of the query's entities.
    case scan

    /// What finds the objects for a condition that is no conjunction and no disjunction; nil where only a walk
    /// does.
    init?(for condition: Filter) {
        if let access = FilterAccess(withinOneEntity: condition) {
            self = access
            return
        }
        guard let (property, joined) = condition.joined else { return nil }
        self = .join(property, joined)
    }

    private init?(withinOneEntity filter: Filter) {
        switch filter {
        case .constant(false): self = .objects([])
        case .comparison(let comparison):
            let turned = comparison.withConstantOnTheRight
            guard let turned, let constant = turned.right.constant else { return nil }
            self.init(turned, constant)
        case .membership(let expression, let values, let options):
            self.init(expression, values, options)
        case .between(let expression, .constant(let lower), .constant(let upper)):
            guard let property = expression.property,
                let lower = property.indexKey(lower), let upper = property.indexKey(upper)
            else { return nil }
            let range = IndexRange.between(
                IndexBound(lower, isIncluded: true), IndexBound(upper, isIncluded: true))
            self = .index(property, [range])
        case .quantified(.any, let path, .comparison(let comparison)):
            // ANY tags == tag, where the object itself holds the tags.
            guard path.scope == 0, path.steps.count == 1, path.steps[0].isStoredToMany,
                comparison.left == .object, comparison.operator == .equal,
                case .constant(.object(let object)) = comparison.right
            else { return nil }
            self = .referrers(path.steps[0], object)
        case .past(let path, .change(let change)):
            // What a relationship leads to is in the entries of the other side.
            guard path == FilterPath(), change.since != nil,
                change.property.slot != nil || change.property.isStoredToMany
            else { return nil }
            self = .changes(change)
        default: return nil
        }
    }

    /// Finds one of several values.
    private init?(_ expression: FilterExpression, _ values: FilterValues, _ options: TextOptions) {
        if expression == .object {
            self = .objects(Set(values.values.compactMap(\.reference)).sorted())
            return
        }
        guard let property = expression.property else { return nil }
        var ranges: Set<IndexRange> = []
        guard options.isEmpty else {
            guard let index = property.foldedIndex else { return nil }
            for value in values.values {
                guard let text = value.foldedText(options) else { return nil }
                ranges.insert(.exactly(.string(text)))
            }
            self = .index(index, ranges.sorted())
            return
        }
        for value in values.values {
            switch property.indexRange(equalTo: value) {
            case .never: continue
            case .range(let range): ranges.insert(range)
            case .unknown: return nil
            }
        }
        self = .index(property, ranges.sorted())
    }

    private init?(_ comparison: FilterComparison, _ constant: Value) {
        if comparison.left == .object {
            guard comparison.operator == .equal else { return nil }
            self = .objects(constant.reference.map { [$0] } ?? [])
            return
        }
        guard let property = comparison.left.property else { return nil }
        guard comparison.options.isEmpty else {
            self.init(folded: comparison, property, constant)
            return
        }
        if case .object(let object) = constant {
            guard comparison.operator == .equal, property.relationship != nil,
                property.end?.isStored == true, property.relationship?.isToMany == false
            else { return nil }
            self = .referrers(property, object)
            return
        }
        switch comparison.operator {
        case .equal:
            switch property.indexRange(equalTo: constant) {
            case .never: self = .objects([])
            case .range(let range): self = .index(property, [range])
            case .unknown: return nil
            }
        case .less, .lessOrEqual:
            guard let key = property.indexKey(constant) else { return nil }
            let bound = IndexBound(key, isIncluded: comparison.operator == .lessOrEqual)
            self = .index(property, [.between(nil, bound)])
        case .greater, .greaterOrEqual:
            guard let key = property.indexKey(constant) else { return nil }
            let bound = IndexBound(key, isIncluded: comparison.operator == .greaterOrEqual)
            self = .index(property, [.between(bound, nil)])
        case .beginsWith:
            guard case .string(let prefix)? = property.indexKey(constant), !prefix.isEmpty else {
                return nil
            }
            self = .index(property, [.prefix(prefix)])
        default: return nil
        }
    }

    /// Finds texts in an index that ignores the same differences as the comparison.
    private init?(
        folded comparison: FilterComparison, _ property: SchemaProperty, _ constant: Value
    ) {
        guard let index = property.foldedIndex,
            let text = constant.foldedText(comparison.options)
        else { return nil }
        switch comparison.operator {
        case .equal: self = .index(index, [.exactly(.string(text))])
        case .beginsWith where !text.isEmpty: self = .index(index, [.prefix(text)])
        default: return nil
        }
    }

    /// The range between this one, which is open at one end, and another of the same property, which is open at the
    /// other end; nil for any other two. It is exactly what both allow.
    func narrowed(by other: FilterAccess) -> FilterAccess? {
        guard case .index(let property, let ranges) = self, ranges.count == 1,
            case .between(let lower, let upper) = ranges[0],
            case .index(let candidate, let others) = other, others.count == 1,
            candidate.number == property.number,
            case .between(let otherLower, let otherUpper) = others[0]
        else { return nil }
        switch (lower, upper, otherLower, otherUpper) {
        case (let lower?, nil, nil, let upper?), (nil, let upper?, let lower?, nil):
            return .index(property, [.between(lower, upper)])
        default: return nil
        }
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
        case (.decimal, .decimal(let number)): return number.isNaN ? nil : value.normalized
        case (.bool, .bool), (.int16, .int), (.int32, .int), (.int64, .int), (.string, .string),
            (.url, .string), (.date, .date), (.uuid, .uuid):
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
