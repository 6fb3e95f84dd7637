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
            tokens: try PredicateLexer.tokens(of: text), names: names, about: entity,
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

/// An object that names in a predicate may be about.
struct PredicateScope {
    let entity: SchemaEntity
    /// The name of a subquery's member, whose properties are named after it: `$x.name`.
    var variable: String?
}

/// Reads predicates by recursive descent; each method reads the construct that it is named after.
struct PredicateParser {
    /// Deeper than real nesting, and shallow enough for the stack.
    private static let depthMaximum = 200

    let tokens: [PredicateToken]
    let names: PredicateNames
    /// The current object (last) and the outer ones.
    var scopes: [PredicateScope]
    var arguments: [PredicateArgument]
    var index = 0
    private var depth = 0
    private var nextArgument = 0
    private let closings: [Int: Int]
    /// The number of values that are worked out.
    var computations = 0

    init(
        tokens: [PredicateToken], names: PredicateNames, about entity: SchemaEntity,
        arguments: [PredicateArgument]
    ) {
        self.tokens = tokens
        self.names = names
        scopes = [PredicateScope(entity: entity)]
        self.arguments = arguments
        closings = Self.closings(of: tokens)
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

    mutating func disjunction() throws(QueryError) -> Filter {
        try enter()
        defer { leave() }
        var filters = [try conjunction()]
        while accept(symbol: "||") || accept(keyword: "OR") { filters.append(try conjunction()) }
        return filters.count == 1 ? filters[0] : .or(filters)
    }

    private mutating func conjunction() throws(QueryError) -> Filter {
        var filters = [try negation()]
        while accept(symbol: "&&") || accept(keyword: "AND") { filters.append(try negation()) }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    mutating func negation() throws(QueryError) -> Filter {
        guard accept(symbol: "!") || accept(keyword: "NOT") else { return try primary() }
        try enter()
        defer { leave() }
        return .not(try negation())
    }

    /// Begins a construct that may contain its like.
    mutating func enter() throws(QueryError) {
        depth += 1
        guard depth <= Self.depthMaximum else {
            throw QueryError(
                "The predicate is nested deeper than \(Self.depthMaximum) levels.",
                at: current.column)
        }
    }

    mutating func leave() { depth -= 1 }

    private mutating func primary() throws(QueryError) -> Filter {
        if current.kind == .symbol("("), !isValueInParentheses {
            advance()
            return try closed(try disjunction())
        }
        if accept(keyword: "TRUEPREDICATE") { return .constant(true) }
        if accept(keyword: "FALSEPREDICATE") { return .constant(false) }
        if let question = try pastStates() { return question }
        for (keyword, quantifier) in Self.quantifiers where accept(keyword: keyword) {
            return try quantified(quantifier)
        }
        return try comparison(try operand(), nil)
    }

    private static let quantifiers: [(String, FilterQuantifier)] = [
        ("ANY", .any), ("SOME", .any), ("ALL", .all), ("NONE", .none),
    ]

    /// Whether the parentheses that begin here are about a value: what follows them compares or computes.
    private var isValueInParentheses: Bool {
        closings[index].map { tokens[min($0 + 1, tokens.count - 1)].followsValue } ?? false
    }

    /// Where the parentheses that begin at a token end.
    private static func closings(of tokens: [PredicateToken]) -> [Int: Int] {
        var closings: [Int: Int] = [:]
        var open: [Int] = []
        for (index, token) in tokens.enumerated() {
            if token.kind == .symbol("(") { open.append(index) }
            if token.kind == .symbol(")"), let start = open.popLast() { closings[start] = index }
        }
        return closings
    }

    mutating func closed<Part>(_ part: Part) throws(QueryError) -> Part {
        guard accept(symbol: ")") else {
            throw QueryError("')' was expected, not \(current.description).", at: current.column)
        }
        return part
    }

    private mutating func quantified(
        _ quantifier: FilterQuantifier
    ) throws(QueryError) -> Filter {
        // Parentheses behind the path hold a condition, not arguments.
        let left = current.beginsPath ? try path() : try operand()
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
        scopes.append(PredicateScope(entity: destination))
        let filter = try closed(try disjunction())
        scopes.removeLast()
        return .quantified(quantifier, path.path, filter)
    }

    // MARK: - Words

    mutating func argument(at column: Int) throws(QueryError) -> PredicateArgument {
        guard nextArgument < arguments.count else {
            throw QueryError(
                "There is no argument for this: \(arguments.count) were given.", at: column)
        }
        nextArgument += 1
        return arguments[nextArgument - 1]
    }

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
        "EVER", "ALWAYS", "WAS",
    ]

    fileprivate var beginsPath: Bool {
        if case .word(let word, isEscaped: false) = kind {
            return !Self.keywords.contains(word.uppercased()) || isKeyword("SELF")
        }
        return false
    }

    /// Whether it compares the value before it, or computes with it.
    fileprivate var followsValue: Bool {
        switch kind {
        case .symbol(let symbol):
            ["==", "=<", "=>", "=", "!=", "<>", "<=", ">=", "<", ">", "+", "-", "*", "**", "/"]
                .contains(symbol)
        case .word(let word, isEscaped: false):
            ["NOT", "IN", "BETWEEN"].contains(word.uppercased())
                || FilterChange.Direction(rawValue: word.uppercased()) != nil
                || FilterOperator.allCases.contains {
                    $0.isTextual && $0.rawValue == word.uppercased()
                }
        // Behind a value a sign belongs to the number: see the lexer.
        default: false
        }
    }

    /// Whether a constant mostly stands behind it: a sign that compares, perhaps with its options, or the beginning of
    /// an element of a list.
    var precedesConstant: Bool {
        switch kind {
        case .symbol("{"), .symbol(","), .symbol("]"): true
        default: followsValue
        }
    }

    func isKeyword(_ keyword: String) -> Bool {
        guard case .word(let word, isEscaped: false) = kind else { return false }
        return word.count == keyword.count && word.uppercased() == keyword
    }
}
