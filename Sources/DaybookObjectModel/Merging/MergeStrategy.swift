import Foundation

/// How an attribute combines the changes of two sides, so that they do not collide.
///
/// Each side's change has the value it started from and the one it leads to. A strategy applies our
/// difference to their value.
///
/// ```swift
/// @Attribute(merge: .sum) var balance: Decimal = 0
/// @Attribute(merge: .union) var tags: [String] = []
/// ```
///
/// Changes that cannot be merged are an ordinary conflict for the merge policy: when the type
/// cannot hold the result exactly, when it breaks a rule of the attribute, when coded values are
/// not lists, or when both sides edited the same stretch of text.
public enum MergeStrategy: String, Sendable, Hashable, CaseIterable {
    /// Differences add up. For numbers; a missing value counts as 0.
    ///
    /// Integers and decimals are exact. Binary floating-point numbers are rounded with each addition,
    /// as they always are.
    case sum
    /// The greater value stays. For numbers and dates; a missing value is less than any other.
    case maximum
    /// The lesser value stays. For numbers and dates; a missing value is greater than any other.
    case minimum
    /// What either side added is in, once, and what either side removed is out. For arrays and
    /// sets; a missing value counts as an empty one.
    ///
    /// An array has their order, followed by what only our side added. A change of the order alone
    /// has no effect. Sets are kept in an order of their own; see ``AttributeDescription/isSet``.
    case union
    /// Both sides' edits of the text apply, word by word. For text; a missing value counts as an
    /// empty one.
    ///
    /// A word includes the white space after it. Edits of neighbouring words collide unless both
    /// sides made the same edit.
    case text
}

extension MergeStrategy {
    /// The types that this strategy needs, as the end of a sentence.
    private var demand: String {
        switch self {
        case .sum: "only numbers add up"
        case .maximum, .minimum: "only numbers and dates have one"
        case .union: "only coded values, such as arrays and sets, have one"
        case .text: "only text can be merged that way"
        }
    }

    private func suits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.sum, .int16), (.sum, .int32), (.sum, .int64), (.sum, .float), (.sum, .double),
            (.sum, .decimal):
            true
        case (.maximum, _), (.minimum, _): type == .date || MergeStrategy.sum.suits(type)
        case (.union, .codable), (.text, .string): true
        default: false
        }
    }

    /// The problems of this strategy for an attribute, each as the rest of a sentence that starts
    /// with the attribute's name.
    func problems(for attribute: AttributeDescription) -> [String] {
        var problems: [String] = []
        if !suits(attribute.type) {
            problems.append(
                "is of type '\(attribute.type.rawValue)' and merged by '\(rawValue)', but \(demand)."
            )
        }
        if attribute.isUnique {
            problems.append(
                "is unique and merged by '\(rawValue)': what two sides merge to may belong to "
                    + "another object. Leave out one of the two.")
        }
        if attribute.isTransient {
            problems.append(
                "is transient and merged by '\(rawValue)', but its values are never saved.")
        }
        return problems
    }
}

extension MergeStrategy {
    /// Merges our change into their value.
    ///
    /// - Parameters:
    ///   - base: The value that our change starts from.
    ///   - theirs: The current value, which differs from the base.
    ///   - ours: The value that our change leads to.
    /// - Returns: The merged value; nil when the two cannot be merged.
    func merged(base: Value, theirs: Value, ours: Value) -> Value? {
        switch self {
        case .sum: theirs.adding(ours, less: base)
        case .maximum: theirs.order(to: ours) == .orderedAscending ? ours : theirs
        case .minimum: Self.lesser(theirs, ours)
        case .union: ListMerge.merged(base: base, theirs: theirs, ours: ours)
        case .text: TextMerge.merged(base: base, theirs: theirs, ours: ours)
        }
    }

    private static func lesser(_ theirs: Value, _ ours: Value) -> Value {
        if ours.isNull { return theirs }
        return theirs.isNull || ours.order(to: theirs) == .orderedAscending ? ours : theirs
    }
}

// MARK: - Sums

extension Value {
    /// This number plus the difference of two others, exactly; nil when the type has no such
    /// number.
    fileprivate func adding(_ new: Value, less old: Value) -> Value? {
        if isNull, new.isNull { return .null }
        switch (self, new, old) {
        case (.int, _, _), (_, .int, _), (_, _, .int):
            guard let theirs = integer, let new = new.integer, let old = old.integer,
                let sum = Int64(exactly: Int128(theirs) + Int128(new) - Int128(old))
            else { return nil }
            return .int(sum)
        case (.double, _, _), (_, .double, _), (_, _, .double):
            guard let theirs = double, let new = new.double, let old = old.double else {
                return nil
            }
            let sum = theirs + (new - old)
            return sum.isFinite ? Value.double(sum).normalized : nil
        case (.decimal, _, _), (_, .decimal, _), (_, _, .decimal):
            guard let theirs = decimal, let new = new.decimal, let old = old.decimal else {
                return nil
            }
            return theirs.adding(new, less: old).map { .decimal($0) }
        default: return nil
        }
    }

    private var integer: Int64? {
        switch self {
        case .null: 0
        case .int(let value): value
        default: nil
        }
    }

    private var double: Double? {
        switch self {
        case .null: 0
        case .double(let value): value
        default: nil
        }
    }

    private var decimal: Decimal? {
        switch self {
        case .null: 0
        case .decimal(let value): value
        default: nil
        }
    }
}

extension Decimal {
    /// This number plus the difference of two others; nil when a decimal cannot hold its digits.
    fileprivate func adding(_ new: Decimal, less old: Decimal) -> Decimal? {
        guard !isNaN, !new.isNaN, !old.isNaN else { return nil }
        let difference = new - old
        let sum = self + difference
        // Foundation rounds silently, so the inverse operations check the result.
        guard !difference.isNaN, !sum.isNaN, old + difference == new, sum - difference == self,
            sum - self == difference
        else { return nil }
        return sum
    }
}
