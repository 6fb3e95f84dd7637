// Questions about the past: EVER, ALWAYS, WAS … AT, and what CHANGED, INCREASED or DECREASED.

extension PredicateParser {
    /// A question about the states of the object, if one begins here.
    mutating func pastStates() throws(QueryError) -> Filter? {
        let column = current.column
        if accept(keyword: "EVER") {
            return .past(FilterPath(), .ever(try pastCondition("EVER", at: column)))
        }
        if accept(keyword: "ALWAYS") {
            return .past(FilterPath(), .always(try pastCondition("ALWAYS", at: column)))
        }
        guard accept(keyword: "WAS") else { return nil }
        let condition = try pastCondition("WAS", at: column)
        guard accept(keyword: "AT") else {
            throw QueryError(
                "AT and a moment must follow the condition of WAS, as in WAS salary > 5000 AT "
                    + "'2024-05-01', not \(current.description).", at: current.column)
        }
        return .past(FilterPath(), .was(condition, at: try moment()))
    }

    private mutating func pastCondition(
        _ keyword: String, at column: Int
    ) throws(QueryError) -> Filter {
        guard names.columns == nil else {
            throw QueryError("A group is no object, so \(keyword) has no past to ask.", at: column)
        }
        try enter()
        defer { leave() }
        let condition = try negation()
        do {
            return try condition.withinPast()
        } catch {
            throw QueryError(error.message, at: column)
        }
    }

    /// The rest of a question about the changes of a property, after its path; nil when the next word asks
    /// something else.
    mutating func change(
        of left: PredicateOperand, _ quantifier: FilterQuantifier?
    ) throws(QueryError) -> Filter? {
        let column = current.column
        let direction = FilterChange.Direction.allCases.first { current.isKeyword($0.rawValue) }
        guard let direction else { return nil }
        advance()
        guard names.columns == nil else {
            throw QueryError("A group is no object, so nothing of it has changed.", at: column)
        }
        guard var owner = left.path, owner.aggregate == nil, let property = owner.path.steps.last
        else {
            throw QueryError(
                "\(direction.rawValue) asks about a property, and \(left.text) is none.",
                at: left.column)
        }
        owner.path.steps.removeLast()
        guard owner.isToMany || quantifier == nil else {
            throw QueryError(
                "'\(left.text)' changes as a whole: write it without \(quantifier?.rawValue ?? "").",
                at: left.column)
        }
        try check(PredicateOperand(kind: .path(owner), column: left.column), quantifier)
        let author = try author()
        let since = accept(keyword: "SINCE") ? try moment() : nil
        let until = accept(keyword: "UNTIL") ? try moment() : nil
        let change: FilterChange
        do {
            change = try FilterChange(property, direction, by: author, since: since, until: until)
        } catch {
            throw QueryError(error.message, at: column)
        }
        return owner.quantified(quantifier) { expression, _ in
            guard case .path(let path) = expression else { return .constant(false) }
            return .past(path, .change(change))
        }
    }

    private mutating func author() throws(QueryError) -> FilterChange.Author {
        guard accept(keyword: "BY") else { return .anyone }
        let operand = try operand()
        guard case .literal(let literal) = operand.kind else {
            throw QueryError(
                "The name of an author must follow BY, not \(operand.text).", at: operand.column)
        }
        if literal.isNull { return .named(nil) }
        guard let name = literal.text else {
            throw QueryError(
                "The name of an author must follow BY, not \(literal.description).",
                at: operand.column)
        }
        return .named(name)
    }

    /// A moment: the number of an entry, a date, a tag or `head`.
    private mutating func moment() throws(QueryError) -> FilterMoment {
        let operand = try operand()
        guard case .literal(let literal) = operand.kind, let moment = literal.moment else {
            throw QueryError(
                "A moment was expected: the number of an entry, a date such as '2024-05-01', a tag or "
                    + "'head', not \(operand.text).", at: operand.column)
        }
        return moment
    }
}

extension PredicateLiteral {
    /// The moment that it means; nil for none.
    fileprivate var moment: FilterMoment? {
        switch self {
        case .number(let text): UInt64(text).map { .entry($0) }
        case .text(let text), .value(.string(let text)): FilterMoment(text)
        case .value(.int(let number)): UInt64(exactly: number).map { .entry($0) }
        case .value(.date(let date)): FilterMoment(date)
        case .null, .bool, .value: nil
        }
    }
}
