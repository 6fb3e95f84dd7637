import Foundation

/// How an attribute that two sides have changed takes in both changes, so that they never collide.
///
/// Each side's change says which value it started from and where it leads. A strategy brings the
/// difference of ours onto theirs.
///
/// ```swift
/// @Attribute(merge: .sum) var balance: Decimal = 0
/// @Attribute(merge: .union) var tags: [String] = []
/// ```
///
/// What cannot be merged is a conflict like any other, for the merge policy: a result that the type
/// cannot hold exactly or that breaks a rule of the attribute, coded values that are no lists, two
/// edits of one stretch of text.
public enum MergeStrategy: String, Sendable, Hashable, CaseIterable {
    /// Differences add up. For numbers; no value counts as 0.
    ///
    /// Integers and decimals are exact. Binary floating-point numbers are rounded with each addition,
    /// as they always are.
    case sum
    /// The greater value stays. For numbers and dates; no value is less than any.
    case maximum
    /// The lesser value stays. For numbers and dates; no value is greater than any.
    case minimum
    /// What either side has put in is in, once, and what either side has taken out is out. For arrays
    /// and sets; no value counts as an empty one.
    ///
    /// The order of an array is theirs, and what only ours has put in comes after it. A change of the
    /// order alone is none. Sets are kept in an order of their own, see
    /// ``AttributeDescription/isSet``.
    case union
    /// Each side's edits of the text are made, word by word. For text; no value counts as an empty
    /// one.
    ///
    /// A word is taken with the white space after it. Two sides that have edited neighbouring words
    /// collide, unless they have made the same of them.
    case text
}

extension MergeStrategy {
    /// What a type must be for this strategy, as the end of a sentence.
    private var demand: String {
        switch self {
        case .sum: "only numbers add up"
        case .maximum, .minimum: "only numbers and dates have one"
        case .union: "only coded values, such as arrays and sets, have one"
        case .text: "only text can be merged so"
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

    /// What is wrong with this strategy for an attribute, each the rest of a sentence that starts
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
                "is transient and merged by '\(rawValue)', but nobody else ever sees its values.")
        }
        return problems
    }
}

extension MergeStrategy {
    /// What ours comes to on top of theirs.
    ///
    /// - Parameters:
    ///   - base: What ours started from.
    ///   - theirs: What there is now, which is something else.
    ///   - ours: Where ours leads from the base.
    /// - Returns: The value to keep; nil when the two cannot be merged.
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
    /// This number and the difference of two others, exactly; nil when there is no such number.
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
    /// This number and the difference of two others; nil when that has more digits than there are.
    fileprivate func adding(_ new: Decimal, less old: Decimal) -> Decimal? {
        guard !isNaN, !new.isNaN, !old.isNaN else { return nil }
        let difference = new - old
        let sum = self + difference
        // Foundation rounds without a word, so the way back tells.
        guard !difference.isNaN, !sum.isNaN, old + difference == new, sum - difference == self,
            sum - self == difference
        else { return nil }
        return sum
    }
}
