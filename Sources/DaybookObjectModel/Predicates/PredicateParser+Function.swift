import Foundation

// Values that are worked out: functions and signs, `CAST`, `TERNARY`, `FUNCTION` and `SUBQUERY`.

extension PredicateParser {
    /// A predicate works out at most so many values: more than real ones do, and few enough for the stack.
    private static let computationsMaximum = 500
    private static let now = "now"

    /// Whether the word at hand is followed by arguments.
    var isFunction: Bool {
        guard index + 1 < tokens.count else { return false }
        // A column of a result, such as `sum(salary)`, is a name.
        if names.columns != nil, case .word(let word, _) = current.kind,
            FilterFunction(name: word) == nil, word.lowercased() != Self.now
        {
            return false
        }
        return tokens[index + 1].kind == .symbol("(") || tokens[index + 1].kind == .symbol(":")
    }

    /// `length(name)`, `modulus:by:(number, 7)` or `now()`.
    mutating func function() throws(QueryError) -> PredicateOperand {
        let column = current.column
        var name = ""
        while case .word(let word, isEscaped: false) = current.kind {
            name += name.isEmpty ? word : ":" + word
            advance()
            guard accept(symbol: ":") else { break }
        }
        guard accept(symbol: "(") else {
            throw QueryError("'(' was expected, not \(current.description).", at: current.column)
        }
        let operands = try operands()
        if name.lowercased() == Self.now {
            guard operands.isEmpty else { throw Self.wrongCount(name, 0, operands, at: column) }
            return PredicateOperand(kind: .literal(.value(.date(Date()))), column: column)
        }
        return try computation(named: name, operands, at: column)
    }

    /// `FUNCTION(name, "length")`, the same as `length(name)`.
    mutating func calledFunction() throws(QueryError) -> PredicateOperand {
        let column = current.column
        advance()
        try open()
        var operands = try operands()
        guard operands.count > 1, case .literal(let literal) = operands[1].kind,
            let name = literal.text
        else {
            throw QueryError(
                "FUNCTION has a value and the name of a function, as in FUNCTION(name, 'length').",
                at: column)
        }
        operands.remove(at: 1)
        let stem = name.hasSuffix(":") ? String(name.dropLast()) : name
        return try computation(named: stem, operands, at: column)
    }

    /// `CAST(price, "int64")`.
    mutating func cast() throws(QueryError) -> PredicateOperand {
        let column = current.column
        advance()
        try open()
        let operands = try operands()
        guard operands.count == 2, case .literal(let literal) = operands[1].kind,
            let name = literal.text
        else {
            throw QueryError(
                "CAST has a value and the name of a type, as in CAST(price, 'int64').", at: column)
        }
        guard let type = AttributeType(castName: name) else {
            throw QueryError(
                "'\(name)' is not a type"
                    + name.suggestion(among: AttributeType.castNames).orFullStop,
                at: operands[1].column)
        }
        try check(operands[0], nil)
        try count(at: column)
        let value = try operands[0].expression(for: .unknown, with: names)
        let text = "CAST(\(operands[0].text), '\(type.rawValue)')"
        return operand(.computed(value, as: type), .attribute(type, text), text, at: column)
    }

    /// `TERNARY(isActive == TRUE, salary, 0)`.
    mutating func conditional() throws(QueryError) -> PredicateOperand {
        let column = current.column
        advance()
        try open()
        let condition = try disjunction()
        guard accept(symbol: ",") else { throw separatorMissing }
        let first = try operand()
        guard accept(symbol: ",") else { throw separatorMissing }
        let second = try closed(try operand())
        try count(at: column)
        for value in [first, second] { try check(value, nil) }
        let type = first.type.isKnown ? first.type : second.type
        let expression = FilterExpression.conditional(
            condition, try first.expression(for: type, with: names),
            try second.expression(for: type, with: names))
        return operand(expression, type, "TERNARY(…)", at: column)
    }

