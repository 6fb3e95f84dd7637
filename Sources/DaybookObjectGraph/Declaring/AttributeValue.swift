public import DaybookObjectModel
public import Foundation

/// A Swift type that an attribute can have.
///
/// The types of the standard library and Foundation that a store knows conform already, and so does an
/// optional of each. An enumeration with a raw value conforms by naming the protocol:
///
/// ```swift
/// enum Grade: String, AttributeValue { case junior, senior }
/// ```
///
/// A `Codable` type conforms through ``CodableAttributeValue`` and is kept as JSON.
public protocol AttributeValue: SelectableValue {
    /// The kind of value in the model.
    static var attributeType: AttributeType { get }
    /// Whether the attribute may be without a value.
    static var isOptionalAttribute: Bool { get }
    /// The value to read where nothing is stored; nil for types whose declarations need a default value.
    static var emptyValue: Self? { get }
    /// The value to read where the store holds one that the type cannot represent: an enumeration's case
    /// that has been removed, or that a newer program has added. Nil for types without such a value;
    /// reading is then an error, an ``UnreadableValue``.
    ///
    /// ```swift
    /// enum Mood: String, AttributeValue {
    ///     case happy, other
    ///     static var unknownValue: Mood? { .other }
    /// }
    /// ```
    ///
    /// Until the property is set, the object keeps the stored value.
    static var unknownValue: Self? { get }
    /// Reads a stored value; nil when it has another form or is null.
    init?(storedValue: Value)
    /// Reads an attribute; nil when its value has another form or is null. By default this calls
    /// ``init(storedValue:)``.
    init?(_ attribute: borrowing StoredAttribute)
    /// The value as it is stored.
    var storedValue: Value { get }
}

extension AttributeValue {
    /// Mandatory unless the type is an optional.
    public static var isOptionalAttribute: Bool { false }
    /// No empty value.
    public static var emptyValue: Self? { nil }
    /// No value for what cannot be read.
    public static var unknownValue: Self? { nil }
    /// Reads the value of an attribute.
    public init?(_ attribute: borrowing StoredAttribute) {
        self.init(storedValue: attribute.value)
    }
}

/// A type that reads as an empty value where nothing is stored: zero, "", false.
///
/// Such an attribute needs no default in its declaration.
public protocol EmptyAttributeValue: AttributeValue {}

extension Bool: EmptyAttributeValue {
    /// ``AttributeType/bool``.
    public static var attributeType: AttributeType { .bool }
    /// False.
    public static var emptyValue: Bool? { false }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .bool(let value) = storedValue else { return nil }
        self = value
    }
    /// The value as it is stored.
    @inlinable
    public var storedValue: Value { .bool(self) }
}

extension AttributeValue where Self: FixedWidthInteger {
    /// Zero.
    public static var emptyValue: Self? { 0 }
    /// Reads a stored value; nil when it does not fit the width.
    public init?(storedValue: Value) {
        switch storedValue {
        case .int(let value): self.init(exactly: value)
        case .decimal(let value): self.init(beyondInt64: value)
        default: return nil
        }
    }
    /// Reads an attribute; nil when its value does not fit the width.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        if let value = attribute.integer {
            self.init(exactly: value)
        } else {
            self.init(storedValue: attribute.value)
        }
    }
    /// The value as it is stored. A number that an `Int64` does not hold can be set and compared with, but not saved:
    /// the save fails, and names the attribute and its limits.
    @inlinable
    public var storedValue: Value {
        guard let value = Int64(exactly: self) else { return valueBeyondInt64 }
        return .int(value)
    }
}

// A wide type, such as `UInt64`, has numbers that no attribute holds. Their stored form has the same order, and is not
// one of an integer attribute's, so that the rules of the model refuse it.
extension FixedWidthInteger {
    @usableFromInline var valueBeyondInt64: Value {
        Decimal(exactly: "\(self)").map { .decimal($0) } ?? .double(Double(self))
    }

    fileprivate init?(beyondInt64 value: Decimal) {
        guard value.isWholeBeyondInt64 else { return nil }
        self.init(value.plainText)
    }
}

extension Int16: EmptyAttributeValue {
    /// ``AttributeType/int16``.
    public static var attributeType: AttributeType { .int16 }
}

extension Int32: EmptyAttributeValue {
    /// ``AttributeType/int32``.
    public static var attributeType: AttributeType { .int32 }
}

extension Int64: EmptyAttributeValue {
    /// ``AttributeType/int64``.
    public static var attributeType: AttributeType { .int64 }
}

extension Int: EmptyAttributeValue {
    /// ``AttributeType/int64``.
    public static var attributeType: AttributeType { .int64 }
}

extension AttributeValue where Self: BinaryFloatingPoint {
    /// Zero.
    public static var emptyValue: Self? { 0 }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .double(let value) = storedValue else { return nil }
        self.init(value)
    }
    /// Reads an attribute.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        guard let value = attribute.double else { return nil }
        self.init(value)
    }
    /// The value as it is stored.
    @inlinable
    public var storedValue: Value { .double(Double(self)) }
}

extension Float: EmptyAttributeValue {
    /// ``AttributeType/float``.
    public static var attributeType: AttributeType { .float }
}

