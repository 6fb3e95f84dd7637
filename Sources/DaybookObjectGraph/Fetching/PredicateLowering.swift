import DaybookObjectModel
import Foundation

/// Why a Foundation predicate has no filter: the expression that no filter can represent.
struct NotLowerable: Error {
    let expression: String
}

/// What an expression of a Foundation predicate is lowered to.
enum Lowered {
    case filter(Filter)
    case expression(FilterExpression)
    /// Several constants, to search in.
    case values([Value])
    /// The objects at the end of a path, and their entity.
    case path(FilterPath, GraphEntity)
    /// Those objects at the end of a path that meet a condition, and their entity.
    case members(FilterPath, Filter, GraphEntity)
    /// A composite attribute of the object at the end of a path, and what is in it.
    case composite(FilterPath, GraphEntity, [CompositeElementPath])
    /// Nil, where a comparison expects a value.
    case null
}

/// The variables of a predicate: the object that each stands for.
struct LoweringScope {
    let target: QueryTarget
    private var bindings: [PredicateExpressions.VariableID: Binding]

    /// What a variable stands for: an object, or a composite attribute of it.
    struct Binding {
        var path: FilterPath
        let entity: GraphEntity
        var elements: [CompositeElementPath] = []
    }

    init(_ target: QueryTarget) {
        self.target = target
        bindings = [:]
    }

    var model: GraphModel { target.model }

    subscript(variable: PredicateExpressions.VariableID) -> Binding? { bindings[variable] }

    /// The same scope with a variable for the object at the end of a path.
    func binding(
        _ variable: PredicateExpressions.VariableID, to path: FilterPath, _ entity: GraphEntity,
        _ elements: [CompositeElementPath] = []
    ) -> LoweringScope {
        var scope = self
        scope.bindings[variable] = Binding(path: path, entity: entity, elements: elements)
        return scope
    }

    /// The scope inside a quantifier: its variable is the current object, the others lie one further
    /// out.
    func entering(
        _ variable: PredicateExpressions.VariableID, _ entity: GraphEntity
    ) -> LoweringScope {
        var scope = self
        for (other, binding) in bindings {
            scope.bindings[other]?.path = binding.path.fromInside
        }
        scope.bindings[variable] = Binding(path: FilterPath(), entity: entity)
        return scope
    }
}

/// An expression of a Foundation predicate that a filter can represent.
///
/// The types of the expressions tell the shape of the predicate, so each type lowers itself.
protocol LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered
}

extension Predicate {
    /// Lowers a predicate about objects of an entity.
    ///
    /// - Throws: ``NotLowerable`` when an expression has no counterpart; the predicate can then only
    ///   be evaluated on objects in memory.
    func lowered(about entity: GraphEntity, for target: QueryTarget) throws -> Filter {
        var ids: [PredicateExpressions.VariableID] = []
        for id in repeat (each variable).key { ids.append(id) }
        var scope = LoweringScope(target)
        for id in ids { scope = scope.binding(id, to: FilterPath(), entity) }
        return try loweredFilter(of: expression, scope)
    }
}

func lower(_ expression: Any, _ scope: LoweringScope) throws -> Lowered {
    guard let lowerable = expression as? any LowerableExpression else {
        throw NotLowerable(expression: String(describing: type(of: expression)))
    }
    return try lowerable.lowered(scope)
}

func loweredFilter(of expression: Any, _ scope: LoweringScope) throws -> Filter {
    switch try lower(expression, scope) {
    case .filter(let filter):
        return filter
    case .expression(let value):
        // A Boolean attribute by itself.
        return .comparison(FilterComparison(value, .equal, .constant(.bool(true))))
    default:
        throw NotLowerable(expression: String(describing: type(of: expression)))
    }
}

func loweredValue(of expression: Any, _ scope: LoweringScope) throws -> FilterExpression {
    switch try lower(expression, scope) {
    case .expression(let value): return value
    case .null: return .constant(.null)
    case .path(let path, _): return .path(path)
    default: throw NotLowerable(expression: String(describing: type(of: expression)))
    }
}

private func compare(
    _ left: Any, _ operator: FilterOperator, _ right: Any, _ scope: LoweringScope
) throws -> Lowered {
    .filter(
        .comparison(
            FilterComparison(
                try loweredValue(of: left, scope), `operator`, try loweredValue(of: right, scope))))
}

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        guard let binding = scope[key] else { throw NotLowerable(expression: "a variable") }
        return binding.elements.isEmpty
            ? .path(binding.path, binding.entity)
            : .composite(binding.path, binding.entity, binding.elements)
    }
}

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let argument = ConditionArgument(value)
        if let constant = argument.constant(for: scope.target) {
            return .expression(.constant(constant))
        }
        guard case .list(let arguments, _) = argument else {
            throw NotLowerable(expression: "a value of type \(Output.self)")
        }
        let values = arguments.compactMap { $0.constant(for: scope.target) }
        guard values.count == arguments.count else {
            throw NotLowerable(expression: "a list of type \(Output.self)")
        }
        return .values(values)
    }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered { .null }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let path: FilterPath
        let entity: GraphEntity
        switch try lower(root, scope) {
        case .path(let objects, let destination): (path, entity) = (objects, destination)
        case .members(let path, let condition, _):
            return try Self.lowered(kind, of: path, where: condition, "\(keyPath)")
        case .expression(let text) where Root.Output.self == String.self:
            return try Self.lowered(kind, of: text, "\(keyPath)")
        case .composite(let path, let entity, let elements):
            guard
                let meaning = KeyPathProbe.meaning(
                    of: KeyPathStep.properties(of: keyPath), among: elements, after: [])
            else { throw NotLowerable(expression: "\(keyPath)") }
            return try entity.lowered(meaning, after: path, "\(keyPath)", scope)
        default: throw NotLowerable(expression: "\(keyPath)")
        }
        switch kind {
        case .collectionCount where path.isToMany:
            return .expression(.aggregate(.count, path))
        case .collectionIsEmpty where path.isToMany:
            return .filter(
                .comparison(
                    FilterComparison(.aggregate(.count, path), .equal, .constant(.int(0)))))
        default: break
        }
        return try entity.lowered(
            entity.meaning(of: keyPath), after: path, "\(keyPath)", scope)
    }

    /// How many of the members there are, or whether there is none.
    private static func lowered(
        _ kind: PredicateExpressions.KeyPath<Root, Output>.CommonKeyPathKind?,
        of path: FilterPath, where condition: Filter, _ expression: String
    ) throws -> Lowered {
        switch kind {
        case .collectionCount:
            return .expression(.subquery(FilterSubquery(path, where: condition, .count)))
        case .collectionIsEmpty: return .filter(.quantified(.none, path, condition))
        default: throw NotLowerable(expression: expression)
        }
    }

    /// How long a text is, or whether it is empty.
    private static func lowered(
        _ kind: PredicateExpressions.KeyPath<Root, Output>.CommonKeyPathKind?,
        of text: FilterExpression, _ expression: String
    ) throws -> Lowered {
        switch kind {
        case .collectionCount: return .expression(.computed(.length, [text]))
        case .collectionIsEmpty:
            return .filter(
                .comparison(FilterComparison(text, .equal, .constant(.string("")))))
        default: throw NotLowerable(expression: expression)
        }
    }
}

