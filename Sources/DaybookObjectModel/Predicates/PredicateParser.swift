// The room of predicates: Foundation's predicate language, read from text into a `Filter`.

extension Filter {
    /// Reads a predicate in Foundation's predicate language.
    ///
    /// Constants become values of the type of the property they are compared with: dates are
    /// written as ISO 8601 text, objects as `"Country/17"`. Inside `ANY members (…)` the condition
    /// is about the member, and `$1` is the outer object.
    ///
    /// - Parameters:
    ///   - text: The predicate, as in `lastName BEGINSWITH 'L' AND department.name == "R&D"`.
    ///   - entity: The entity of the objects.
    ///   - schema: The schema of that entity.
    ///   - arguments: The values of `%@` and, as the text of a key path, of `%K`.
    /// - Throws: ``QueryError`` with the column of the first mistake.
    package init(
        parsing text: String, for entity: SchemaEntity, in schema: Schema,
        arguments: [Value] = []
    ) throws(QueryError) {
        try self.init(
            parsing: text, for: entity, in: schema,
            predicateArguments: arguments.map { .value($0) })
    }

    /// Reads a predicate whose arguments may be lists.
    package init(
        parsing text: String, for entity: SchemaEntity, in schema: Schema,
        predicateArguments: [PredicateArgument]
    ) throws(QueryError) {
        try self.init(
            parsing: text, for: entity, naming: PredicateNames(in: schema),
            predicateArguments: predicateArguments)
    }

    /// Reads a predicate with the given meaning of names.
    package init(
        parsing text: String, for entity: SchemaEntity, naming names: PredicateNames,
        predicateArguments: [PredicateArgument]
    ) throws(QueryError) {
        var parser = PredicateParser(
            tokens: try PredicateLexer.tokens(of: text), names: names, scopes: [entity],
            arguments: predicateArguments)
        self = try parser.predicate()
    }
}

/// An argument for `%@` in a predicate.
package enum PredicateArgument: Sendable, Hashable {
    /// One value.
    case value(Value)
    /// Several values after `IN` or `BETWEEN`; elsewhere the coded value that they form together,
    /// if any.
    case list([Value], coded: Value? = nil)
}

/// Reads predicates by recursive descent; each method reads the construct that it is named after.
struct PredicateParser {
    /// Deeper than real nesting, and shallow enough for the stack.
    private static let depthMaximum = 200

    let tokens: [PredicateToken]
    let names: PredicateNames
    /// The entities of the current object (last) and of the outer ones.
    var scopes: [SchemaEntity]
    var arguments: [PredicateArgument]
    var index = 0
    private var depth = 0
    private var nextArgument = 0

    init(
        tokens: [PredicateToken], names: PredicateNames, scopes: [SchemaEntity],
        arguments: [PredicateArgument]
    ) {
        self.tokens = tokens
        self.names = names
        self.scopes = scopes
        self.arguments = arguments
    }

    var schema: Schema { names.schema }

    var current: PredicateToken {
        tokens[index]
    }

    /// Skips the current word; the end is never skipped.
    mutating func advance() {
        if index + 1 < tokens.count { index += 1 }
    }

    mutating func predicate() throws(QueryError) -> Filter {
        if current.kind == .end {
            throw QueryError("The predicate is empty; TRUEPREDICATE finds everything.", at: 1)
        }
        let filter = try disjunction()
        guard current.kind == .end else {
            throw QueryError(
                "AND, OR or the end was expected, not \(current.description).", at: current.column)
        }
        guard nextArgument == arguments.count else {
            throw QueryError(
                "\(arguments.count) arguments were given, but the predicate uses \(nextArgument).")
        }
        return filter
    }

    private mutating func disjunction() throws(QueryError) -> Filter {
        depth += 1
        defer { depth -= 1 }
        try checkDepth()
        var filters = [try conjunction()]
        while accept(symbol: "||") || accept(keyword: "OR") { filters.append(try conjunction()) }
        return filters.count == 1 ? filters[0] : .or(filters)
    }