    /// `SUBQUERY(employees, $x, $x.salary > 100).@count`.
    mutating func subquery() throws(QueryError) -> PredicateOperand {
        let column = current.column
        advance()
        try open()
        let members = try operand()
        guard let path = members.path, path.isToMany, let destination = path.entity else {
            throw QueryError(
                "SUBQUERY needs a path through a to-many relationship.", at: members.column)
        }
        guard accept(symbol: ",") else { throw separatorMissing }
        guard case .variable(let variable) = current.kind else {
            throw QueryError(
                "A variable such as '$x' was expected, not \(current.description).",
                at: current.column)
        }
        advance()
        guard accept(symbol: ",") else { throw separatorMissing }
        try count(at: column)
        scopes.append(PredicateScope(entity: destination, variable: variable))
        let condition = try closed(try disjunction())
        scopes.removeLast()
        var found = PredicatePath(
            path: FilterPath(), aggregate: nil, entity: destination, text: "SUBQUERY(…)",
            members: PredicateMembers(path: path.path, condition: condition))
        try follow(&found)
        guard found.aggregate != nil else {
            throw QueryError(
                "'.@count' or another aggregate must follow SUBQUERY(…); whether there is such a "
                    + "member is written ANY members (condition).", at: current.column)
        }
        return try whole(found, at: column)
    }

    // MARK: - Computing

    /// A function of operands.
    ///
    /// - Throws: ``QueryError`` when one of them is of a type that it does not take.
    mutating func computation(
        _ function: FilterFunction, _ operands: [PredicateOperand], at column: Int
    ) throws(QueryError) -> PredicateOperand {
        try count(at: column)
        for operand in operands {
            try check(operand, nil)
            try check(operand, of: function)
        }
        var expressions: [FilterExpression] = []
        for (index, operand) in operands.enumerated() {
            let other = operands.count == 2 ? operands[1 - index].type : .unknown
            let type = function.type(of: operand, beside: other)
            let expression = try operand.expression(for: type, with: names)
            if let constant = expression.constant, !function.domain.includes(constant) {
                throw QueryError(
                    "\(operand.text) is \(constant.noun); \(function.rawValue) "
                        + "\(function.domain.verb).", at: operand.column)
            }
            expressions.append(expression)
        }
        let expression = FilterExpression.computed(function, expressions)
        let text = function.text(of: operands)
        let types = zip(operands, expressions).compactMap { operand, expression in
            operand.type.attribute ?? expression.constant?.attributeType
        }
        return operand(expression, function.type(of: types, text), text, at: column)
    }

    private mutating func computation(
        named name: String, _ operands: [PredicateOperand], at column: Int
    ) throws(QueryError) -> PredicateOperand {
        guard let function = FilterFunction(name: name) else {
            let names = FilterFunction.allCases.filter { $0.precedence == nil }.map(\.rawValue)
            throw QueryError(
                "'\(name)' is not a function"
                    + name.suggestion(among: names + [Self.now]).orFullStop,
                at: column)
        }
        guard operands.count == function.argumentCount else {
            throw Self.wrongCount(name, function.argumentCount, operands, at: column)
        }
        return try computation(function, operands, at: column)
    }

    private static func wrongCount(
        _ name: String, _ count: Int, _ operands: [PredicateOperand], at column: Int
    ) -> QueryError {
        QueryError(
            "'\(name)' has \(count == 1 ? "one argument" : "\(count) arguments"), and "
                + "\(operands.count) were given.", at: column)
    }

    private func check(
        _ operand: PredicateOperand, of function: FilterFunction
    ) throws(QueryError) {
        let noun: String
        switch operand.type {
        case .unknown: return
        case .object: noun = "an object"
        case .attribute(let type, _):
            if function.domain.includes(type) { return }
            noun = type.noun
        }
        throw QueryError(
            "'\(operand.text)' is \(noun); \(function.rawValue) \(function.domain.verb).",
            at: operand.column)
    }

    private mutating func count(at column: Int) throws(QueryError) {
        computations += 1
        guard computations <= Self.computationsMaximum else {
            throw QueryError(
                "The predicate works out more than \(Self.computationsMaximum) values.", at: column)
        }
    }

    private func operand(
        _ expression: FilterExpression, _ type: PredicateType, _ text: String, at column: Int
    ) -> PredicateOperand {
        // A constant takes the type of what it is compared with, as if it had been written.
        if let constant = expression.constant {
            return PredicateOperand(kind: .literal(.value(constant)), column: column)
        }
        return PredicateOperand(
            kind: .computation(
                PredicateComputation(expression: expression, type: type, text: text)),
            column: column)
    }

    // MARK: - Arguments

    private mutating func open() throws(QueryError) {
        guard accept(symbol: "(") else {
            throw QueryError("'(' was expected, not \(current.description).", at: current.column)
        }
    }

