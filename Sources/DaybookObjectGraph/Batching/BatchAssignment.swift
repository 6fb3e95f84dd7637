public import DaybookObjectModel

/// What a ``BatchUpdateRequest`` does to one property of each object.
///
/// ```swift
/// let raise = BatchUpdateRequest<Employee>(
///     where: \.isActive == true,
///     assigning: [
///         .set(\.previousSalary, to: \.salary), .multiply(\.salary, by: 2),
///         .add(\.bonus, to: \.total), .set("grade", to: .string("senior")),
///     ])
/// ```
///
/// Values are read from the object as it was before the batch, whatever the order of the assignments.
///
/// Arithmetic stays in the type of the attribute: whole and decimal numbers are exact, and a result that the
/// type cannot hold makes the batch fail with an error that names the object. An operation with a number
/// that is nil gives nil.
public struct BatchAssignment<Object: ManagedObject>: Sendable {
    /// A part of the new value.
    enum Operand: Sendable {
        case constant(Value)
        case property(RequestKey)
    }

    /// What the property becomes.
    enum Change: Sendable {
        case value(Operand)
        case result(ArithmeticOperation, Operand)
        case elements([Value])
        case reference(ManagedObjectID?)
    }

    let target: RequestKey
    let change: Change

    private init(_ target: AnyKeyPath, _ change: Change) {
        self.target = .keyPath(ModelKeyPath(keyPath: target))
        self.change = change
    }

    private init(name: String, _ change: Change) {
        target = .name(name)
        self.change = change
    }
}

extension BatchAssignment.Operand {
    fileprivate static func of(_ keyPath: AnyKeyPath) -> Self {
        .property(.keyPath(ModelKeyPath(keyPath: keyPath)))
    }
}

// MARK: - Values

extension BatchAssignment {
    /// The same value for every object; nil for no value.
    public static func set<Attribute: AttributeValue>(
        _ keyPath: KeyPath<Object, Attribute>, to value: Attribute
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .value(.constant(value.storedValue)))
    }

    /// The value that another attribute of the object had before the batch.
    public static func set<Attribute: AttributeValue>(
        _ keyPath: KeyPath<Object, Attribute>, to other: KeyPath<Object, Attribute>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .value(.of(other)))
    }

    /// The value that another attribute of the object had before the batch.
    public static func set<Attribute: AttributeValue>(
        _ keyPath: KeyPath<Object, Attribute?>, to other: KeyPath<Object, Attribute>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .value(.of(other)))
    }

    /// The same elements of a composite attribute for every object.
    public static func set<Composite: CompositeValue>(
        _ keyPath: KeyPath<Object, Composite>, to value: Composite
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .elements(CompositeWriter(value).values))
    }

    /// The same value, in its stored form, for an attribute given by its name.
    public static func set(_ name: String, to value: Value) -> BatchAssignment {
        BatchAssignment(name: name, .value(.constant(value)))
    }

    /// A to-one relationship that is kept with the object leads to a saved object, or to nothing for nil.
    public static func relate<Destination: ManagedObject>(
        _ keyPath: KeyPath<Object, Destination?>, to id: ManagedObjectID?
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .reference(id))
    }
}

// MARK: - Arithmetic

extension BatchAssignment {
    /// A number that is greater by an amount.
    public static func add<Number: AttributeValue & Numeric>(
        _ amount: Number, to keyPath: KeyPath<Object, Number>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.add, .constant(amount.storedValue)))
    }

    /// A number that is greater by an amount, where there is one.
    public static func add<Number: AttributeValue & Numeric>(
        _ amount: Number, to keyPath: KeyPath<Object, Number?>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.add, .constant(amount.storedValue)))
    }

    /// A number that is greater by another of the object.
    public static func add<Number: AttributeValue & Numeric>(
        _ other: KeyPath<Object, Number>, to keyPath: KeyPath<Object, Number>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.add, .of(other)))
    }

    /// A number that is greater by another of the object; nil when either is.
    public static func add<Number: AttributeValue & Numeric>(
        _ other: KeyPath<Object, Number?>, to keyPath: KeyPath<Object, Number?>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.add, .of(other)))
    }

    /// A number that is less by an amount.
    public static func subtract<Number: AttributeValue & Numeric>(
        _ amount: Number, from keyPath: KeyPath<Object, Number>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.subtract, .constant(amount.storedValue)))
    }

    /// A number that is less by an amount, where there is one.
    public static func subtract<Number: AttributeValue & Numeric>(
        _ amount: Number, from keyPath: KeyPath<Object, Number?>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.subtract, .constant(amount.storedValue)))
    }

    /// A number that is less by another of the object.
    public static func subtract<Number: AttributeValue & Numeric>(
        _ other: KeyPath<Object, Number>, from keyPath: KeyPath<Object, Number>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.subtract, .of(other)))
    }

    /// A number that is less by another of the object; nil when either is.
    public static func subtract<Number: AttributeValue & Numeric>(
        _ other: KeyPath<Object, Number?>, from keyPath: KeyPath<Object, Number?>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.subtract, .of(other)))
    }

    /// A number times a factor.
    public static func multiply<Number: AttributeValue & Numeric>(
        _ keyPath: KeyPath<Object, Number>, by factor: Number
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.multiply, .constant(factor.storedValue)))
    }

    /// A number times a factor, where there is one.
    public static func multiply<Number: AttributeValue & Numeric>(
        _ keyPath: KeyPath<Object, Number?>, by factor: Number
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.multiply, .constant(factor.storedValue)))
    }

    /// A number times another of the object.
    public static func multiply<Number: AttributeValue & Numeric>(
        _ keyPath: KeyPath<Object, Number>, by other: KeyPath<Object, Number>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.multiply, .of(other)))
    }

    /// A number times another of the object; nil when either is.
    public static func multiply<Number: AttributeValue & Numeric>(
        _ keyPath: KeyPath<Object, Number?>, by other: KeyPath<Object, Number?>
    ) -> BatchAssignment {
        BatchAssignment(keyPath, .result(.multiply, .of(other)))
    }
}
