import Foundation

/// A condition on an object: the one tree to which every way of writing a query is lowered.
///
/// Its logic has two values. Null is equal to null only, and no other comparison with null holds.
/// Values that cannot be compared (text and a date) are unequal and neither is less; nothing of
/// this is an error. `ALL` and `NONE` hold over no members, `ANY` does not.
package indirect enum Filter: Sendable, Hashable {
    /// Always or never.
    case constant(Bool)
    /// A comparison of two values.
    case comparison(FilterComparison)
    /// From the second value to the third, both included.
    case between(FilterExpression, FilterExpression, FilterExpression)
    /// One of several values.
    case membership(FilterExpression, FilterValues, TextOptions)
    /// All conditions; none is always.
    case and([Filter])
    /// At least one condition; none is never.
    case or([Filter])
    /// Not the condition.
    case not(Filter)
    /// Any, all or none of the objects at the end of a path meet the condition, which sees the
    /// member as the object at hand.
    case quantified(FilterQuantifier, FilterPath, Filter)
}

/// Of how many members a condition must hold.
package enum FilterQuantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one.
    case any = "ANY"
    /// Every one.
    case all = "ALL"
    /// Not one.
    case none = "NONE"
}

/// How two values are compared.
package enum FilterOperator: String, Sendable, Hashable, CaseIterable {
    /// The same.
    case equal = "=="
    /// Not the same.
    case notEqual = "!="
    /// Less.
    case less = "<"
    /// Less or the same.
    case lessOrEqual = "<="
    /// Greater.
    case greater = ">"
    /// Greater or the same.
    case greaterOrEqual = ">="
    /// Text that starts with other text.
    case beginsWith = "BEGINSWITH"
    /// Text that ends with other text.
    case endsWith = "ENDSWITH"
    /// Text with other text in it.
    case contains = "CONTAINS"
    /// Text of a form: `?` stands for one character, `*` for any number.
    case like = "LIKE"
    /// Text that a regular expression describes from end to end.
    case matches = "MATCHES"

    /// Whether it compares text only.
    package var isTextual: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like, .matches: true
        default: false
        }
    }

    /// The operator that means the same when left and right are exchanged; nil when there is none.
    package var mirrored: FilterOperator? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: nil
        }
    }
}

/// Two values and how they are compared.
package struct FilterComparison: Sendable, Hashable {
    /// The value on the left.
    package let left: FilterExpression
    /// The operator between them.
    package let `operator`: FilterOperator
    /// The value on the right.
    package let right: FilterExpression
    /// What is overlooked when text is compared.
    package let options: TextOptions
    /// The right side made ready, when it is known beforehand and the operator needs it so.
    let pattern: TextPattern?

    /// A comparison. A constant pattern is made ready here, once for all objects.
    package init(
        _ left: FilterExpression, _ operator: FilterOperator, _ right: FilterExpression,
        _ options: TextOptions = []
    ) {
        self.left = left
        self.operator = `operator`
        self.right = right
        self.options = options
        if case .constant(.string(let text)) = right {
            pattern = TextPattern(text, for: `operator`, options)
        } else {
            pattern = nil
        }
    }

    /// Whether both compare the same in the same way.
    package static func == (left: FilterComparison, right: FilterComparison) -> Bool {
        left.left == right.left && left.operator == right.operator && left.right == right.right
            && left.options == right.options
    }

    /// Feeds what equality looks at.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(left)
        hasher.combine(`operator`)
        hasher.combine(right)
        hasher.combine(options)
    }
}

/// Values to be looked for, each found in constant time.
package struct FilterValues: Sendable, Hashable {
    /// The values in the order in which they were given.
    package let values: [Value]
    private let set: Set<Value>
    private let numbers: [Value]

    /// Makes values findable.
    package init(_ values: [Value]) {
        self.values = values
        set = Set(values)
        numbers = values.filter(\.isNumber)
    }

    /// Whether the value is among them; numbers are compared by size whatever their form.
    package func contains(_ value: Value) -> Bool {
        if set.contains(value) { return true }
        return value.isNumber && numbers.contains { $0.order(to: value) == .orderedSame }
    }

    /// Whether both hold the same values in the same order.
    package static func == (left: FilterValues, right: FilterValues) -> Bool {
        left.values == right.values
    }

    /// Feeds the values.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
    }
}

extension Value {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .double, .decimal: true
        default: false
        }
    }
}
