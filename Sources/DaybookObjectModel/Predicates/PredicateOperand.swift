/// A resolved key path of a predicate.
struct PredicatePath {
    var path: FilterPath
    var aggregate: FilterAggregate?
    /// The entity at the end; nil after an attribute.
    var entity: SchemaEntity?
    /// The path as written.
    var text: String
    /// The composite attribute whose element is to follow.
    var composite: String?

    var expression: FilterExpression {
        aggregate.map { .aggregate($0, path) } ?? .path(path)
    }

    /// Whether a condition on it needs a quantifier.
    var isToMany: Bool {
        aggregate == nil && path.isToMany
    }

    /// The type of constants that can be compared with it.
    var type: PredicateType {
        let attribute = path.steps.last?.attribute?.type
        switch aggregate {
        case .count: return .attribute(.int64, text)
        case .average: return .attribute(attribute == .decimal ? .decimal : .double, text)
        case .sum where attribute == .int16 || attribute == .int32:
            return .attribute(.int64, text)
        case .sum where attribute == .float: return .attribute(.double, text)
        default:
            if let attribute { return .attribute(attribute, text) }
            return entity.map { .object($0, text) } ?? .unknown
        }
    }
}

/// The type of the other side of a constant.
enum PredicateType {
    case attribute(AttributeType, String)
    case object(SchemaEntity, String)
    case unknown
}

/// A constant whose other side is not known yet.
enum PredicateLiteral {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    case value(Value)
}

/// One side of a comparison and its location.
struct PredicateOperand {
    enum Kind {
        case literal(PredicateLiteral)
        case path(PredicatePath)
        case list([PredicateOperand], coded: Value?)
    }

    var kind: Kind
    var column: Int

    var path: PredicatePath? {
        if case .path(let path) = kind { path } else { nil }
    }

    var type: PredicateType {
        path?.type ?? .unknown
    }

    /// The operand as an expression, with a constant converted to `type`.
    func expression(
        for type: PredicateType, with names: PredicateNames
    ) throws(QueryError) -> FilterExpression {
        switch kind {
        case .literal(let literal):
            return .constant(try literal.value(for: type, with: names, at: column))
        case .path(let path): return path.expression
        case .list(_, let coded):
            if let coded, case .attribute(.codable, _) = type { return .constant(coded.normalized) }
            throw QueryError("A list can stand only after IN and BETWEEN.", at: column)
        }
    }
}
