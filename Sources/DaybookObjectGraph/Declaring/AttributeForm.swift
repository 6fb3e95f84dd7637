public import DaybookObjectModel
import Foundation

/// The value of an attribute in a new object, as its declaration gives it.
@usableFromInline enum InitialValue: Sendable {
    /// Nothing.
    case none
    /// The same for all objects.
    case constant(Value)
    /// What an expression gives each time.
    case expression(@Sendable () -> Value)

    /// The value for another object; nil when the declaration has none.
    var next: Value? {
        switch self {
        case .none: nil
        case .constant(let value): value
        case .expression(let make): make()
        }
    }

    /// The value if it is the same for all objects: a constant, or an expression that has given the same
    /// value in every trial.
    var constant: Value? {
        guard case .expression(let make) = self else { return next }
        let first = make()
        for _ in 1..<Self.trialCount where make() != first { return nil }
        return first
    }

    /// Enough to detect an expression that picks one of two values at random, and for the clock to move
    /// on under one that reads it.
    private static let trialCount = 16
}

/// What the Swift type of an attribute adds to the model's description.
struct AttributeForm: Sendable {
    /// What new objects have.
    let initial: InitialValue
    /// The type of the property.
    let typeName: String
    private let make: @Sendable (Value) -> Any?

    init<Attribute: AttributeValue>(_ type: Attribute.Type, _ initial: InitialValue) {
        self.initial = initial
        let name = "\(type)"
        typeName =
            type.isOptionalAttribute && name.hasPrefix("Optional<")
            ? String(name.dropFirst("Optional<".count).dropLast()) : name
        make = { stored in
            let value = Attribute(storedValue: stored) ?? (stored.isNull ? nil : type.unknownValue)
            return (value as? any Unwrappable)?.content ?? value
        }
    }

    /// The value in the type of the property; nil for null, and when the type has no such value.
    func value(_ stored: Value) -> Any? {
        stored.isNull ? nil : make(stored)
    }
}

/// An optional whose type is not known.
protocol Unwrappable {
    var content: Any? { get }
}

extension Optional: Unwrappable {
    var content: Any? { map { $0 as Any } }
}

extension AttributeType {
    /// A stored value in the Swift type that stands for an attribute of an entity without a class.
    func payload(_ stored: Value) -> Any? {
        switch (self, stored) {
        case (.int16, .int(let value)): Int16(exactly: value) ?? value
        case (.int32, .int(let value)): Int32(exactly: value) ?? value
        case (.float, .double(let value)): Float(value)
        case (.url, .string(let text)): URL(string: text) ?? text
        case (.data, .large(let data)): Data(storedValue: stored) ?? data
        default: stored.payload
        }
    }

    /// Some value of the type that is not empty.
    var sample: Value {
        switch self {
        case .bool: .bool(true)
        case .int16, .int32, .int64: .int(1)
        case .float, .double: .double(1)
        case .decimal: .decimal(1)
        case .string, .url: .string("x")
        case .data, .codable: .data(Data([0]))
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        }
    }
}
