extension PredicateParser {
    private enum Relation {
        case comparison(FilterOperator)
        case between
        case membership
    }

    private static let symbols: [(String, FilterOperator)] = [
        ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
        ("=<", .lessOrEqual), (">=", .greaterOrEqual), ("=>", .greaterOrEqual), ("<", .less),
        (">", .greater),
    ]

    /// The rest of a comparison after its left side.
    mutating func comparison(
        _ left: PredicateOperand, _ quantifier: FilterQuantifier?
    ) throws(QueryError) -> Filter {
        let token = current
        let isNegated = accept(keyword: "NOT")
        if let change = try change(of: left, quantifier) {
            return isNegated ? .not(change) : change
        }
        guard let relation = try relation() else {
            if !isNegated, let filter = truth(of: left, quantifier) { return filter }
            throw QueryError(
                "An operator such as '==' or BEGINSWITH was expected, not \(token.description)"
                    + token.operatorSuggestion, at: token.column)
        }
        let options = try options()
        let filter: Filter
        switch relation {
        case .comparison(let `operator`):
            let right = try operand()
            filter = try compare(left, `operator`, right, options, quantifier, token.column)
        case .between: filter = try between(left, quantifier)
        case .membership: filter = try membership(left, options, quantifier)
        }
        return isNegated ? .not(filter) : filter
    }

    private mutating func relation() throws(QueryError) -> Relation? {
        for (symbol, `operator`) in Self.symbols where accept(symbol: symbol) {
            return .comparison(`operator`)
        }
        for `operator` in FilterOperator.allCases
        where `operator`.isTextual && accept(keyword: `operator`.rawValue) {
            return .comparison(`operator`)
        }
        if accept(keyword: "BETWEEN") { return .between }
        return accept(keyword: "IN") ? .membership : nil
    }

    private mutating func options() throws(QueryError) -> TextOptions {
        guard accept(symbol: "[") else { return [] }
        let token = current
        guard case .word(let letters, _) = token.kind, !letters.isEmpty,
            letters.allSatisfy({ "cdnCDN".contains($0) })
        else {
            throw QueryError(
                "[c], [d], [cd] or [n] was expected, not \(token.description)"
                    + token.languageRemark, at: token.column)
        }
        if letters.lowercased().contains("n"), letters.count > 1 {
            throw QueryError(
                "[n] compares texts as they are, and \(token.description) asks for something else "
                    + "too.", at: token.column)
        }
        advance()
        guard accept(symbol: "]") else {
            throw QueryError("']' was expected, not \(current.description).", at: current.column)
        }
        var options: TextOptions = []
        if letters.lowercased().contains("c") { options.insert(.caseInsensitive) }
        if letters.lowercased().contains("d") { options.insert(.diacriticInsensitive) }
        return options
    }

    /// `isActive` alone means `isActive == TRUE`.
    private func truth(
        of operand: PredicateOperand, _ quantifier: FilterQuantifier?
    ) -> Filter? {
        guard let path = operand.path, path.path.steps.last?.attribute?.type == .bool,
            path.aggregate == nil
        else { return nil }
        guard path.isToMany == (quantifier != nil) else { return nil }
        return path.quantified(quantifier) { expression, _ in
            .comparison(FilterComparison(expression, .equal, .constant(.bool(true))))
        }
    }

    private func compare(
        _ left: PredicateOperand, _ operator: FilterOperator, _ right: PredicateOperand,
        _ options: TextOptions, _ quantifier: FilterQuantifier?, _ column: Int
    ) throws(QueryError) -> Filter {
        var quantifier = quantifier
        var `operator` = `operator`
        // `employees CONTAINS ada` asks for a member, not for text.
        if `operator` == .contains, quantifier == nil, let path = left.path, path.isToMany,
            path.entity != nil
        {
            (quantifier, `operator`) = (.any, .equal)
        }
        try check(left, quantifier)
        try check(right, nil)
        if `operator`.isTextual {
            try checkText(left, `operator`)
            try checkText(right, `operator`)
        }
        let leftType = `operator`.isTextual ? PredicateType.text(right.type) : right.type
        let rightType = `operator`.isTextual ? PredicateType.text(left.type) : left.type
        let other = try right.expression(for: rightType, with: names)
        if `operator` == .matches, case .constant(.string(let pattern)) = other,
            TextPattern.expression(pattern, options) == nil
        {
            throw QueryError("\"\(pattern)\" is not a regular expression.", at: right.column)
        }
        guard let path = left.path else {
            let expression = try left.expression(for: leftType, with: names)
            return .comparison(FilterComparison(expression, `operator`, other, options))
        }
        return path.quantified(quantifier) { expression, depth in
            FilterComparison(expression, `operator`, other.fromInside(depth), options).asFilter
        }
    }

    private mutating func between(
        _ left: PredicateOperand, _ quantifier: FilterQuantifier?
    ) throws(QueryError) -> Filter {
        try check(left, quantifier)
        let right = try operand()
        guard case .list(let bounds, _) = right.kind, bounds.count == 2 else {
            throw QueryError(
                "Two values in braces must follow BETWEEN, as in BETWEEN {1, 9}.",
                at: right.column)
        }
        for bound in bounds { try check(bound, nil) }
        let lower = try bounds[0].expression(for: left.type, with: names)
        let upper = try bounds[1].expression(for: left.type, with: names)
        guard let path = left.path else {
            let type = bounds[0].path == nil ? bounds[1].type : bounds[0].type
            return .between(try left.expression(for: type, with: names), lower, upper)
        }
        return path.quantified(quantifier) { expression, depth in
            .between(expression, lower.fromInside(depth), upper.fromInside(depth))
        }
    }