extension Double: EmptyAttributeValue {
    /// ``AttributeType/double``.
    public static var attributeType: AttributeType { .double }
}

extension Decimal: EmptyAttributeValue {
    /// ``AttributeType/decimal``.
    public static var attributeType: AttributeType { .decimal }
    /// Zero.
    public static var emptyValue: Decimal? { 0 }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .decimal(let value) = storedValue else { return nil }
        self = value
    }
    /// The value as it is stored.
    public var storedValue: Value { .decimal(self) }
}

extension String: EmptyAttributeValue {
    /// ``AttributeType/string``.
    public static var attributeType: AttributeType { .string }
    /// The empty string.
    public static var emptyValue: String? { "" }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .string(let value) = storedValue else { return nil }
        self = value
    }
    /// Reads an attribute.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        guard let text = attribute.text else { return nil }
        self = text
    }
    /// The value as it is stored.
    @inlinable
    public var storedValue: Value { .string(self) }
}

extension Data: EmptyAttributeValue {
    /// ``AttributeType/data``.
    public static var attributeType: AttributeType { .data }
    /// No bytes.
    public static var emptyValue: Data? { Data() }
    /// Reads a stored value; of large data all bytes, and nil when they cannot be read.
    public init?(storedValue: Value) {
        switch storedValue {
        case .data(let value): self = value
        case .large(let value):
            do {
                self = try value.data()
            } catch {
                // Whoever asks for the property is told, by `ManagedObject.reportUnreadable`.
                return nil
            }
        default: return nil
        }
    }
    /// The value as it is stored.
    public var storedValue: Value { .data(self) }
}

extension LargeData: EmptyAttributeValue {
    /// ``AttributeType/data``.
    public static var attributeType: AttributeType { .data }
    /// No bytes.
    public static var emptyValue: LargeData? { LargeData(Data()) }
    /// Reads a stored value, but none of the bytes that the store keeps by reference.
    public init?(storedValue: Value) {
        switch storedValue {
        case .data(let value): self.init(value)
        case .large(let value): self = value
        default: return nil
        }
    }
    /// The value as it is stored.
    public var storedValue: Value {
        if count <= LargeData.inlineBytesMaximum, let inMemory {
            .data(inMemory)
        } else {
            .large(self)
        }
    }
}

extension Date: EmptyAttributeValue {
    /// ``AttributeType/date``.
    public static var attributeType: AttributeType { .date }
    /// The reference date, 2001-01-01T00:00:00Z.
    public static var emptyValue: Date? { Date(timeIntervalSinceReferenceDate: 0) }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .date(let value) = storedValue else { return nil }
        self = value
    }
    /// Reads an attribute.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        guard let seconds = attribute.seconds else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
    /// The value as it is stored.
    @inlinable
    public var storedValue: Value { .date(self) }
}

extension UUID: EmptyAttributeValue {
    /// ``AttributeType/uuid``.
    public static var attributeType: AttributeType { .uuid }
    /// The identifier of sixteen zero bytes.
    public static var emptyValue: UUID? {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .uuid(let value) = storedValue else { return nil }
        self = value
    }
    /// The value as it is stored.
    public var storedValue: Value { .uuid(self) }
}

extension URL: AttributeValue {
    /// ``AttributeType/url``.
    public static var attributeType: AttributeType { .url }
    /// Reads a stored value.
    public init?(storedValue: Value) {
        guard case .string(let value) = storedValue else { return nil }
        self.init(string: value)
    }
    /// The value as it is stored.
    public var storedValue: Value { .string(absoluteString) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The type of the value inside.
    public static var attributeType: AttributeType { Wrapped.attributeType }
    /// An optional attribute.
    public static var isOptionalAttribute: Bool { true }
    /// Nil.
    public static var emptyValue: Wrapped?? { .some(nil) }
    /// That of the type inside.
    public static var unknownValue: Wrapped?? { Wrapped.unknownValue.map { .some($0) } }
    /// Reads a stored value; null reads as nil.
    public init?(storedValue: Value) {
        if storedValue.isNull {
            self = nil
        } else if let value = Wrapped(storedValue: storedValue) {
            self = value
        } else {
            return nil
        }
    }
    /// Reads an attribute; null reads as nil.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        if attribute.isNull {
            self = nil
        } else if let value = Wrapped(attribute) {
            self = value
        } else {
            return nil
        }
    }
    /// The value as it is stored.
    @inlinable
    public var storedValue: Value { self?.storedValue ?? .null }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    /// The type of the raw value.
    public static var attributeType: AttributeType { RawValue.attributeType }
    /// Reads a stored raw value; nil when no case has it.
    public init?(storedValue: Value) {
        guard let raw = RawValue(storedValue: storedValue) else { return nil }
        self.init(rawValue: raw)
    }
    /// Reads an attribute; nil when no case has its value.
    @inlinable
    public init?(_ attribute: borrowing StoredAttribute) {
        guard let raw = RawValue(attribute) else { return nil }
        self.init(rawValue: raw)
    }
    /// The raw value as it is stored.
    @inlinable
    public var storedValue: Value { rawValue.storedValue }
}
