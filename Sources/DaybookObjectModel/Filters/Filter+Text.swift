import Foundation

extension Filter {
    /// The filter as a predicate that reads back as the same tree.
    package func text(in schema: Schema) -> String {
        FilterPrinter(schema: schema).text(self)
    }
}

/// Writes filters as predicates.
private struct FilterPrinter {
    let schema: Schema
    /// The current object (last) and the outer ones: the variable of a subquery's member, nil for others.
    var variables: [String?] = [nil]

    /// The printer inside of a quantifier, or of a subquery that names its members.
    private func inside(naming variable: String? = nil) -> FilterPrinter {
        FilterPrinter(schema: schema, variables: variables + [variable])
    }

    func text(_ filter: Filter) -> String {
        switch filter {
        case .constant(let holds): holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison, .between, .membership: condition(filter, outward: 0)
        case .and(let filters):
            filters.isEmpty
                ? "TRUEPREDICATE" : filters.map(operand(of:)).joined(separator: " AND ")
        case .or(let filters):
            filters.isEmpty
                ? "FALSEPREDICATE" : filters.map(operand(of:)).joined(separator: " OR ")
        case .not(let filter): "NOT " + operand(of: filter)
        case .quantified(let quantifier, let path, let filter):
            quantified(quantifier, path, filter)
        case .past(let path, let past): text(past, of: path)
        }
    }

    private func text(_ past: FilterPast, of path: FilterPath) -> String {
        switch past {
        case .ever(let filter): return "EVER " + operand(of: filter)
        case .always(let filter): return "ALWAYS " + operand(of: filter)
        case .was(let filter, let moment): return "WAS \(operand(of: filter)) AT \(text(moment))"
        case .change(let change):
            let whole = FilterPath(path.steps + [change.property], scope: path.scope)
            var words = [text(whole), change.direction.rawValue]
            if case .named(let author) = change.author {
                words += ["BY", author.map { quoted($0) } ?? "nil"]
            }
            if let since = change.since { words += ["SINCE", text(since)] }
            if let until = change.until { words += ["UNTIL", text(until)] }
            return words.joined(separator: " ")
        }
    }

    private func text(_ moment: FilterMoment) -> String {
        switch moment {
        case .entry(let number): String(number)
        case .tag(let name): quoted(name)
        case .date(let date): quoted(DateText.text(date))
        case .head: quoted("head")
        }
    }

    /// A part of a longer predicate, in parentheses where it would be read in another way.
    private func operand(of filter: Filter) -> String {
        switch filter {
        case .and, .or: "(\(text(filter)))"
        default: text(filter)
        }
    }

    private func quantified(
        _ quantifier: FilterQuantifier, _ path: FilterPath, _ filter: Filter
    ) -> String {
        let head = "\(quantifier.rawValue) \(text(path))"
        guard let inner = filter.leadingPath, inner.scope == 0, !inner.isToMany,
            filter.othersAreOutside
        else { return "\(head) (\(inside().text(filter)))" }
        let rest = inner.steps.isEmpty ? "" : ".\(text(inner, isContinuation: true))"
        return head + rest + condition(filter, outward: 1, withoutLeft: true)
    }

    /// A comparison whose right side is to be seen from `outward` quantifiers further outside, and
    /// whose left side may have been written already.
    private func condition(
        _ filter: Filter, outward: Int, withoutLeft: Bool = false
    ) -> String {
        func left(_ expression: FilterExpression) -> String {
            withoutLeft ? "" : text(expression, outward: 0)
        }
        func right(_ expression: FilterExpression) -> String {
            text(expression, outward: outward)
        }
        switch filter {
        case .comparison(let comparison):
            let isTypeKnown = comparison.left.constant == nil || comparison.right.constant == nil
            let other = comparison.right
            return (isTypeKnown ? left(comparison.left) : argument(comparison.left))
                + " \(comparison.operator.rawValue)\(text(comparison.options)) "
                + (isTypeKnown ? right(other) : argument(other))
        case .between(let expression, let lower, let upper):
            return left(expression) + " BETWEEN {\(right(lower)), \(right(upper))}"
        case .membership(let expression, let values, let options):
            let list = values.values.map { text($0) }.joined(separator: ", ")
            return left(expression) + " IN\(text(options)) {\(list)}"
        default: return text(filter)
        }
    }

