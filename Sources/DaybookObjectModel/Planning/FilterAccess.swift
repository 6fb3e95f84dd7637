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
    /// Objects with values of several properties within the ranges.
    case compound(CompoundAccess)
    /// Objects whose stored relationship leads to the object.
    case referrers(SchemaProperty, ObjectID)
    /// Objects whose relationship leads to one that meets a condition.
    case join(SchemaProperty, Filter)
    /// Objects that the entries of some time have touched.
    case changes(FilterChange)
    /// Objects in which entries have changed the property, by the index of changes: all of it for the time in question,
    /// or what it has of the author's entries.
    case changeIndex(FilterChange, byAuthor: Bool)
    /// Objects that have or once had a value of the property within the ranges, by its index and that of its former
    /// values.
    case everIndex(SchemaProperty, [IndexRange])
    /// The objects that at least one of these plans finds.
    case union([FilterPlan])
    /// The objects that all of these plans find.
    case intersection([FilterPlan])
    /// All objects of the query's entities.
    case scan

    /// What finds the objects for a condition that is no conjunction and no disjunction: nothing where only a walk
    /// does, and each of several where any part of the condition will do.
    static func all(for condition: Filter) -> [FilterAccess] {
        switch condition {
        case .past(let path, .ever(let condition)) where path == FilterPath():
            // One state met all parts.
            condition.conjuncts.keyConditions.compactMap(\.everAccess)
        case .past(let path, .always(let condition)) where path == FilterPath():
            // The state that stands is one of all.
            condition.conjuncts.keyConditions.compactMap(\.access)
        default: FilterAccess(for: condition).map { [$0] } ?? []
        }
    }

    private init?(for condition: Filter) {
        if let access = FilterAccess(withinOneEntity: condition) {
            self = access
            return
        }
        if let access = KeyCondition(condition)?.access {
            self = access
            return
        }
        guard let (property, joined) = condition.joined else { return nil }
        self = .join(property, joined)
    }

    private init?(withinOneEntity filter: Filter) {
        switch filter {
        case .constant(false): self = .objects([])
        case .membership(.object, let values, _):
            self = .objects(Set(values.values.compactMap(\.reference)).sorted())
        case .comparison(let comparison):
            guard let turned = comparison.withConstantOnTheRight, turned.left == .object,
                let constant = turned.right.constant, turned.operator == .equal
            else { return nil }
            self = .objects(constant.reference.map { [$0] } ?? [])
        case .quantified(.any, let path, .comparison(let comparison)):
            // ANY tags == tag, where the object itself holds the tags.
            guard path.scope == 0, path.steps.count == 1, path.steps[0].isStoredToMany,
                comparison.left == .object, comparison.operator == .equal,
                case .constant(.object(let object)) = comparison.right
            else { return nil }
            self = .referrers(path.steps[0], object)
        case .past(let path, .change(let change)):
            guard path == FilterPath() else { return nil }
            if change.property.hasIndexedChanges {
                self = .changeIndex(change, byAuthor: false)
                return
            }
            // What a relationship leads to is in the entries of the other side.
            guard change.since != nil,
                change.property.slot != nil || change.property.isStoredToMany
            else { return nil }
            self = .changes(change)
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