    private mutating func membership(
        _ left: PredicateOperand, _ options: TextOptions, _ quantifier: FilterQuantifier?
    ) throws(QueryError) -> Filter {
        try check(left, quantifier)
        let column = current.column
        let right = accept(symbol: "(") ? try list(closedBy: ")", column) : try operand()
        switch right.kind {
        case .list(let operands, _):
            let type = left.path == nil ? operands.lazy.map(\.type).known : left.type
            var others: [FilterExpression] = []
            for operand in operands {
                try check(operand, nil)
                others.append(try operand.expression(for: type, with: names))
            }
            let expression = try left.expression(for: type, with: names)
            guard let path = left.path else {
                return Self.membership(expression, others, options)
            }
            return path.quantified(quantifier) { expression, depth in
                Self.membership(expression, others.map { $0.fromInside(depth) }, options)
            }
        case .path(let path) where path.isToMany:
            // `x IN employees.name`: one of them is x.
            guard quantifier == nil else {
                throw QueryError(
                    "A quantifier cannot stand before IN with a to-many path after it.",
                    at: column)
            }
            let expression = try left.expression(for: path.type, with: names)
            return path.quantified(.any) { member, depth in
                .comparison(
                    FilterComparison(member, .equal, expression.fromInside(depth), options))
            }
        default:
            throw QueryError(
                "A list such as {1, 2} or a path through a to-many relationship must follow IN.",
                at: column)
        }
    }

    private static func membership(
        _ expression: FilterExpression, _ others: [FilterExpression], _ options: TextOptions
    ) -> Filter {
        let constants = others.compactMap(\.constant)
        guard constants.count < others.count else {
            return .membership(expression, FilterValues(constants), options)
        }
        let filters = others.map {
            Filter.comparison(FilterComparison(expression, .equal, $0, options))
        }
        return filters.count == 1 ? filters[0] : .or(filters)
    }

    /// Checks that a to-many path has a quantifier.
    func check(
        _ operand: PredicateOperand, _ quantifier: FilterQuantifier?
    ) throws(QueryError) {
        guard let path = operand.path, path.isToMany, quantifier == nil else { return }
        throw QueryError(
            "'\(path.text)' leads to many objects; write ANY, ALL or NONE before the comparison, "
                + "or '@count' after the path.", at: operand.column)
    }

    private func checkText(
        _ operand: PredicateOperand, _ operator: FilterOperator
    ) throws(QueryError) {
        switch operand.type {
        case .attribute(.string, _), .attribute(.url, _), .unknown: return
        case .attribute(let type, let name):
            throw QueryError(
                "'\(name)' is \(type.noun); \(`operator`.rawValue) compares text.",
                at: operand.column)
        case .object(_, let name):
            throw QueryError(
                "'\(name)' is an object; \(`operator`.rawValue) compares text.",
                at: operand.column)
        }
    }
}

extension PredicateType {
    /// The type of constants of a text operator, named after the other side.
    fileprivate static func text(_ other: PredicateType) -> PredicateType {
        if case .attribute(_, let name) = other { .attribute(.string, name) } else { .unknown }
    }
}

extension Sequence<PredicateType> {
    fileprivate var known: PredicateType {
        first { if case .unknown = $0 { false } else { true } } ?? .unknown
    }
}

extension FilterExpression {
    fileprivate func fromInside(_ depth: Int) -> FilterExpression {
        (0..<depth).reduce(self) { expression, _ in expression.fromInside }
    }
}

extension PredicatePath {
    /// Wraps a condition on the end of the path into a quantifier for each to-many step.
    ///
    /// The quantifier is nil for a path without to-many steps; `condition` gets the number of
    /// quantifiers around it.
    func quantified(
        _ quantifier: FilterQuantifier?, _ condition: (FilterExpression, Int) -> Filter
    ) -> Filter {
        guard let quantifier, isToMany else { return condition(expression, 0) }
        var heads: [FilterPath] = []
        var rest = FilterPath([], scope: path.scope)
        for step in path.steps {
            rest.steps.append(step)
            if step.relationship?.isToMany == true {
                heads.append(rest)
                rest = FilterPath()
            }
        }
        var filter = condition(.path(rest), heads.count)
        for (index, head) in heads.enumerated().reversed() {
            // None of all the values: none of the first members has any.
            let outer = index == 0 ? quantifier : quantifier == .none ? .any : quantifier
            filter = .quantified(outer, head, filter)
        }
        return filter
    }
}

extension PredicateToken {
    /// Why the rules of a language are no option.
    fileprivate var languageRemark: String {
        guard case .word(let letters, _) = kind, letters.lowercased().contains("l") else {
            return "."
        }
        return ": the rules of the user's language, [l], would have a store answer differently on "
            + "another machine."
    }

    fileprivate var operatorSuggestion: String {
        guard case .word(let word, isEscaped: false) = kind else { return "." }
        let names = FilterOperator.allCases.filter(\.isTextual).map(\.rawValue)
        let changes = FilterChange.Direction.allCases.map(\.rawValue)
        let suggestion = word.suggestion(among: names + ["BETWEEN", "IN"] + changes)
        return suggestion.isEmpty ? "." : suggestion
    }
}
