public import Foundation

/// One value of one property.
///
/// Every attribute type has one of these forms: the three integer types share ``int(_:)``, `Float`
/// and `Double` share ``double(_:)``, URLs and enumerations with a string as their raw value are
/// ``string(_:)``, and `Codable` values are ``data(_:)`` holding JSON. A value of the type `Data` with
/// more than ``LargeData/inlineBytesMaximum`` bytes is ``large(_:)``.
///
/// Two values are equal when their canonical bytes are: strings are compared by UTF-8 and numbers
/// by bit pattern, because changing one encoding of "é" to the other is a change, too. Bytes are equal
/// however they are kept.
public enum Value: Sendable {
    /// No value.
    case null
    /// A truth value.
    case bool(Bool)
    /// An integer of any width.
    case int(Int64)
    /// A binary floating-point number.
    case double(Double)
    /// A decimal number of up to 38 digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// More bytes than a record holds itself, by reference.
    case large(LargeData)
    /// A point in time.
    case date(Date)
    /// A universally unique identifier.
    case uuid(UUID)
    /// A reference to another object of the same store.
    case object(ObjectID)
}

extension Value {
    /// Whether there is no value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The object referred to, if this is a reference.
    public var reference: ObjectID? {
        if case .object(let id) = self { id } else { nil }
    }

    /// The same value in its stored form.
    ///
    /// Zero has no sign, "not a number" has one bit pattern, and dates are rounded to 2⁻³² seconds,
    /// so that their decimal text is exact.
    package var normalized: Value {
        switch self {
        case .double(let number):
            if number == 0 { return .double(0) }
            return number.isNaN ? .double(.nan) : self
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            guard abs(seconds) < 0x1p21 else { return self }
            let scaled = (seconds * 0x1p32).rounded() / 0x1p32
            return .date(Date(timeIntervalSinceReferenceDate: scaled == 0 ? 0 : scaled))
        default:
            return self
        }
    }

    /// The same value in its stored form, in an attribute of a type: as ``normalized``, and many bytes
    /// of data by reference.
    package func normalized(for type: AttributeType?) -> Value {
        if case .data(let data) = self {
            guard type == .data, data.count > LargeData.inlineBytesMaximum else { return self }
            return .large(LargeData(data))
        }
        if case .large(let data) = self, data.count <= LargeData.inlineBytesMaximum,
            let bytes = data.inMemory
        {
            return .data(bytes)
        }
        return normalized
    }

    /// The bytes, in whichever form they are.
    private var asLarge: LargeData? {
        switch self {
        case .data(let data): LargeData(data)
        case .large(let data): data
        default: nil
        }
    }

    /// The number of bytes, in whichever form they are; nil for another kind of value.
    package var dataCount: Int? {
        switch self {
        case .data(let data): data.count
        case .large(let data): data.count
        default: nil
        }
    }
}

extension Value: Hashable {
    /// Whether both have the same canonical bytes.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.decimal(let left), .decimal(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.data(let left), .data(let right)): left == right
        case (.large(let left), .large(let right)): left == right
        case (.data, .large), (.large, .data):
            left.dataCount == right.dataCount && left.asLarge == right.asLarge
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern
                == right.timeIntervalSinceReferenceDate.bitPattern
        case (.uuid(let left), .uuid(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes the parts that equality compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .decimal(let value): hasher.combine(value)
        case .string(let value):
            for byte in value.utf8 { hasher.combine(byte) }
        case .data(let value) where value.count > LargeData.inlineBytesMaximum:
            hasher.combine(value.count)
        case .data(let value): hasher.combine(value)
        case .large(let value): hasher.combine(value.count)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

extension String {
    /// Whether both are the same UTF-8 bytes, not merely canonically equivalent.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && utf8.span.bytes.hasSameBytes(as: other.utf8.span.bytes)
    }
}
