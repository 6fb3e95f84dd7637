import Foundation

extension Value: CustomStringConvertible {
    /// The value on one line, for display: `none`, `true`, `42`, `"Türkiye"`,
    /// `2022-07-11T00:00:00Z`.
    ///
    /// Text is in quotes, to distinguish it from other values. Bytes are shown only by their
    /// number, and a reference by the number of the object, because a value does not know more: see
    /// ``ManagedObjectID/description`` for the name.
    public var description: String { text { $0.description } }

    /// The value on one line, for a screen.
    ///
    /// - Parameters:
    ///   - isCoded: Whether bytes are the JSON of a coded value.
    ///   - name: The name of an object.
    /// - Returns: The text; ``description`` with names for references.
    package func text(isCoded: Bool = false, naming name: (ObjectID) -> String) -> String {
        switch self {
        case .null: return "none"
        case .string(let text): return ReadableText.quoted(text)
        case .object(let object): return name(object)
        case .data(let data) where isCoded:
            return ReadableText.escaped(String(decoding: data, as: UTF8.self))
        case .data(let data): return data.count == 1 ? "1 byte" : "\(data.count) bytes"
        case .large(let data): return data.description
        case .bool(let value): return String(value)
        case .int(let number): return String(number)
        case .double(let number): return String(number)
        case .decimal(let number): return number.description
        case .date(let date): return DateText.text(date)
        case .uuid(let identifier): return identifier.uuidString
        }
    }
}

extension ObjectID: CustomStringConvertible {
    /// `object 17`: the number, which is unique in the store.
    ///
    /// Only the model has the name of the entity, and so do the identifiers of the object graph:
    /// there an object is called `Country/17`.
    public var description: String { "object \(number)" }
}

extension EntityNumber: CustomStringConvertible {
    /// The number in decimal.
    public var description: String { String(rawValue) }
}

extension PropertyNumber: CustomStringConvertible {
    /// The number in decimal.
    public var description: String { String(rawValue) }
}
