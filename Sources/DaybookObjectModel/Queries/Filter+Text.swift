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
        else { return "\(head) (\(text(filter)))" }
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
            return left(comparison.left) + " \(comparison.operator.rawValue)"
                + "\(text(comparison.options)) \(right(comparison.right))"
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
            guard path.steps.last?.attribute != nil else {
                return "\(text(path)).@\(aggregate.rawValue)"
            }
            let owner = FilterPath(Array(path.steps.dropLast()), scope: path.scope)
            return "\(text(owner)).@\(aggregate.rawValue).\(path.steps.last?.name ?? "")"
        }
    }

    private func text(_ path: FilterPath, isContinuation: Bool = false) -> String {
        var names = path.steps.map(\.name)
        if path.scope > 0 {
            names.insert("$\(path.scope)", at: 0)
        } else if let first = names.first {
            if !isContinuation, PredicateToken.keywords.contains(first.uppercased()) {
                names[0] = "#\(first)"
            }
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
        }
    }
}
