// The room of filters: conditions on objects, evaluated on whatever shows values, tried on the bytes of a row,
// written as text, and planned by an index. It knows schemas and values, and no store.

import Foundation
internal import Synchronization

/// A condition on an object: the one tree to which every way of writing a query is lowered.
///
/// Its logic has two values. Null equals only null, and no other comparison with null holds. Values
/// that cannot be compared (text and a date) are unequal and neither is less; this is not an error.
/// `ALL` and `NONE` hold over no members, `ANY` does not.
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
    /// Any, all or none of the objects at the end of a path meet the condition, for which the
    /// member is the current object.
    case quantified(FilterQuantifier, FilterPath, Filter)
    /// What is asked about the past holds of the object at the end of a path of to-one steps.
    case past(FilterPath, FilterPast)
}

/// The members for which a condition must hold.
package enum FilterQuantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one.
    case any = "ANY"
    /// Every one.
    case all = "ALL"
    /// Not one.
    case none = "NONE"
}

/// A comparison operator.
package enum FilterOperator: String, Sendable, Hashable, CaseIterable {
    /// The same.
    case equal = "=="
    /// Not equal.
    case notEqual = "!="
    /// Less.
    case less = "<"
    /// Less or equal.
    case lessOrEqual = "<="
    /// Greater.
    case greater = ">"
    /// Greater or equal.
    case greaterOrEqual = ">="
    /// Text that starts with other text.
    case beginsWith = "BEGINSWITH"
    /// Text that ends with other text.
    case endsWith = "ENDSWITH"
    /// Text with other text in it.
    case contains = "CONTAINS"
    /// Text with wildcards: `?` stands for one Unicode scalar, `*` for any number.
    case like = "LIKE"
    /// Text that a regular expression matches completely.
    case matches = "MATCHES"

    /// Whether it compares only text.
    package var isTextual: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like, .matches: true
        default: false
        }
    }

    /// The equivalent operator with left and right exchanged; nil when there is none.
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

/// A comparison of two values.
package struct FilterComparison: Sendable, Hashable {
    /// The value on the left.
    package let left: FilterExpression
    /// The operator between them.
    package let `operator`: FilterOperator
    /// The value on the right.
    package let right: FilterExpression
    /// The differences to ignore when comparing text.
    package let options: TextOptions
    /// The prepared right side, if it is constant and the operator needs it.
    let pattern: TextPattern?

    /// A comparison. A constant pattern is prepared here, once for all objects.
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

    /// Whether both are the same comparison.
    package static func == (left: FilterComparison, right: FilterComparison) -> Bool {
        left.left == right.left && left.operator == right.operator && left.right == right.right
            && left.options == right.options
    }

    /// Hashes the parts that equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(left)
        hasher.combine(`operator`)
        hasher.combine(right)
        hasher.combine(options)
    }
}

/// A set of values with lookup in constant time.
package struct FilterValues: Sendable, Hashable {
    /// The values in the given order.
    package let values: [Value]
    private let set: Set<Value>
    private let numbers: [Value]
    private let folds = FoldedTexts()

    /// Makes a set of values.
    package init(_ values: [Value]) {
        self.values = values
        set = Set(values)
        numbers = values.filter(\.isNumber)
    }

    /// Whether it contains a text that is the same under these options.
    func contains(_ text: String, _ options: TextOptions) -> Bool {
        folds.texts(options, of: values).contains(Array(text.folded(options).utf8))
    }

    /// Whether it contains the value; numbers are compared by size, whatever their form.
    package func contains(_ value: Value) -> Bool {
        if set.contains(value) { return true }
        return value.isNumber && numbers.contains { $0.order(to: value) == .orderedSame }
    }

    /// Whether both have the same values in the same order.
    package static func == (left: FilterValues, right: FilterValues) -> Bool {
        left.values == right.values
    }

    /// Hashes the values.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
    }
}

/// The texts of a set of values, folded once for each way of comparing them.
private final class FoldedTexts: Sendable {
    private let sets = Mutex<[TextOptions: Set<[UInt8]>]>([:])

    func texts(_ options: TextOptions, of values: [Value]) -> Set<[UInt8]> {
        sets.withLock { sets in
            if let known = sets[options] { return known }
            let texts = values.compactMap { value -> [UInt8]? in
                guard case .string(let text) = value else { return nil }
                return Array(text.folded(options).utf8)
            }
            let set = Set(texts)
            sets[options] = set
            return set
        }
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
