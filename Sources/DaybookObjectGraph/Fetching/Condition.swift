import DaybookObjectModel
public import Foundation

/// A condition on managed objects of one class, written with key paths, as predicate text, or as a
/// Foundation predicate.
///
/// ```swift
/// \Employee.lastName == "Lovelace" && \Employee.department?.name != "R&D"
/// Condition<Employee>("lastName BEGINSWITH 'L' AND department.name != 'R&D'")
/// Condition(#Predicate<Employee> { $0.lastName == "Lovelace" })
/// ```
///
/// All become the same filter, which chooses indexes. A Foundation predicate with an expression that no
/// filter can represent is evaluated on the objects in memory instead;
/// ``ManagedObjectContext/explain(_:)-(FetchRequest<Object>)`` tells which.
///
/// A condition is a value and may cross threads: it keeps the identifiers of objects.
public struct Condition<Object: ManagedObject>: Sendable {
    indirect enum Form: Sendable {
        case text(String, [ConditionArgument])
        case predicate(Predicate<Object>)
        case comparison(ModelKeyPath, FilterOperator, Value, TextOptions)
        case membership(ModelKeyPath, [Value])
        case reference(ModelKeyPath, FilterOperator, ManagedObjectID?)
        case references(ModelKeyPath, [ManagedObjectID])
        case member(ModelKeyPath, ManagedObjectID)
        case found(ModelKeyPath, InnerRequest)
        case and(Form, Form)
        case or(Form, Form)
        case not(Form)
        case past(PastForm)
    }

    let form: Form

    init(_ form: Form) {
        self.form = form
    }

    /// A condition in the predicate language.
    ///
    /// ```swift
    /// Condition<Employee>("lastName IN %@ AND department == %@", ["Lovelace", "Hopper"], research)
    /// ```
    ///
    /// - Parameters:
    ///   - text: The predicate. It is parsed when the request is executed.
    ///   - arguments: The value of each `%@`: a value of a type that attributes have, an object, an
    ///     identifier, nil, or a list of them after `IN` and `BETWEEN`. The value of a `%K` is the text
    ///     of a key path. `%d`, `%ld`, `%f` and the like are read as `%@`.
    public init(_ text: String, _ arguments: Any?...) {
        self.init(text, arguments: arguments)
    }

    /// A condition in the predicate language whose arguments are in a list.
    ///
    /// - Parameters:
    ///   - text: The predicate. It is parsed when the request is executed.
    ///   - arguments: The values of each `%@` and `%K`.
    public init(_ text: String, arguments: [Any?]) {
        form = .text(text, arguments.map { ConditionArgument($0) })
    }

    /// A condition in the form of a Foundation predicate.
    public init(_ predicate: Predicate<Object>) {
        form = .predicate(predicate)
    }

    /// Lowers the condition to a filter.
    ///
    /// - Throws: ``QueryError`` when it does not fit the model; ``NotLowerable`` when a Foundation
    ///   predicate in it has to be evaluated in memory.
    func filter(of entity: GraphEntity, for target: QueryTarget) throws -> Filter {
        try Self.filter(form, entity, target)
    }

