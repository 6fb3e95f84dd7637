extension PredicateParser {
    /// One side of a comparison.
    mutating func operand() throws(QueryError) -> PredicateOperand {
        try operand(bindingMoreThan: 0)
    }

    /// Values with signs such as `*` between them, which bind more tightly than something else.
    private mutating func operand(
        bindingMoreThan least: Int
    ) throws(QueryError) -> PredicateOperand {
        try enter()
        defer { leave() }
        var left = try signed()
        while case .symbol(let symbol) = current.kind,
            let function = FilterFunction(rawValue: symbol), let precedence = function.precedence,
            precedence > least
        {
            let column = current.column
            advance()
            // 2 ** 3 ** 2 is 2 ** 9.
            let right = try operand(
                bindingMoreThan: function == .power ? precedence - 1 : precedence)
            left = try computation(function, [left, right], at: column)
        }
        return left
    }

    /// A value, perhaps with a minus sign.
    private mutating func signed() throws(QueryError) -> PredicateOperand {
        let column = current.column
        guard accept(symbol: "-") else { return try value() }
        // The power binds more tightly: -2 ** 2 is -4, where the sign is not one of a number.
        return try computation(.negate, [try operand(bindingMoreThan: 2)], at: column)
    }

    private mutating func value() throws(QueryError) -> PredicateOperand {
        let token = current
        switch token.kind {
        case .symbol("("):
            advance()
            return try closed(try operand())
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
            try enter()
            defer { leave() }
            advance()
            return try list(closedBy: "}", token.column)
        case .word(let word, isEscaped: false):
            switch word.uppercased() {
            case "NIL", "NULL": return literal(.null)
            case "TRUE", "YES": return literal(.bool(true))
            case "FALSE", "NO": return literal(.bool(false))
            case "SUBQUERY": return try subquery()
            case "CAST": return try cast()
            case "TERNARY": return try conditional()
            case "FUNCTION": return try calledFunction()
            default: return isFunction ? try function() : try path()
            }
        case .word, .nameArgument, .outer, .variable: return try path()
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
}