    /// Operands up to a closing parenthesis.
    private mutating func operands() throws(QueryError) -> [PredicateOperand] {
        guard case .list(let operands, _) = try list(closedBy: ")", current.column).kind else {
            return []
        }
        return operands
    }

    private var separatorMissing: QueryError {
        QueryError("',' was expected, not \(current.description).", at: current.column)
    }
}

extension FilterFunction {
    /// The type of an operand's constant, where the other operand has a type.
    fileprivate func type(of operand: PredicateOperand, beside other: PredicateType)
        -> PredicateType
    {
        switch domain {
        case .text: return .attribute(.string, operand.text)
        case .date: return .attribute(.date, operand.text)
        case .numbers, .numbersOrDates:
            guard case .literal(let literal) = operand.kind, case .attribute(let type, _) = other
            else { return .unknown }
            // Seconds may stand beside a date, and a number with a fraction beside a whole one.
            if type == .date { return literal.text == nil ? .unknown : other }
            return type == .decimal || type.storage == .double ? other : .unknown
        }
    }

    /// The type of the result.
    fileprivate func type(of types: [AttributeType], _ text: String) -> PredicateType {
        switch self {
        case .length, .year, .month, .day, .hour, .minute, .second, .weekday:
            return .attribute(.int64, text)
        case .lowercase, .uppercase, .canonical: return .attribute(.string, text)
        case .squareRoot, .naturalLogarithm, .logarithm, .exponential:
            return .attribute(.double, text)
        default: break
        }
        switch types.count(where: { $0 == .date }) {
        case 0: break
        case 1: return .attribute(.date, text)
        default: return .attribute(.double, text)
        }
        if types.contains(where: { $0.storage == .double }) { return .attribute(.double, text) }
        if types.contains(.decimal) { return .attribute(.decimal, text) }
        return types.isEmpty ? .unknown : .attribute(.int64, text)
    }

    fileprivate func text(of operands: [PredicateOperand]) -> String {
        let texts = operands.map(\.text)
        if precedence != nil { return texts.joined(separator: " \(rawValue) ") }
        return self == .negate
            ? "-\(texts.joined())" : "\(rawValue)(\(texts.joined(separator: ", ")))"
    }
}

extension FilterFunction.Domain {
    fileprivate func includes(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.numbersOrDates, .date), (.date, .date), (.text, .string), (.text, .url): true
        case (.numbers, _), (.numbersOrDates, _):
            type.storage == .integer || type.storage == .double || type == .decimal
        default: false
        }
    }

    /// Whether a constant can be taken; of no value comes no value.
    fileprivate func includes(_ constant: Value) -> Bool {
        switch (self, constant) {
        case (_, .null), (.text, .string), (.date, .date), (.numbersOrDates, .date): true
        case (.numbers, .int), (.numbers, .double), (.numbers, .decimal), (.numbersOrDates, .int),
            (.numbersOrDates, .double), (.numbersOrDates, .decimal):
            true
        default: false
        }
    }

    fileprivate var verb: String {
        switch self {
        case .numbers, .numbersOrDates: "computes with numbers"
        case .text: "takes text"
        case .date: "takes a date"
        }
    }
}

extension PredicateType {
    fileprivate var isKnown: Bool {
        if case .unknown = self { false } else { true }
    }

    fileprivate var attribute: AttributeType? {
        if case .attribute(let type, _) = self { type } else { nil }
    }
}

extension Value {
    /// The type of a number or a date.
    fileprivate var attributeType: AttributeType? {
        switch self {
        case .int: .int64
        case .double: .double
        case .decimal: .decimal
        case .date: .date
        default: nil
        }
    }
}

extension AttributeType {
    /// Apple's names of types, beside our own.
    private static let classNames: [String: AttributeType] = [
        "NSString": .string, "NSNumber": .double, "NSDecimalNumber": .decimal, "NSDate": .date,
        "NSUUID": .uuid, "NSURL": .url, "NSData": .data,
    ]

    fileprivate static var castNames: [String] { allCases.map(\.rawValue) + classNames.keys }

    fileprivate init?(castName name: String) {
        guard let type = AttributeType(rawValue: name) ?? Self.classNames[name], type != .codable
        else { return nil }
        self = type
    }
}

extension String {
    /// The text, or a full stop where it is empty.
    fileprivate var orFullStop: String { isEmpty ? "." : self }
}