    private func text(_ options: TextOptions) -> String {
        let letters =
            (options.contains(.caseInsensitive) ? "c" : "")
            + (options.contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }

    private func text(_ expression: FilterExpression, outward: Int) -> String {
        switch expression {
        case .constant(let value): return text(value)
        case .path(var path):
            path.scope -= outward
            return text(path)
        case .aggregate(let aggregate, var path):
            path.scope -= outward
            return text(path, aggregate)
        case .subquery(let subquery): return text(subquery)
        case .function(let function, let arguments):
            let texts = arguments.map(argument)
            if function.precedence != nil {
                return "(\(texts.joined(separator: " \(function.rawValue) ")))"
            }
            return function == .negate
                ? "(-\(texts.joined()))"
                : "\(function.rawValue)(\(texts.joined(separator: ", ")))"
        case .cast(let value, let type):
            return "CAST(\(argument(value)), \(quoted(type.rawValue)))"
        case .conditional(let condition, let first, let second):
            return "TERNARY(\(text(condition)), \(argument(first)), \(argument(second)))"
        }
    }

    /// An expression whose type is not known from another.
    private func argument(_ expression: FilterExpression) -> String {
        guard let value = expression.constant, let type = value.typeToSay else {
            return text(expression, outward: 0)
        }
        return "CAST(\(quoted(plain(value))), \(quoted(type.rawValue)))"
    }

    /// A value without quotation marks.
    private func plain(_ value: Value) -> String {
        switch value {
        case .double(let number): number.nonFiniteName ?? number.description
        case .decimal(let number): number.isNaN ? "NaN" : number.plainText
        case .date(let date): DateText.text(date)
        case .uuid(let uuid): uuid.uuidString
        default: text(value)
        }
    }

    private func text(_ subquery: FilterSubquery) -> String {
        let variable = "m\(variables.count)"
        let inside = inside(naming: variable)
        let head =
            "SUBQUERY(\(text(subquery.members)), $\(variable), \(inside.text(subquery.condition)))"
        let rest = ["@\(subquery.aggregate.rawValue)"] + subquery.values.steps.map(\.name)
        return ([head] + rest).joined(separator: ".")
    }

    private func text(_ path: FilterPath, _ aggregate: FilterAggregate) -> String {
        guard path.steps.last?.attribute != nil else {
            return "\(text(path)).@\(aggregate.rawValue)"
        }
        let owner = FilterPath(Array(path.steps.dropLast()), scope: path.scope)
        return "\(text(owner)).@\(aggregate.rawValue).\(path.steps.last?.name ?? "")"
    }

    private func text(_ path: FilterPath, isContinuation: Bool = false) -> String {
        var names = path.steps.map(\.name)
        let index = variables.count - 1 - path.scope
        if isContinuation { return names.joined(separator: ".") }
        if variables.indices.contains(index), let variable = variables[index] {
            names.insert("$\(variable)", at: 0)
        } else if index != variables.lastIndex(of: nil) {
            names.insert("$\(path.scope)", at: 0)
        } else if let first = names.first {
            if PredicateToken.keywords.contains(first.uppercased()) { names[0] = "#\(first)" }
        } else {
            names = ["SELF"]
        }
        return names.joined(separator: ".")
    }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .int(let value): String(value)
        case .double(let value): value.nonFiniteName.map { quoted($0) } ?? value.description
        case .decimal(let value): value.isNaN ? quoted("NaN") : value.plainText
        case .string(let value): quoted(value)
        case .data(let value): quoted(value.base64EncodedString())
        case .large(let value): quoted(value.reference)
        case .date(let value): quoted(DateText.text(value))
        case .uuid(let value): quoted(value.uuidString)
        case .object(let value): quoted(schema.name(of: value))
        }
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Filter {
    /// Whether what the left side is compared with is seen from outside the quantifier.
    fileprivate var othersAreOutside: Bool {
        switch self {
        case .comparison(let comparison): comparison.right.isOutside
        case .between(_, let lower, let upper): lower.isOutside && upper.isOutside
        case .membership: true
        default: false
        }
    }
}

extension FilterExpression {
    fileprivate var isOutside: Bool {
        switch self {
        case .constant: true
        case .path(let path), .aggregate(_, let path): path.scope > 0
        case .subquery, .function, .cast, .conditional: false
        }
    }
}

extension Value {
    /// The type that has to be said where it is not known from elsewhere; nil for a value that is read back
    /// as it is written.
    fileprivate var typeToSay: AttributeType? {
        switch self {
        case .double(let number): number.isFinite ? nil : .double
        case .decimal: .decimal
        case .date: .date
        case .uuid: .uuid
        case .null, .bool, .int, .string, .data, .large, .object: nil
        }
    }
}
