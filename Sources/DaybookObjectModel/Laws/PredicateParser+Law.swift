// The rules of laws: NEVER CHANGED, INCREASED, DECREASED or DELETED; ONCE … ALWAYS; and UNLESS.

extension SchemaLaw {
    /// Reads a law.
    ///
    /// - Throws: ``QueryError`` with the column of the first mistake in the rule.
    package init(
        _ law: LawDescription, of entity: SchemaEntity, in schema: Schema
    ) throws(QueryError) {
        var parser = PredicateParser(
            tokens: try PredicateLexer.tokens(of: law.rule), names: PredicateNames(in: schema),
            about: entity, arguments: [])
        let (rule, excuses) = try parser.law()
        self.init(
            name: law.name, text: law.rule, entity: entity.number, rule: rule, excuses: excuses)
    }
}

extension LawDescription {
    /// A name of a property, as a rule begins with it.
    package static func word(_ property: String) -> String {
        let first = property.prefix { $0 != "." }.uppercased()
        let isKeyword =
            PredicateToken.keywords.contains(first) || ["ONCE", "NEVER"].contains(first)
        return isKeyword ? "#" + property : property
    }
}

extension PredicateParser {
    /// A whole rule.
    fileprivate mutating func law() throws(QueryError) -> (SchemaLaw.Rule, [[LawExcuse]]) {
        try refuseTheTime()
        let rule = try lawRule()
        let excuses = accept(keyword: "UNLESS") ? try lawExcuses() : []
        guard current.kind == .end else {
            throw QueryError(
                "UNLESS or the end was expected, not \(current.description).", at: current.column)
        }
        return (rule, excuses)
    }

    /// The same entry is judged by the same law at any time.
    private func refuseTheTime() throws(QueryError) {
        for (index, token) in tokens.enumerated() where token.isKeyword("NOW") {
            // The name of a function may end with a colon.
            let rest = tokens[(index + 1)...].drop { $0.kind == .symbol(":") }
            guard rest.first?.kind == .symbol("(") else { continue }
            throw QueryError(
                "A law cannot depend on the time at which it is judged. Compare with a date, or with an "
                    + "attribute.", at: token.column)
        }
    }

    private mutating func lawRule() throws(QueryError) -> SchemaLaw.Rule {
        if accept(keyword: "ONCE") {
            let condition = try lawCondition()
            guard accept(keyword: "ALWAYS") else {
                throw QueryError(
                    "ALWAYS must follow the condition of ONCE, not \(current.description).",
                    at: current.column)
            }
            return .end(of: condition)
        }
        if accept(keyword: "NEVER") {
            guard accept(keyword: "DELETED") else {
                throw QueryError(
                    "DELETED must follow NEVER at the beginning, not \(current.description). What else "
                        + "never happens is said of a property, as in salary NEVER DECREASED.",
                    at: current.column)
            }
            return .deletion(where: accept(keyword: "WHERE") ? try lawCondition() : nil)
        }
        guard current.kind != .end else {
            throw QueryError(
                "The rule is empty. Write one such as salary NEVER DECREASED UNLESS NOTE.", at: 1)
        }
        let (property, column) = try lawProperty()
        let direction = try lawDirection()
        let change: FilterChange
        do {
            change = try FilterChange(property, direction)
        } catch {
            throw QueryError(error.message, at: column)
        }
        let amount = accept(keyword: "BY") ? try lawAmount(of: property) : nil
        let start = accept(keyword: "WHERE") ? try lawCondition() : nil
        let end = accept(keyword: "BECOMING") ? try lawCondition() : nil
        return .change(change, byMoreThan: amount, where: start, becoming: end)
    }

    private mutating func lawProperty() throws(QueryError) -> (SchemaProperty, column: Int) {
        let operand = try operand()
        guard let path = operand.path, path.aggregate == nil, path.path.scope == 0,
            path.path.steps.count == 1, let property = path.path.steps.last
        else {
            throw QueryError(
                "A law is about a property of the object itself, and \(operand.text) is none.",
                at: operand.column)
        }
        guard property.slot != nil else {
            throw QueryError(
                "'\(property.name)' is kept by the objects at its other end. A law is about an attribute, or "
                    + "a to-one relationship that the object keeps itself.", at: operand.column)
        }
        return (property, operand.column)
    }

