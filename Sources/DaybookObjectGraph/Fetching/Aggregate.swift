import DaybookObjectModel
public import Foundation

/// A value that is worked out of an attribute of many objects, none of which is made for it.
///
/// ```swift
/// let payroll = try context.fetch(.sum(\Employee.salary), of: FetchRequest(where: \.isActive == true))
/// ```
///
/// Objects without a value do not count.
public struct Aggregate<Object: ManagedObject, Result: Sendable>: Sendable {
    let function: FilterAggregate
    let key: RequestKey
    /// The value as its type; nil when it does not fit.
    let result: @Sendable (Value) -> Result?

    private init(
        _ function: FilterAggregate, _ keyPath: PartialKeyPath<Object>,
        _ result: @escaping @Sendable (Value) -> Result?
    ) {
        self.function = function
        key = .keyPath(ModelKeyPath(keyPath: keyPath))
        self.result = result
    }

    /// The error for a value that the type of the attribute cannot hold or read.
    func misfit(_ attribute: String, _ type: AttributeType) -> QueryError {
        switch function {
        case .minimum, .maximum:
            QueryError(
                "The \(function.rawValue) of \(attribute) is a value that its Swift type cannot read. "
                    + "Give the type an 'unknownValue', or restrict the request.")
        default:
            QueryError(
                "The \(function.rawValue) of \(attribute) does not fit its type '\(type.rawValue)'. Give "
                    + "the attribute a type with more digits, or restrict the request.")
        }
    }
}

extension Aggregate {
    /// The sum of a number; 0 for no objects.
    ///
    /// Whole and decimal numbers are added exactly. Binary numbers are added in the order of the objects.
    public static func sum(
        _ attribute: KeyPath<Object, Result>
    ) -> Aggregate where Result: AttributeValue & Numeric {
        Aggregate(.sum, attribute) { Result(storedValue: $0) }
    }

    /// The sum of a number that objects may be without; 0 when none has one.
    public static func sum(
        _ attribute: KeyPath<Object, Result?>
    ) -> Aggregate where Result: AttributeValue & Numeric {
        Aggregate(.sum, attribute) { Result(storedValue: $0) }
    }

    /// The mean of a number; nil for no objects.
    public static func average<Number: AttributeValue & Numeric>(
        _ attribute: KeyPath<Object, Number>
    ) -> Aggregate where Result == Double? {
        Aggregate(.average, attribute) { Double?(storedValue: $0.binary) }
    }

    /// The mean of a number that objects may be without; nil when none has one.
    public static func average<Number: AttributeValue & Numeric>(
        _ attribute: KeyPath<Object, Number?>
    ) -> Aggregate where Result == Double? {
        Aggregate(.average, attribute) { Double?(storedValue: $0.binary) }
    }

    /// The mean of a decimal number; nil for no objects.
    public static func average(
        _ attribute: KeyPath<Object, Decimal>
    ) -> Aggregate where Result == Decimal? {
        Aggregate(.average, attribute) { Decimal?(storedValue: $0) }
    }

    /// The mean of a decimal number that objects may be without; nil when none has one.
    public static func average(
        _ attribute: KeyPath<Object, Decimal?>
    ) -> Aggregate where Result == Decimal? {
        Aggregate(.average, attribute) { Decimal?(storedValue: $0) }
    }

    /// The least value in the order of a fetch; nil for no objects.
    public static func minimum<Element: AttributeValue & Sendable>(
        _ attribute: KeyPath<Object, Element>
    ) -> Aggregate where Result == Element? {
        Aggregate(.minimum, attribute) { Element?(storedValue: $0) ?? Element?.unknownValue }
    }

    /// The least value of those that objects may be without; nil when none has one.
    public static func minimum<Element: AttributeValue & Sendable>(
        _ attribute: KeyPath<Object, Element?>
    ) -> Aggregate where Result == Element? {
        Aggregate(.minimum, attribute) { Element?(storedValue: $0) ?? Element?.unknownValue }
    }

    /// The greatest value in the order of a fetch; nil for no objects.
    public static func maximum<Element: AttributeValue & Sendable>(
        _ attribute: KeyPath<Object, Element>
    ) -> Aggregate where Result == Element? {
        Aggregate(.maximum, attribute) { Element?(storedValue: $0) ?? Element?.unknownValue }
    }

    /// The greatest value of those that objects may be without; nil when none has one.
    public static func maximum<Element: AttributeValue & Sendable>(
        _ attribute: KeyPath<Object, Element?>
    ) -> Aggregate where Result == Element? {
        Aggregate(.maximum, attribute) { Element?(storedValue: $0) ?? Element?.unknownValue }
    }
}

extension Value {
    /// A decimal number as a binary one; any other value as it is.
    fileprivate var binary: Value {
        guard case .decimal(let number) = self else { return self }
        return .double((number as NSDecimalNumber).doubleValue)
    }
}
