import DaybookObjectModel
import Foundation

// Values that a Foundation predicate works out.

extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let function: FilterFunction
        switch op {
        case .add: function = .add
        case .subtract: function = .subtract
        case .multiply: function = .multiply
        @unknown default: throw NotLowerable(expression: "\(op)")
        }
        return try compute(function, lhs, rhs, scope)
    }
}

extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .expression(.computed(.negate, [try loweredValue(of: wrapped, scope)]))
    }
}

extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compute(.divide, lhs, rhs, scope)
    }
}

extension PredicateExpressions.IntRemainder: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compute(.modulus, lhs, rhs, scope)
    }
}

extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compute(.divide, lhs, rhs, scope)
    }
}

private func compute(
    _ function: FilterFunction, _ left: Any, _ right: Any, _ scope: LoweringScope
) throws -> Lowered {
    .expression(
        .computed(
            function, [try loweredValue(of: left, scope), try loweredValue(of: right, scope)]))
}

extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let test = try loweredFilter(of: test, scope)
        if case .filter(let first) = try lower(trueBranch, scope) {
            let second = try loweredFilter(of: falseBranch, scope)
            return .filter(.or([.and([test, first]), .and([.not(test), second])]))
        }
        return .expression(
            .conditional(
                test, try loweredValue(of: trueBranch, scope),
                try loweredValue(of: falseBranch, scope)))
    }
}

extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let value = try loweredValue(of: lhs, scope)
        let isNull = Filter.comparison(FilterComparison(value, .equal, .constant(.null)))
        return .expression(.conditional(isNull, try loweredValue(of: rhs, scope), value))
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        guard case .path(let path, let entity) = try lower(sequence, scope), path.isToMany else {
            throw NotLowerable(expression: String(describing: type(of: sequence)))
        }
        let condition = try loweredFilter(of: filter, scope.entering(variable.key, entity))
        return .members(path, condition, entity)
    }
}

// MARK: - Ranges

extension PredicateExpressions.ClosedRange: LowerableRange {
    func bounds(_ scope: LoweringScope) throws -> LoweredBounds {
        LoweredBounds(
            lower: try loweredValue(of: lower, scope), upper: try loweredValue(of: upper, scope),
            isClosed: true)
    }
}

extension PredicateExpressions.Range: LowerableRange {
    func bounds(_ scope: LoweringScope) throws -> LoweredBounds {
        LoweredBounds(
            lower: try loweredValue(of: lower, scope), upper: try loweredValue(of: upper, scope),
            isClosed: false)
    }
}

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let bounds: LoweredBounds
        switch range {
        case let range as any LowerableRange: bounds = try range.bounds(scope)
        case let constant as any ConstantExpression:
            guard let range = constant.constant as? any ConstantRange else {
                throw NotLowerable(expression: String(describing: type(of: range)))
            }
            bounds = try range.bounds(scope)
        default: throw NotLowerable(expression: String(describing: type(of: range)))
        }
        let value = try loweredValue(of: element, scope)
        guard !bounds.isClosed else {
            return .filter(.between(value, bounds.lower, bounds.upper))
        }
        return .filter(
            .and([
                .comparison(FilterComparison(value, .greaterOrEqual, bounds.lower)),
                .comparison(FilterComparison(value, .less, bounds.upper)),
            ]))
    }
}

/// The ends of a range.
struct LoweredBounds {
    let lower: FilterExpression
    let upper: FilterExpression
    let isClosed: Bool
}

/// A range that is made in the predicate.
private protocol LowerableRange {
    func bounds(_ scope: LoweringScope) throws -> LoweredBounds
}

/// A value that was made before the predicate.
private protocol ConstantExpression {
    var constant: Any { get }
}

extension PredicateExpressions.Value: ConstantExpression {
    var constant: Any { value }
}

private protocol ConstantRange {
    var ends: (lower: Any, upper: Any) { get }
    var isClosed: Bool { get }
}

extension ConstantRange {
    func bounds(_ scope: LoweringScope) throws -> LoweredBounds {
        guard let lower = ConditionArgument(ends.lower).constant(for: scope.target),
            let upper = ConditionArgument(ends.upper).constant(for: scope.target)
        else { throw NotLowerable(expression: "a range of type \(Self.self)") }
        return LoweredBounds(
            lower: .constant(lower), upper: .constant(upper), isClosed: isClosed)
    }
}

extension ClosedRange: ConstantRange {
    fileprivate var ends: (lower: Any, upper: Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { true }
}

extension Range: ConstantRange {
    fileprivate var ends: (lower: Any, upper: Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { false }
}