    private mutating func lawDirection() throws(QueryError) -> FilterChange.Direction {
        guard accept(keyword: "NEVER") else {
            throw QueryError(
                "NEVER must follow the property, not \(current.description).", at: current.column)
        }
        let directions = FilterChange.Direction.allCases
        guard let direction = directions.first(where: { current.isKeyword($0.rawValue) }) else {
            throw QueryError(
                "CHANGED, INCREASED or DECREASED must follow NEVER, not \(current.description).",
                at: current.column)
        }
        advance()
        return direction
    }

    private mutating func lawAmount(of property: SchemaProperty) throws(QueryError) -> Value {
        let column = current.column
        guard accept(keyword: "MORE"), accept(keyword: "THAN") else {
            throw QueryError(
                "MORE THAN and a number must follow BY, as in BY MORE THAN 500.", at: column)
        }
        let operand = try operand()
        guard case .literal(let literal) = operand.kind, !literal.isNull,
            let type = property.attribute?.type,
            type.isNumber
        else {
            throw QueryError(
                subject(property)
                    + " cannot change by an amount: write a number after THAN, and only for "
                    + "an attribute of numbers.", at: operand.column)
        }
        let amount = try operand.expression(for: .attribute(type, property.name), with: names)
        guard let value = amount.constant, FilterOperator.greaterOrEqual.holds(value, .int(0))
        else {
            throw QueryError("An amount is not less than 0.", at: operand.column)
        }
        return value
    }

    private func subject(_ property: SchemaProperty) -> String {
        "'\(property.name)'" + (property.attribute.map { ", \($0.type.noun)," } ?? "")
    }

    private mutating func lawCondition() throws(QueryError) -> Filter {
        let column = current.column
        let condition = try disjunction()
        let own = condition.ownProperties
        guard let own, own.allSatisfy({ $0.rawValue < Schema.transientNumberMinimum }) else {
            throw QueryError(
                "The condition of a law looks at what the object itself keeps: attributes that are saved, and "
                    + "to-one relationships of its own. It asks neither other objects nor the past.",
                at: column)
        }
        return condition
    }

    // MARK: - Excuses

    private mutating func lawExcuses() throws(QueryError) -> [[LawExcuse]] {
        var excuses: [[LawExcuse]] = []
        repeat {
            var together = [try lawExcuse()]
            while accept(keyword: "AND") { together.append(try lawExcuse()) }
            excuses.append(together)
        } while accept(keyword: "OR")
        return excuses
    }

    private mutating func lawExcuse() throws(QueryError) -> LawExcuse {
        if accept(keyword: "NOTE") { return .note }
        if accept(keyword: "AUTHOR") {
            return accept(keyword: "IN") ? .authorIn(try lawAuthors()) : .author
        }
        guard accept(keyword: "INFO") else {
            throw QueryError(
                "NOTE, AUTHOR, AUTHOR IN {\u{2026}} or INFO 'key' must follow UNLESS, AND and OR, not "
                    + "\(current.description).", at: current.column)
        }
        let operand = try operand()
        guard case .literal(let literal) = operand.kind, let key = literal.text else {
            throw QueryError(
                "A key in quotation marks must follow INFO, not \(operand.text).",
                at: operand.column)
        }
        if let objection = EntryInfo.objection(toKey: key) {
            throw QueryError(
                "No entry has information by the key \(ReadableText.quoted(key)), because that "
                    + "\(objection).", at: operand.column)
        }
        return .info(key)
    }

    private mutating func lawAuthors() throws(QueryError) -> [String] {
        let operand = try operand()
        guard case .list(let operands, _) = operand.kind, !operands.isEmpty else {
            throw QueryError(
                "Names in braces must follow AUTHOR IN, as in AUTHOR IN {'ada', 'bob'}.",
                at: operand.column)
        }
        var names: [String] = []
        for operand in operands {
            guard case .literal(let literal) = operand.kind, let name = literal.text else {
                throw QueryError(
                    "The name of an author was expected, not \(operand.text).", at: operand.column)
            }
            names.append(name)
        }
        return names
    }
}

extension AttributeType {
    /// Whether its values are numbers.
    fileprivate var isNumber: Bool {
        switch self {
        case .int16, .int32, .int64, .float, .double, .decimal: true
        default: false
        }
    }
}
