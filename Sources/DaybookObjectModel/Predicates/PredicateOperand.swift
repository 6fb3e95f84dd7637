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
    /// The members of which the path is one from each, in a subquery.
    var members: PredicateMembers?

    var expression: FilterExpression {
        guard let aggregate else { return .path(path) }
        guard let members else { return .aggregate(aggregate, path) }
        return .subquery(
            FilterSubquery(members.path, where: members.condition, aggregate, of: path))
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

/// Some of the objects at the end of a path.
struct PredicateMembers {
    let path: FilterPath
    let condition: Filter
}

/// A value that is worked out.
struct PredicateComputation {
    var expression: FilterExpression
    var type: PredicateType
    /// As it may be said in a message.
    var text: String
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
        case computation(PredicateComputation)
    }

    var kind: Kind
    var column: Int

    var path: PredicatePath? {
        if case .path(let path) = kind { path } else { nil }
    }

    var type: PredicateType {
        if case .computation(let computation) = kind { return computation.type }
        return path?.type ?? .unknown
    }

    /// The operand in a message.
    var text: String {
        switch kind {
        case .literal(let literal): literal.description
        case .path(let path): path.text
        case .list: "a list"
        case .computation(let computation): computation.text
        }
    }

    /// The operand as an expression, with a constant converted to `type`.
    func expression(
        for type: PredicateType, with names: PredicateNames
    ) throws(QueryError) -> FilterExpression {
        switch kind {
        case .literal(let literal):
            return .constant(try literal.value(for: type, with: names, at: column))
        case .path(let path): return path.expression
        case .computation(let computation): return computation.expression
        case .list(_, let coded):
            if let coded, case .attribute(.codable, _) = type { return .constant(coded.normalized) }
            throw QueryError("A list can stand only after IN and BETWEEN.", at: column)
        }
    }
}