    private mutating func conjunction() throws(QueryError) -> Filter {
        var filters = [try negation()]
        while accept(symbol: "&&") || accept(keyword: "AND") { filters.append(try negation()) }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    private mutating func negation() throws(QueryError) -> Filter {
        guard accept(symbol: "!") || accept(keyword: "NOT") else { return try primary() }
        depth += 1
        defer { depth -= 1 }
        try checkDepth()
        return .not(try negation())
    }

    private func checkDepth() throws(QueryError) {
        guard depth <= Self.depthMaximum else {
            throw QueryError(
                "The predicate is nested deeper than \(Self.depthMaximum) levels.",
                at: current.column)
        }
    }

    private mutating func primary() throws(QueryError) -> Filter {
        if accept(symbol: "(") { return try closed(try disjunction()) }
        if accept(keyword: "TRUEPREDICATE") { return .constant(true) }
        if accept(keyword: "FALSEPREDICATE") { return .constant(false) }
        for (keyword, quantifier) in Self.quantifiers where accept(keyword: keyword) {
            return try quantified(quantifier)
        }
        return try comparison(try operand(), nil)
    }

    private static let quantifiers: [(String, FilterQuantifier)] = [
        ("ANY", .any), ("SOME", .any), ("ALL", .all), ("NONE", .none),
    ]

    private mutating func closed(_ filter: Filter) throws(QueryError) -> Filter {
        guard accept(symbol: ")") else {
            throw QueryError("')' was expected, not \(current.description).", at: current.column)
        }
        return filter
    }

    private mutating func quantified(
        _ quantifier: FilterQuantifier
    ) throws(QueryError) -> Filter {
        let left = try operand()
        guard let path = left.path, path.isToMany else {
            throw QueryError(
                "\(quantifier.rawValue) needs a path through a to-many relationship.",
                at: left.column)
        }
        guard current.kind == .symbol("(") else { return try comparison(left, quantifier) }
        guard let destination = path.entity else {
            throw QueryError(
                "Only a path that ends at objects can be followed by a condition in parentheses.",
                at: current.column)
        }
        advance()
        scopes.append(destination)
        let filter = try closed(try disjunction())
        scopes.removeLast()
        return .quantified(quantifier, path.path, filter)
    }

    // MARK: - Operands

    mutating func operand() throws(QueryError) -> PredicateOperand {
        let token = current
        switch token.kind {
        case .number(let text): return literal(.number(text))
        case .text(let text): return literal(.text(text))
        case .argument:
            advance()
            switch try argument(at: token.column) {
            case .value(let value):
                return PredicateOperand(kind: .literal(.value(value)), column: token.column)
            case .list(let values, let coded):
                let operands = values.map {
                    PredicateOperand(kind: .literal(.value($0)), column: token.column)
                }
                return PredicateOperand(
                    kind: .list(operands, coded: coded), column: token.column)
            }
        case .symbol("{"):
            depth += 1
            defer { depth -= 1 }
            try checkDepth()
            advance()
            return try list(closedBy: "}", token.column)
        case .word(let word, isEscaped: false):
            switch word.uppercased() {
            case "NIL", "NULL": return literal(.null)
            case "TRUE", "YES": return literal(.bool(true))
            case "FALSE", "NO": return literal(.bool(false))
            case "SUBQUERY", "CAST", "FUNCTION", "TERNARY":
                throw QueryError(
                    "'\(word)' is not supported; a condition on members is written "
                        + "ANY members (condition).", at: token.column)
            default: return try path()
            }
        case .word, .nameArgument, .outer: return try path()
        default:
            throw QueryError(
                "A property or a constant was expected, not \(token.description).",
                at: token.column)
        }
    }

    mutating func list(
        closedBy symbol: String, _ column: Int
    ) throws(QueryError) -> PredicateOperand {
        var operands: [PredicateOperand] = []
        while current.kind != .symbol(symbol) {
            operands.append(try operand())
            guard accept(symbol: ",") || current.kind == .symbol(symbol) else {
                throw QueryError(
                    "',' or '\(symbol)' was expected, not \(current.description).",
                    at: current.column)
            }
        }
        advance()
        return PredicateOperand(kind: .list(operands, coded: nil), column: column)
    }

    private mutating func literal(_ literal: PredicateLiteral) -> PredicateOperand {
        let column = current.column
        advance()
        return PredicateOperand(kind: .literal(literal), column: column)
    }

    mutating func argument(at column: Int) throws(QueryError) -> PredicateArgument {
        guard nextArgument < arguments.count else {
            throw QueryError(
                "There is no argument for this: \(arguments.count) were given.", at: column)
        }
        nextArgument += 1
        return arguments[nextArgument - 1]
    }

    // MARK: - Words

    mutating func accept(symbol: String) -> Bool {
        guard current.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func accept(keyword: String) -> Bool {
        guard current.isKeyword(keyword) else { return false }
        advance()
        return true
    }
}

extension PredicateToken {
    /// The keywords, unless preceded by `#`.
    static let keywords: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "BETWEEN", "LIKE", "MATCHES",
        "CONTAINS", "BEGINSWITH", "ENDSWITH", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF",
        "TRUEPREDICATE", "FALSEPREDICATE", "SUBQUERY", "CAST", "FUNCTION", "TERNARY",
    ]

    func isKeyword(_ keyword: String) -> Bool {
        guard case .word(let word, isEscaped: false) = kind else { return false }
        return word.count == keyword.count && word.uppercased() == keyword
    }
}
