public import DaybookObjectModel
public import Foundation

extension AuditValue {
    /// A value in the Swift type that the model declares for its property.
    public enum Content: Sendable, Hashable {
        /// No value. Empty text is `.text("")`.
        case none
        /// A truth value.
        case bool(Bool)
        /// An integer of any width.
        case integer(Int64)
        /// A binary floating-point number.
        case double(Double)
        /// A decimal number.
        case decimal(Decimal)
        /// Text. The hash that replaces a confidential value in an export is text as well.
        case text(String)
        /// Bytes.
        case data(Data)
        /// More bytes than a record holds itself, by reference: ``AuditReader/largeData(_:)`` reads them.
        case large(LargeData)
        /// A point in time.
        case date(Date)
        /// A universally unique identifier.
        case uuid(UUID)
        /// A URL.
        case url(URL)
        /// The JSON of a coded value.
        case coded(Data)
        /// The name of a relationship's destination: `Country/17`.
        case object(String)
    }

    /// The value as a Swift type.
    public var content: Content {
        switch value {
        case .null: .none
        case .bool(let value): .bool(value)
        case .int(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        case .string(let text):
            type == .url ? URL(string: text).map { .url($0) } ?? .text(text) : .text(text)
        case .data(let data): type == .codable ? .coded(data) : .data(data)
        case .large(let data): .large(data)
        case .date(let date): .date(date)
        case .uuid(let identifier): .uuid(identifier)
        case .object: .object(text)
        }
    }

    /// The value as one type.
    ///
    /// ```swift
    /// let before = field.old.value(as: Decimal.self)
    /// ```
    ///
    /// - Parameter type: `Bool`, an integer or floating-point type, `Decimal`, `String`, `Data`, `Date`,
    ///   `UUID` or `URL`; an enumeration with a string or an integer as its raw value. A URL is
    ///   also a `String`, a coded value its JSON as `Data`, and a reference the object's name as a
    ///   `String`.
    /// - Returns: Nil when there is no value, and when the value is of another type or does not fit it.
    public func value<Wanted>(as type: Wanted.Type = Wanted.self) -> Wanted? {
        let forms = content.forms
        if let form = forms.lazy.compactMap({ $0 as? Wanted }).first { return form }
        guard let enumeration = type as? any RawRepresentable.Type else { return nil }
        return forms.lazy.compactMap { enumeration.represented(by: $0) as? Wanted }.first
    }

    /// A coded value, decoded from its JSON.
    ///
    /// - Returns: Nil when there is no value.
    /// - Throws: `DecodingError` when the value is not coded, or is not what the type is decoded from.
    public func decoded<Wanted: Decodable>(as type: Wanted.Type = Wanted.self) throws -> Wanted? {
        switch content {
        case .none: return nil
        case .coded(let json): return try JSONDecoder.ofCodedValues.decode(type, from: json)
        default:
            throw DecodingError.typeMismatch(
                type,
                DecodingError.Context(
                    codingPath: [], debugDescription: "The property does not hold a coded value."))
        }
    }
}

extension AuditValue.Content {
    /// The value in each of the types that can hold it.
    fileprivate var forms: [any Sendable] {
        switch self {
        case .none: return []
        case .bool(let value): return [value]
        case .integer(let number):
            let forms: [(any Sendable)?] = [
                number, Int(exactly: number), Int32(exactly: number), Int16(exactly: number),
                Int8(exactly: number), UInt64(exactly: number), UInt(exactly: number),
                UInt32(exactly: number), UInt16(exactly: number), UInt8(exactly: number),
            ]
            return forms.compactMap(\.self)
        case .double(let number): return [number, Float(number)]
        case .decimal(let number): return [number]
        case .text(let text), .object(let text): return [text]
        case .data(let data), .coded(let data): return [data]
        case .large(let data): return [data]
        case .date(let date): return [date]
        case .uuid(let identifier): return [identifier]
        case .url(let url): return [url, url.absoluteString]
        }
    }
}

extension RawRepresentable {
    /// The case with that raw value; nil when the value is of another type, or there is none.
    fileprivate static func represented(by form: any Sendable) -> Self? {
        (form as? RawValue).flatMap(Self.init(rawValue:))
    }
}
