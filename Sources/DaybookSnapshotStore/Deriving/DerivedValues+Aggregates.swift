internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

// A count, a sum of integers or decimals, and an extreme that is not lost are computed from the
// value before, so that they cost the same for ten members and a million. Floating-point numbers
// are added anew: the rounded sum does not tell the exact one, and adding to it and subtracting again would make
// the value depend on more than the members.
extension DerivedValues {
    /// The value that an attribute has after the entry, worked out from the value before where that is
    /// enough.
    func value(
        of derivation: SchemaDerivation, in object: ObjectID,
        after movement: DerivedMovements.Movement,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Value {
        guard change(of: object)?.isInsert != true else {
            return try value(
                of: derivation, in: object, fromMembersAfter: movement, in: transaction)
        }
        let before = try value(before: derivation.property, of: object, in: transaction)
        let next: Value?
        switch derivation.formula {
        case .text, .count:
            next = before.adding(Int64(movement.joined.count - movement.left.count))
        case .aggregate(.sum, _, _):
            next = before.adding(movement.gained, without: movement.lost)
        case .aggregate(.minimum, _, _):
            next = before.extreme(movement, .orderedAscending)
        case .aggregate(.maximum, _, _):
            next = before.extreme(movement, .orderedDescending)
        }
        return try next
            ?? value(of: derivation, in: object, fromMembersAfter: movement, in: transaction)
    }

    /// The value that an attribute has after the entry, worked out from the members.
    func value(
        of derivation: SchemaDerivation, in object: ObjectID,
        fromMembersAfter movement: DerivedMovements.Movement,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Value {
        guard
            let relationship = derivation.relationship.flatMap({
                schema.entity(object.entity)?.property($0)
            })
        else { return .null }
        var members = Set(
            try projection.members(of: relationship, in: object, at: .latest, in: transaction)
                .map(\.object))
        members.formUnion(movement.joined)
        members.subtract(movement.left)
        guard case .aggregate(let aggregate, let source, _) = derivation.formula else {
            return .int(Int64(members.count))
        }
        var values: [Value] = []
        // In one order everywhere: an intermediate sum of decimals may be one that none can hold.
        for member in members.sorted() {
            let value = try value(after: source, of: member, in: transaction)
            if !value.isNull { values.append(value) }
        }
        switch aggregate {
        case .minimum: return values.min { $0.order(to: $1) == .orderedAscending } ?? .null
        case .maximum: return values.max { $0.order(to: $1) == .orderedAscending } ?? .null
        case .sum: return try sum(values, derivation.property, of: object)
        }
    }

    private func sum(
        _ values: [Value], _ number: PropertyNumber, of object: ObjectID
    ) throws -> Value {
        let property = schema.entity(object.entity)?.property(number)
        let sum: Value? =
            switch property?.attribute?.type.storage {
            case .integer: Value.int(0).adding(values, without: [])
            case .decimal: Value.decimal(0).adding(values, without: [])
            case .double: values.binarySum(isSingle: property?.attribute?.type == .float)
            default: .null
            }
        if let sum { return sum }
        guard let property else { return .null }
        let misfit = ValueMisfit(
            .numberTooLarge, "is a sum that does not fit its type '\(property.typeName)'")
        throw StoreError.validation([ValidationFailure(misfit, of: property, in: object, schema)])
    }
}

extension SchemaProperty {
    fileprivate var typeName: String { attribute?.type.rawValue ?? "?" }
}

extension Value {
    /// A count plus a difference; nil for a value that is not a count.
    fileprivate func adding(_ difference: Int64) -> Value? {
        guard case .int(let count) = self else { return nil }
        let (sum, overflow) = count.addingReportingOverflow(difference)
        return overflow ? nil : .int(sum)
    }

    /// A sum after values were gained and lost; nil when it must be computed from the members, or
    /// does not fit.
    fileprivate func adding(_ gained: [Value], without lost: [Value]) -> Value? {
        switch self {
        case .int(let number):
            var sum = Int128(number)
            for case .int(let value) in gained { sum += Int128(value) }
            for case .int(let value) in lost { sum -= Int128(value) }
            return Int64(exactly: sum).map { .int($0) }
        case .decimal(let number):
            var sum = number
            for case .decimal(let value) in gained where !sum.add(value) { return nil }
            for case .decimal(let value) in lost where !sum.add(-value) { return nil }
            return .decimal(sum)
        default: return nil
        }
    }

    /// A least or greatest value after a movement; nil where it may have been lost.
    fileprivate func extreme(
        _ movement: DerivedMovements.Movement, _ direction: ComparisonResult
    ) -> Value? {
        var best = movement.gained.first
        for value in movement.gained.dropFirst() {
            if let known = best, value.order(to: known) == direction { best = value }
        }
        if isNull {
            // There was no value that could have been lost.
            return movement.lost.isEmpty ? best ?? .null : nil
        }
        if let best, best.order(to: self) != direction.opposite { return best }
        return movement.lost.contains { $0.order(to: self) != direction.opposite } ? nil : self
    }
}

extension Decimal {
    /// Adds a number.
    ///
    /// - Returns: Whether the sum is exact.
    fileprivate mutating func add(_ other: Decimal) -> Bool {
        guard !isNaN, !other.isNaN else { return false }
        var (left, right, sum) = (self, other, Decimal())
        guard NSDecimalAdd(&sum, &left, &right, .plain) == .noError else { return false }
        self = sum
        return true
    }
}

extension [Value] {
    /// The sum of floating-point numbers; nil when it is infinite and none of them is.
    fileprivate func binarySum(isSingle: Bool) -> Value? {
        var exact = BinarySum()
        var isFinite = true
        for case .double(let value) in self {
            exact.add(value)
            isFinite = isFinite && value.isFinite
        }
        var sum = exact.value
        if isSingle { sum = Double(Float(sum)) }
        return !sum.isFinite && isFinite ? nil : .double(sum)
    }
}

extension ComparisonResult {
    fileprivate var opposite: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}
