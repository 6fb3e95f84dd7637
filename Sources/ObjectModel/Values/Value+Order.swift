package import Foundation

extension Value {
    /// How two values stand to each other, for sorting and for `<` in a filter.
    ///
    /// Null comes before everything (as in SQLite). Numbers compare by size whatever their form.
    /// Strings compare by their UTF-8 bytes, which is the order of the index. Values that cannot be
    /// compared (a string and a date) are ordered by kind so that sorting is total; a filter asks
    /// ``isComparable(to:)`` first.
    package func order(to other: Value) -> ComparisonResult {
        switch (self, other) {
        case (.null, .null): return .orderedSame
        case (.bool(let left), .bool(let right)): return (left ? 1 : 0).order(to: right ? 1 : 0)
        case (.int(let left), .int(let right)): return left.order(to: right)
        case (.double(let left), .double(let right)): return left.totalOrder(to: right)
        case (.decimal(let left), .decimal(let right)): return left.order(to: right)
        case (.int(let left), .double(let right)): return Double(left).totalOrder(to: right)
        case (.double(let left), .int(let right)): return left.totalOrder(to: Double(right))
        case (.decimal, .int), (.decimal, .double), (.int, .decimal), (.double, .decimal):
            return decimalNumber.order(to: other.decimalNumber)
        case (.string(let left), .string(let right)):
            if left.utf8.lexicographicallyPrecedes(right.utf8) { return .orderedAscending }
            return left.hasSameBytes(as: right) ? .orderedSame : .orderedDescending
        case (.data(let left), .data(let right)):
            if left.lexicographicallyPrecedes(right) { return .orderedAscending }
            return left == right ? .orderedSame : .orderedDescending
        case (.date(let left), .date(let right)):
            return left.timeIntervalSinceReferenceDate
                .totalOrder(to: right.timeIntervalSinceReferenceDate)
        case (.uuid(let left), .uuid(let right)):
            return left.uuidString.order(to: right.uuidString)
        case (.object(let left), .object(let right)): return left.order(to: right)
        default: return kindRank.order(to: other.kindRank)
        }
    }

    /// Whether `<` and `==` between the two mean something: same kind, or both numbers.
    package func isComparable(to other: Value) -> Bool {
        kindRank == other.kindRank
    }

    private var kindRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .double, .decimal: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .uuid: 6
        case .object: 7
        }
    }

    private var decimalNumber: Decimal {
        switch self {
        case .int(let value): Decimal(value)
        case .double(let value): Decimal(value)
        case .decimal(let value): value
        default: .nan
        }
    }
}

extension Comparable {
    fileprivate func order(to other: Self) -> ComparisonResult {
        if self < other { return .orderedAscending }
        return self == other ? .orderedSame : .orderedDescending
    }
}

extension Double {
    /// Numeric order, with "not a number" before every number, as its index key has it.
    fileprivate func totalOrder(to other: Double) -> ComparisonResult {
        switch (isNaN, other.isNaN) {
        case (true, true): .orderedSame
        case (true, false): .orderedAscending
        case (false, true): .orderedDescending
        case (false, false): order(to: other)
        }
    }
}
