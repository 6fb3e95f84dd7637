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
    private(set) var term: AggregateTerm
    /// The value as its type; nil when it does not fit.
    let result: @Sendable (Value) -> Result?

    private init(
        _ function: AggregateFunction, _ keyPath: PartialKeyPath<Object>,
        _ result: @escaping @Sendable (Value) -> Result?
    ) {
        term = AggregateTerm(
            function: function, key: .keyPath(ModelKeyPath(keyPath: keyPath)))
        self.result = result
    }

    private init(counting result: @escaping @Sendable (Value) -> Result?) {
        term = AggregateTerm(function: .count, key: nil)
        self.result = result
    }

    /// The same aggregate, whose column in a ``Selection`` has a name of its own.
    ///
    /// ```swift
    /// let payroll = FetchRequest<Employee>()
    ///     .select(\.department?.name, .sum(\.salary).named("total"))
    ///     .having("total > 1000")
    ///     .ordered(by: .descending("total"))
    /// ```
    ///
    /// Without one a column is called `sum(salary)`, or `count` for the number of objects.
    ///
    /// - Parameter name: The name. A predicate can name it if it is one word.
    /// - Returns: The aggregate with it.
    public func named(_ name: String) -> Aggregate {
        var other = self
        other.term.name = name
        return other
    }
}

/// An aggregate as a request names it.
struct AggregateTerm: Sendable {
    let function: AggregateFunction
    /// The attribute; nil for the number of objects.
    let key: RequestKey?
    /// The name of its column; nil for the usual one.
    var name: String?

    /// The path to the attribute; nil for the number of objects.
    ///
    /// - Throws: ``QueryError`` when it does not fit the model.
    func path(of entity: GraphEntity, in schema: Schema) throws(QueryError) -> FilterPath? {
        try key?.path(of: entity, in: schema)
    }
}

extension Aggregate where Result == Int {
    /// The number of objects.
    public static var count: Aggregate { Aggregate(counting: Int.init(storedValue:)) }

    /// The number of objects that have a value.
    public static func count(_ attribute: KeyPath<Object, some AttributeValue>) -> Aggregate {
        Aggregate(.count, attribute) { Int(storedValue: $0) }
    }

    /// The number of different values; no value is none.
    public static func countDistinct(
        _ attribute: KeyPath<Object, some AttributeValue>
    ) -> Aggregate {
        Aggregate(.distinct, attribute) { Int(storedValue: $0) }
    }
}

extension Aggregate {
    /// The sum of a number; 0 for no objects.
    ///
    /// Numbers are added exactly; the sum of binary numbers is rounded, once.
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

    /// The number in the middle, or the mean of the two there; nil for no objects.
    public static func median<Number: AttributeValue & Numeric>(
        _ attribute: KeyPath<Object, Number>
    ) -> Aggregate where Result == Double? {
        Aggregate(.median, attribute) { Double?(storedValue: $0.binary) }
    }

    /// The number in the middle of those that objects may be without; nil when none has one.
    public static func median<Number: AttributeValue & Numeric>(
        _ attribute: KeyPath<Object, Number?>
    ) -> Aggregate where Result == Double? {
        Aggregate(.median, attribute) { Double?(storedValue: $0.binary) }
    }

    /// The decimal number in the middle, or the mean of the two there; nil for no objects.
    public static func median(
        _ attribute: KeyPath<Object, Decimal>
    ) -> Aggregate where Result == Decimal? {
        Aggregate(.median, attribute) { Decimal?(storedValue: $0) }
    }

    /// The decimal number in the middle of those that objects may be without; nil when none has one.
    public static func median(
        _ attribute: KeyPath<Object, Decimal?>
    ) -> Aggregate where Result == Decimal? {
        Aggregate(.median, attribute) { Decimal?(storedValue: $0) }
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
