extension PredicateParser {
    /// A key path: names separated by dots, perhaps after `SELF` or `$1`.
    mutating func path() throws(QueryError) -> PredicateOperand {
        let column = current.column
        var found = try start()
        try follow(&found)
        return try whole(found, at: column)
    }

    /// The path, if nothing is missing.
    func whole(
        _ found: PredicatePath, at column: Int
    ) throws(QueryError) -> PredicateOperand {
        try found.checkComposite(at: column)
        try found.checkAggregate(at: column)
        return PredicateOperand(kind: .path(found), column: column)
    }

    /// The names and the aggregate behind the beginning of a path.
    mutating func follow(_ found: inout PredicatePath) throws(QueryError) {
        while accept(symbol: ".") {
            let token = current
            switch token.kind {
            case .word(let name, _):
                advance()
                try found.append(name, schema, at: token.column)
            case .nameArgument:
                advance()
                for name in try names(at: token.column) {
                    try found.append(name, schema, at: token.column)
                }
            case .aggregate(let name):
                advance()
                try found.append(aggregate: name, at: token.column)
            default:
                throw QueryError(
                    "The name of a property must follow the dot, not \(token.description).",
                    at: token.column)
            }
        }
        // `members[SIZE]` is their number.
        let column = current.column
        guard found.isToMany, accept(symbol: "[") else { return }
        guard accept(keyword: "SIZE"), accept(symbol: "]") else {
            throw QueryError(
                "Only [SIZE] can follow a path to many objects, not \(current.description).",
                at: current.column)
        }
        try found.append(aggregate: FilterAggregate.count.rawValue, at: column)
    }

    private mutating func start() throws(QueryError) -> PredicatePath {
        let token = current
        let mayBeText = index > 0 && tokens[index - 1].precedesConstant
        advance()
        // Names are about the object at hand; in a subquery, which names its members, about the one outside.
        let own = scopes.lastIndex { $0.variable == nil } ?? 0
        var found = PredicatePath(
            path: FilterPath([], scope: scopes.count - 1 - own), aggregate: nil,
            entity: scopes[own].entity, text: "SELF")
        switch token.kind {
        case .outer(let depth):
            guard depth < scopes.count else {
                let enclosure = depth == 1 ? "a quantifier" : "\(depth) quantifiers"
                throw QueryError(
                    "'$\(depth)' can stand only inside \(enclosure).", at: token.column)
            }
            found.path.scope = depth
            found.entity = scopes[scopes.count - 1 - depth].entity
            found.text = "$\(depth)"
        case .variable(let name):
            guard let index = scopes.lastIndex(where: { $0.variable == name }) else {
                throw QueryError(
                    "Variables are not known here; write '%@' and hand over the value.",
                    at: token.column)
            }
            found.path.scope = scopes.count - 1 - index
            found.entity = scopes[index].entity
            found.text = "$\(name)"
        case .nameArgument:
            for name in try names(at: token.column) {
                try found.append(name, schema, at: token.column)
            }
        case .word(let word, isEscaped: false) where word.uppercased() == "SELF":
            guard names.columns == nil else {
                throw QueryError(
                    "A group is no object, so there is no SELF. Name one of its columns.",
                    at: token.column)
            }
        case .word(let word, isEscaped: false)
        where PredicateToken.keywords.contains(word.uppercased()):
            throw QueryError(
                "A property or a constant was expected, not '\(word)'; a property of that name is "
                    + "written '#\(word)'.", at: token.column)
        case .word(let word, _):
            if let columns = names.columns {
                return try self.column(word, columns, at: token.column)
            }
            if mayBeText, current.kind == .symbol("/"), found.entity?.property(named: word) == nil,
                schema.entity(named: word) != nil
            {
                throw QueryError(
                    "An object is written in quotes, as in '\(word)/17'.", at: token.column)
            }
            try found.append(word, schema, at: token.column, mayBeText: mayBeText)
        default:
            throw QueryError(
                "A property was expected, not \(token.description).", at: token.column)
        }
        return found
    }

