extension Filter {
    /// The path on the left of a condition.
    package var leadingPath: FilterPath? {
        let expression: FilterExpression
        switch self {
        case .comparison(let comparison): expression = comparison.left
        case .between(let left, _, _): expression = left
        case .membership(let left, _, _): expression = left
        default: return nil
        }
        guard case .path(let path) = expression else { return nil }
        return path
    }

    /// Whether a condition compares its left side with constants only.
    package var hasConstants: Bool {
        switch self {
        case .comparison(let comparison): comparison.right.constant != nil
        case .between(_, let lower, let upper): lower.constant != nil && upper.constant != nil
        case .membership: true
        default: false
        }
    }

    /// The same condition, with a constant on the right where it stands on the left.
    package var withConstantOnTheRight: Filter {
        guard case .comparison(let comparison) = self else { return self }
        return comparison.withConstantOnTheRight.map { .comparison($0) } ?? self
    }

    /// The condition as seen from the object to which the first step of its path leads.
    ///
    /// It holds there exactly when it holds here, because a path that leads nowhere has the value
    /// null.
    package var fromSecondStep: Filter {
        func rest(_ expression: FilterExpression) -> FilterExpression {
            guard case .path(let path) = expression else { return expression }
            return .path(FilterPath(Array(path.steps.dropFirst()), scope: path.scope))
        }
        switch self {
        case .comparison(let comparison):
            return .comparison(
                FilterComparison(
                    rest(comparison.left), comparison.operator, comparison.right,
                    comparison.options))
        case .between(let left, let lower, let upper): return .between(rest(left), lower, upper)
        case .membership(let left, let values, let options):
            return .membership(rest(left), values, options)
        default: return self
        }
    }

    /// The first relationship of the path and the condition on its destination, when only objects
    /// whose relationship leads to such a destination can meet this condition; nil for other
    /// filters.
    package var joined: (SchemaProperty, Filter)? {
        switch self {
        case .comparison, .between, .membership:
            let turned = withConstantOnTheRight
            guard let path = turned.leadingPath, path.scope == 0, path.steps.count > 1,
                turned.hasConstants, turned.isRefusedByNothing
            else { return nil }
            return (path.steps[0], turned.fromSecondStep)
        case .quantified(.any, let path, let condition):
            guard path.scope == 0, let first = path.steps.first, !condition.looksOutward else {
                return nil
            }
            let rest = FilterPath(Array(path.steps.dropFirst()))
            return (first, rest.steps.isEmpty ? condition : .quantified(.any, rest, condition))
        default: return nil
        }
    }

    /// Whether an object without values is known not to meet the condition.
    private var isRefusedByNothing: Bool {
        do {
            return !(try holdsForNothing)
        } catch {
            // It takes too long to find out.
            return false
        }
    }

    /// Whether a part is about an object of an outer scope.
    var looksOutward: Bool { uses.contains(where: \.looksOutward) }

    /// The properties that the condition looks at, each once; nil when it looks beyond the object's own values.
    package var ownProperties: [PropertyNumber]? {
        guard !crossesRelationships, !looksOutward else { return nil }
        var numbers: [PropertyNumber] = []
        for use in uses {
            for step in use.path.steps where !numbers.contains(step.number) {
                numbers.append(step.number)
            }
        }
        return numbers
    }

    /// Whether the condition depends on more than the present values of the object at hand.
    package var crossesRelationships: Bool {
        uses.contains { use in
            use.past != nil || use.kind == .members || use.path.steps.count > 1
                || use.path.steps.contains { $0.slot == nil }
        }
    }
}

extension FilterComparison {
    /// The same comparison with its constant on the right; nil when neither side is one, or when
    /// the operator has no mirror image.
    package var withConstantOnTheRight: FilterComparison? {
        if right.constant != nil { return self }
        guard left.constant != nil, let mirrored = `operator`.mirrored else { return nil }
        return FilterComparison(right, mirrored, left, options)
    }

    /// The comparison as a filter. One that asks whether a subquery has members is ANY or NONE of them, which
    /// stops at the first.
    package var asFilter: Filter {
        guard case .subquery(let subquery) = left, subquery.aggregate == .count,
            subquery.values.steps.isEmpty, case .constant(.int(let number)) = right
        else { return .comparison(self) }
        switch (`operator`, number) {
        case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0):
            return .quantified(.any, subquery.members, subquery.condition)
        case (.equal, 0), (.less, 1), (.lessOrEqual, 0):
            return .quantified(.none, subquery.members, subquery.condition)
        default: return .comparison(self)
        }
    }

    /// The comparison of the same two sides for equality.
    package var asEquality: FilterComparison {
        FilterComparison(left, .equal, right, options)
    }
}

extension Filter {
    /// All steps in the condition that lead to other objects, from whatever object they start.
    fileprivate var hops: [SchemaProperty] {
        uses.flatMap { use in
            // The condition of a quantifier is about the objects at the end of its path.
            use.kind == .members && use.path.steps.last?.end != nil ? use.path.steps : use.path.hops
        }
    }
}

extension FilterPath {
    /// The steps that lead to other objects: a reference at the end is a value of the object before it.
    fileprivate var hops: [SchemaProperty] {
        Array(steps.dropLast(steps.last?.slot != nil ? 1 : 0))
    }
}

extension Query {
    /// The entities of the objects, other than the one at hand, on which condition and order depend, without
    /// their subentities.
    package var destinations: Set<EntityNumber> {
        let hops = filter.hops + sortings.flatMap(\.path.hops)
        return Set(hops.compactMap { $0.end?.destination })
    }
}