extension GraphEntity {
    /// What a key path leads to from the objects at the end of a path.
    fileprivate func lowered(
        _ meaning: KeyPathMeaning, after path: FilterPath, _ expression: String,
        _ scope: LoweringScope
    ) throws -> Lowered {
        let names: [String]
        switch meaning {
        case .properties(let found), .identifier(after: let found), .composite(after: let found, _):
            names = found
        case .computed: throw NotLowerable(expression: expression)
        }
        let steps = try filterPath(named: names, in: scope.model.schema).steps
        let whole = FilterPath(path.steps + steps, scope: path.scope)
        let destination = steps.last.map { $0.end?.destination } ?? schema.number
        switch meaning {
        case .composite(_, let elements):
            guard let destination else { throw NotLowerable(expression: expression) }
            return .composite(whole, scope.model.entity(destination), elements)
        case .properties:
            guard let destination else { return .expression(.path(whole)) }
            return .path(whole, scope.model.entity(destination))
        case .identifier, .computed: return .expression(.path(whole))
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        switch try lower(wrapped, scope) {
        case .path(let path, let entity):
            let lowered = try lower(transform, scope.binding(variable.key, to: path, entity))
            guard case .expression(let value) = lowered else { return lowered }
            if case .path = value { return lowered }
            // A path without an object is null by itself; a count over it would be 0.
            let isNull = FilterComparison(.path(path), .equal, .constant(.null))
            return .expression(.conditional(.comparison(isNull), .constant(.null), value))
        case .composite(let path, let entity, let elements):
            return try lower(transform, scope.binding(variable.key, to: path, entity, elements))
        default: throw NotLowerable(expression: "an optional chain")
        }
    }
}

extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered { try compare(lhs, .equal, rhs, scope) }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compare(lhs, .notEqual, rhs, scope)
    }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let comparison: FilterOperator
        switch op {
        case .lessThan: comparison = .less
        case .lessThanOrEqual: comparison = .lessOrEqual
        case .greaterThan: comparison = .greater
        case .greaterThanOrEqual: comparison = .greaterOrEqual
        @unknown default: throw NotLowerable(expression: "\(op)")
        }
        return try compare(lhs, comparison, rhs, scope)
    }
}

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .filter(.and([try loweredFilter(of: lhs, scope), try loweredFilter(of: rhs, scope)]))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .filter(.or([try loweredFilter(of: lhs, scope), try loweredFilter(of: rhs, scope)]))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .filter(.not(try loweredFilter(of: wrapped, scope)))
    }
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compare(base, .beginsWith, prefix, scope)
    }
}

extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        try compare(base, .contains, other, scope)
    }
}

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        let sought = try loweredValue(of: element, scope)
        switch try lower(sequence, scope) {
        case .values(let values):
            return .filter(.membership(sought, FilterValues(values), []))
        case .path(let path, _) where path.isToMany:
            guard case .constant = sought else { break }
            return .filter(
                .quantified(
                    .any, path, .comparison(FilterComparison(.object, .equal, sought))))
        default: break
        }
        throw NotLowerable(expression: String(describing: type(of: self)))
    }
}

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .filter(try quantify(.any, sequence, variable.key, test, scope))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ scope: LoweringScope) throws -> Lowered {
        .filter(try quantify(.all, sequence, variable.key, test, scope))
    }
}

private func quantify(
    _ quantifier: FilterQuantifier, _ sequence: Any, _ variable: PredicateExpressions.VariableID,
    _ test: Any, _ scope: LoweringScope
) throws -> Filter {
    switch try lower(sequence, scope) {
    case .path(let path, let entity) where path.isToMany:
        return .quantified(
            quantifier, path, try loweredFilter(of: test, scope.entering(variable, entity)))
    case .members(let path, let condition, let entity):
        let inner = try loweredFilter(of: test, scope.entering(variable, entity))
        // All that meet the first condition meet the second: each fails the first or meets the second.
        return .quantified(
            quantifier, path,
            quantifier == .all ? .or([.not(condition), inner]) : .and([condition, inner]))
    default: throw NotLowerable(expression: String(describing: type(of: sequence)))
    }
}