    private static func filter(
        _ form: Form, _ entity: GraphEntity, _ target: QueryTarget
    ) throws -> Filter {
        let schema = target.schema
        switch form {
        case .predicate(let predicate):
            return try predicate.lowered(about: entity, for: target)
        case .text(let text, let arguments):
            return try Filter(
                parsing: text, for: entity.schema, naming: target.names,
                predicateArguments: arguments.enumerated().map {
                    try $1.predicateArgument(at: $0 + 1, for: target)
                })
        case .comparison(let keyPath, let `operator`, let value, let options):
            let path = try entity.filterPath(keyPath, in: schema)
            return .comparison(
                FilterComparison(.path(path), `operator`, .constant(value.normalized), options))
        case .membership(let keyPath, let values):
            let path = try entity.filterPath(keyPath, in: schema)
            return .membership(.path(path), FilterValues(values.map(\.normalized)), [])
        case .reference(let keyPath, let `operator`, let id):
            let path = try entity.filterPath(keyPath, in: schema)
            let value = id.map(target.value) ?? .null
            return .comparison(FilterComparison(.path(path), `operator`, .constant(value)))
        case .references(let keyPath, let ids):
            let path = try entity.filterPath(keyPath, in: schema)
            return .membership(.path(path), FilterValues(ids.map(target.value)), [])
        case .member(let keyPath, let id):
            let path = try entity.filterPath(keyPath, in: schema)
            return .quantified(
                .any, path,
                .comparison(FilterComparison(.object, .equal, .constant(target.value(of: id)))))
        case .found(let keyPath, let request):
            let path = try entity.filterPath(keyPath, in: schema)
            return .quantified(.any, path, try request.filter(atEndOf: path, for: target))
        case .and(let left, let right):
            return .and([
                try filter(left, entity, target), try filter(right, entity, target),
            ])
        case .or(let left, let right):
            return .or([try filter(left, entity, target), try filter(right, entity, target)])
        case .not(let condition):
            return .not(try filter(condition, entity, target))
        case .past(let question):
            return try question.filter(of: entity, for: target) { try filter($0, entity, target) }
        }
    }
}

extension Condition {
    /// Whether an object meets the condition, evaluating Foundation predicates in memory.
    func holds(
        for object: Object, of entity: GraphEntity, for target: QueryTarget,
        _ source: some FilterSource
    ) throws -> Bool {
        try Self.holds(form, object, entity, target, source)
    }

    private static func holds(
        _ form: Form, _ object: Object, _ entity: GraphEntity, _ target: QueryTarget,
        _ source: some FilterSource
    ) throws -> Bool {
        switch form {
        case .predicate(let predicate):
            return try predicate.evaluate(object)
        case .and(let left, let right):
            return try holds(left, object, entity, target, source)
                && holds(right, object, entity, target, source)
        case .or(let left, let right):
            return try holds(left, object, entity, target, source)
                || holds(right, object, entity, target, source)
        case .not(let condition):
            return try !holds(condition, object, entity, target, source)
        case .text, .comparison, .membership, .reference, .references, .member, .found,
            .past:
            return try filter(form, entity, target).matches(object.graphID.object, in: source)
        }
    }
}

// MARK: - Operators

/// Values that are equal.
public func == <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .equal, value.storedValue, []))
}

/// Values that are not equal.
public func != <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .notEqual, value.storedValue, []))
}

/// Values that are less.
public func < <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .less, value.storedValue, []))
}

/// Values that are less or equal.
public func <= <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .lessOrEqual, value.storedValue, []))
}

/// Values that are greater.
public func > <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .greater, value.storedValue, []))
}

/// Values that are greater or equal.
public func >= <Object: ManagedObject, Attribute: AttributeValue>(
    keyPath: KeyPath<Object, Attribute>, value: Attribute
) -> Condition<Object> {
    Condition(.comparison(ModelKeyPath(keyPath: keyPath), .greaterOrEqual, value.storedValue, []))
}

/// Relationships that lead to an object, or to none.
public func == <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, object: Destination?
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .equal, object?.lastingID))
}

/// Relationships that lead elsewhere.
public func != <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, object: Destination?
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .notEqual, object?.lastingID))
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
    /// Values that are among others: `(\Employee.firstName).isIn(["Ada", "Grace"])`. Without the
    /// parentheses the key path would go on.
    public func isIn(_ values: some Sequence<Value>) -> Condition<Root> {
        Condition(.membership(ModelKeyPath(keyPath: self), values.map(\.storedValue)))
    }

    /// Text that begins with other text, byte for byte; an index serves it.
    public func beginsWith(_ text: String) -> Condition<Root> {
        Condition(.comparison(ModelKeyPath(keyPath: self), .beginsWith, .string(text), []))
    }

    /// Text that ends with other text.
    public func endsWith(_ text: String) -> Condition<Root> {
        Condition(.comparison(ModelKeyPath(keyPath: self), .endsWith, .string(text), []))
    }

    /// Text that contains other text.
    public func contains(_ text: String) -> Condition<Root> {
        Condition(.comparison(ModelKeyPath(keyPath: self), .contains, .string(text), []))
    }
}
