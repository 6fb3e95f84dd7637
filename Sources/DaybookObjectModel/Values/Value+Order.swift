import DaybookDigest
package import Foundation

extension Value {
    /// The order of two values, for sorting and for `<` in a filter.
    ///
    /// Null comes before everything (as in SQLite). Numbers compare by size whatever their form.
    /// Strings compare by their UTF-8 bytes, which is the order of the index. Large data come after all
    /// other data, by length and then by digest. Values that cannot be
    /// compared (a string and a date) are ordered by kind so that sorting is total; a filter asks
    /// ``isComparable(to:)`` first.
    package func order(to other: Value) -> ComparisonResult {
        switch (self, other) {
        case (.null, .null): return .orderedSame
        case (.bool(let left), .bool(let right)): return (left ? 1 : 0).order(to: right ? 1 : 0)
        case (.int(let left), .int(let right)): return left.order(to: right)
        case (.double(let left), .double(let right)): return left.totalOrder(to: right)
        case (.decimal(let left), .decimal(let right)): return left.totalOrder(to: right)
        case (.int(let left), .double(let right)): return left.order(to: right)
        case (.double(let left), .int(let right)): return right.order(to: left).reversed
        case (.decimal(let left), .int(let right)): return left.totalOrder(to: Decimal(right))
        case (.int(let left), .decimal(let right)): return Decimal(left).totalOrder(to: right)
        case (.decimal(let left), .double(let right)): return left.order(to: right)
        case (.double(let left), .decimal(let right)): return right.order(to: left).reversed
        case (.string(let left), .string(let right)):
            if left.utf8.lexicographicallyPrecedes(right.utf8) { return .orderedAscending }
            return left.hasSameBytes(as: right) ? .orderedSame : .orderedDescending
        case (.data(let left), .data(let right)):
            if left.lexicographicallyPrecedes(right) { return .orderedAscending }
            return left == right ? .orderedSame : .orderedDescending
        case (.large(let left), .large(let right)): return left.order(to: right)
        case (.data(let left), .large(let right)):
            // By number of bytes first: a digest costs as much as reading all of them.
            guard left.count == right.count else { return left.count.order(to: right.count) }
            return LargeData(left).order(to: right)
        case (.large, .data): return other.order(to: self).reversed
        case (.date(let left), .date(let right)):
            return left.timeIntervalSinceReferenceDate
                .totalOrder(to: right.timeIntervalSinceReferenceDate)
        case (.uuid(let left), .uuid(let right)):
            return left.uuidString.order(to: right.uuidString)
        case (.object(let left), .object(let right)): return left.order(to: right)
        default: return kindRank.order(to: other.kindRank)
        }
    }

    /// Whether `<` and `==` are meaningful for the two: same kind, or both numbers.
    package func isComparable(to other: Value) -> Bool {
        kindRank == other.kindRank
    }

    private var kindRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .double, .decimal: 2
        case .string: 3
        case .data, .large: 4
        case .date: 5
        case .uuid: 6
        case .object: 7
        }
    }
}

extension ComparisonResult {
    fileprivate var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

extension LargeData {
    /// The order by length and then by digest: reading the bytes is not worth an order of them.
    fileprivate func order(to other: LargeData) -> ComparisonResult {
        if count < other.count { return .orderedAscending }
        if count > other.count { return .orderedDescending }
        if self == other { return .orderedSame }
        return digest.bytes.lexicographicallyPrecedes(other.digest.bytes)
            ? .orderedAscending : .orderedDescending
    }
}

extension Int64 {
    /// Numeric order without rounding the integer to the nearest binary fraction.
    fileprivate func order(to other: Double) -> ComparisonResult {
        if other.isNaN { return .orderedDescending }
        if other >= 0x1p63 { return .orderedAscending }
        if other < -0x1p63 { return .orderedDescending }
        let whole = other.rounded(.down)
        let integer = Int64(whole)
        if self != integer { return self < integer ? .orderedAscending : .orderedDescending }
        return whole == other ? .orderedSame : .orderedAscending
    }
}

extension Decimal {
    /// Numeric order, with "not a number" before every number, as in its index key.
    fileprivate func totalOrder(to other: Decimal) -> ComparisonResult {
        switch (isNaN, other.isNaN) {
        case (true, true): .orderedSame
        case (true, false): .orderedAscending
        case (false, true): .orderedDescending
        case (false, false): order(to: other)
        }
    }

    /// The order to a binary number, which is taken as its shortest decimal text: 0.1 is 0.1.
    fileprivate func order(to other: Double) -> ComparisonResult {
        if isNaN || other.isNaN {
            return isNaN ? (other.isNaN ? .orderedSame : .orderedAscending) : .orderedDescending
        }
        // No decimal except zero is nearer to zero than 10⁻¹²⁸, and none is beyond 10¹⁶⁶.
        if abs(other) < 1e-128 {
            if self != 0 || other == 0 { return order(to: 0 as Decimal) }
            return other > 0 ? .orderedAscending : .orderedDescending
        }
        guard abs(other) < 1e165, let number = Decimal(string: "\(other)") else {
            return other > 0 ? .orderedAscending : .orderedDescending
        }
        return order(to: number)
    }
}

extension Comparable {
    fileprivate func order(to other: Self) -> ComparisonResult {
        if self < other { return .orderedAscending }
        return self == other ? .orderedSame : .orderedDescending
    }
}

extension Double {
    /// Numeric order, with "not a number" before every number, as in its index key.
    fileprivate func totalOrder(to other: Double) -> ComparisonResult {
        switch (isNaN, other.isNaN) {
        case (true, true): .orderedSame
        case (true, false): .orderedAscending
        case (false, true): .orderedDescending
        case (false, false): order(to: other)
        }
    }
}