    /// A column of a result: names separated by dots, or such in parentheses after a name.
    private mutating func column(
        _ first: String, _ columns: [SchemaProperty], at place: Int
    ) throws(QueryError) -> PredicatePath {
        var name = first
        let isAggregate = accept(symbol: "(")
        if isAggregate {
            name += "("
            try appendName(to: &name)
        }
        while accept(symbol: ".") {
            name += "."
            try appendName(to: &name)
        }
        if isAggregate {
            guard accept(symbol: ")") else {
                throw QueryError(
                    "')' was expected, not \(current.description).", at: current.column)
            }
            name += ")"
        }
        guard let property = columns.first(where: { $0.name == name }) else {
            let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw QueryError(
                "There is no column '\(name)' with values to compare; there are \(names).",
                at: place)
        }
        return PredicatePath(path: FilterPath([property]), aggregate: nil, entity: nil, text: name)
    }

    private mutating func appendName(to text: inout String) throws(QueryError) {
        guard case .word(let name, _) = current.kind else {
            throw QueryError(
                "The name of a property was expected, not \(current.description).",
                at: current.column)
        }
        advance()
        text += name
    }

    private mutating func names(at column: Int) throws(QueryError) -> [String] {
        guard case .value(.string(let text)) = try argument(at: column) else {
            throw QueryError("The argument for '%K' must be the text of a key path.", at: column)
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

extension PredicatePath {
    /// Longer paths could overflow the stack.
    private static var stepsMaximum: Int { 100 }

    /// Goes on to a property. A word that is none, where mostly a constant stands, is a text without its quotes.
    fileprivate mutating func append(
        _ name: String, _ schema: Schema, at column: Int, mayBeText: Bool = false
    ) throws(QueryError) {
        guard let entity else {
            throw QueryError(
                "'\(text)' is a value and has no properties.", at: column)
        }
        // What follows a path goes as deep as it is long.
        guard path.steps.count < Self.stepsMaximum else {
            throw QueryError(
                "A path has at most \(Self.stepsMaximum) steps.", at: column)
        }
        let name = composite.map { "\($0).\(name)" } ?? name
        if entity.isComposite(name) { return composite = name }
        composite = nil
        guard let property = entity.property(named: name) else {
            let suggestion = name.suggestion(among: entity.properties.map(\.name))
            throw QueryError(
                "'\(entity.name)' has no property '\(name)'"
                    + (suggestion.isEmpty ? "." : suggestion)
                    + (mayBeText ? " A text is written in quotes: '\(name)'." : ""), at: column)
        }
        path.steps.append(property)
        self.entity = property.end.flatMap { schema.entity($0.destination) }
        text = text == "SELF" ? name : "\(text).\(name)"
    }

    fileprivate mutating func append(aggregate name: String, at column: Int) throws(QueryError) {
        guard let aggregate = FilterAggregate(rawValue: name) else {
            let names = FilterAggregate.allCases.map(\.rawValue)
            throw QueryError(
                "'@\(name)' is not known; there are \(names.map { "@\($0)" }.joined(separator: ", "))"
                    + ".", at: column)
        }
        try checkComposite(at: column)
        guard self.aggregate == nil, path.isToMany || members != nil else {
            throw QueryError(
                "'@\(name)' needs one path through a to-many relationship before it.", at: column)
        }
        self.aggregate = aggregate
        text += ".@\(name)"
    }

    fileprivate func checkComposite(at column: Int) throws(QueryError) {
        guard let composite, let entity else { return }
        throw entity.elementMissing(of: composite, at: column)
    }

    fileprivate func checkAggregate(at column: Int) throws(QueryError) {
        let type = path.steps.last?.attribute?.type
        switch aggregate {
        case nil, .count: return
        case .minimum, .maximum:
            guard type == nil else { return }
            throw QueryError("'\(text)' must end at an attribute.", at: column)
        case .sum, .average:
            switch type {
            case .int16, .int32, .int64, .float, .double, .decimal: return
            default: throw QueryError("'\(text)' must end at an attribute of numbers.", at: column)
            }
        }
    }
}
