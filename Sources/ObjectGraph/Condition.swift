import ObjectModel

/// A condition on managed objects of one class, written with key paths or as predicate text.
///
/// ```swift
/// \Employee.lastName == "Lovelace" && \Employee.department?.name != "R&D"
/// Condition<Employee>("lastName BEGINSWITH 'L' AND ANY department.employees.salary > 100")
/// ```
///
/// Both become the same filter, which picks indexes.
public struct Condition<Object: ManagedObject> {
    indirect enum Form {
        case text(String, [Value])
        case comparison(AnyKeyPath, FilterOperator, Value, TextOptions)
        case membership(AnyKeyPath, [Value])
        case reference(AnyKeyPath, FilterOperator, ManagedObject?)
        case and(Form, Form)
        case or(Form, Form)
        case not(Form)
    }

    let form: Form

    init(_ form: Form) {
        self.form = form
    }

    /// A condition in the predicate language.
    ///
    /// - Parameters:
    ///   - text: The predicate. It is read when the request is carried out.
    ///   - arguments: What stands for each `%@`.
    public init(_ text: String, _ arguments: any AttributeValue...) {
        form = .text(text, arguments.map(\.storedValue))
    }

    /// Lowers the condition to a filter.
    func filter(of entity: GraphEntity, in schema: Schema) throws(QueryError) -> Filter {
        try Self.filter(form, entity, schema)
    }

    private static func filter(
        _ form: Form, _ entity: GraphEntity, _ schema: Schema
    ) throws(QueryError) -> Filter {
        switch form {
        case .text(let text, let arguments):
            return try Filter(
                parsing: text, for: entity.schema, in: schema, arguments: arguments)
        case .comparison(let keyPath, let `operator`, let value, let options):
            let path = try entity.filterPath(keyPath, in: schema)
            return .comparison(
                FilterComparison(.path(path), `operator`, .constant(value), options))
        case .membership(let keyPath, let values):
            let path = try entity.filterPath(keyPath, in: schema)
            return .membership(.path(path), FilterValues(values), [])
        case .reference(let keyPath, let `operator`, let object):
            let path = try entity.filterPath(keyPath, in: schema)
            let value = object.map { Value.object($0.graphID.object) } ?? .null
            return .comparison(FilterComparison(.path(path), `operator`, .constant(value)))
        case .and(let left, let right):
            return .and([
                try filter(left, entity, schema), try filter(right, entity, schema),
            ])
        case .or(let left, let right):
            return .or([try filter(left, entity, schema), try filter(right, entity, schema)])
        case .not(let condition):
            return .not(try filter(condition, entity, schema))
        }
    }
}

extension GraphEntity {
    /// The properties that a key path leads along.
    func filterPath(_ keyPath: AnyKeyPath, in schema: Schema) throws(QueryError) -> FilterPath {
        var steps: [SchemaProperty] = []
        var current: SchemaEntity? = self.schema
        for name in path(of: keyPath) {
            guard let property = current?.property(named: name) else {
                throw QueryError("'\(self.schema.name)' has no property '\(name)'.")
            }
            steps.append(property)
            current = property.end.flatMap { schema.entity($0.destination) }
        }
        guard !steps.isEmpty else {
            throw QueryError(
                "The key path \(keyPath) leads to nothing in the model of '\(self.schema.name)'.")
        }
        return FilterPath(steps)
    }
}

// MARK: - Operators

/// Values that are equal.
public func == <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .equal, value.storedValue, []))
}

/// Values that are not equal.
public func != <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .notEqual, value.storedValue, []))
}

/// Values that are less.
public func < <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .less, value.storedValue, []))
}

/// Values that are less or equal.
public func <= <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .lessOrEqual, value.storedValue, []))
}

/// Values that are greater.
public func > <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .greater, value.storedValue, []))
}

/// Values that are greater or equal.
public func >= <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(keyPath, .greaterOrEqual, value.storedValue, []))
}

/// Relationships that lead to an object, or to none.
public func == <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, object: Destination?
) -> Condition<Object> {
    Condition(.reference(keyPath, .equal, object))
}

/// Relationships that lead elsewhere.
public func != <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, object: Destination?
) -> Condition<Object> {
    Condition(.reference(keyPath, .notEqual, object))
}

/// Both conditions.
public func && <Object>(left: Condition<Object>, right: Condition<Object>) -> Condition<Object> {
    Condition(.and(left.form, right.form))
}

/// Either condition, or both.
public func || <Object>(left: Condition<Object>, right: Condition<Object>) -> Condition<Object> {
    Condition(.or(left.form, right.form))
}

/// Not the condition.
public prefix func ! <Object>(condition: Condition<Object>) -> Condition<Object> {
    Condition(.not(condition.form))
}

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Values that are among others.
    public func isIn(_ values: some Sequence<Value>) -> Condition<Root> {
        Condition(.membership(self, values.map(\.storedValue)))
    }

    /// Text that begins with other text, byte for byte; an index serves it.
    public func beginsWith(_ text: String) -> Condition<Root> {
        Condition(.comparison(self, .beginsWith, .string(text), []))
    }

    /// Text that ends with other text.
    public func endsWith(_ text: String) -> Condition<Root> {
        Condition(.comparison(self, .endsWith, .string(text), []))
    }

    /// Text that contains other text.
    public func contains(_ text: String) -> Condition<Root> {
        Condition(.comparison(self, .contains, .string(text), []))
    }
}
