import Foundation

// | value | written | also read |
// |---|---|---|
// | null | null | |
// | bool | true, false | |
// | int | number | number with a zero fraction |
// | double | number; "NaN", "Infinity", "-Infinity" | |
// | decimal | "123.45": plain digits as text; "NaN" | number; text with an exponent |
// | string, url | text | |
// | data | base64 text | |
// | large data | "large:5242880:3f…": the number of bytes and the digest | base64 text |
// | date | "2011-12-15T08:30:00.5Z" | date only, without zone, "+01:00" |
// | uuid | text in capitals | small letters |
// | codable | the JSON value itself, if its bytes have no spaces or needless escapes; | any JSON |
// |         | else {"base64": "…"} | |
// | object | "Country/17" | |
extension JSONWriter {
    /// Writes a value so that ``Value/init(_:for:)`` reads back the same one.
    ///
    /// The type distinguishes coded values from data; it is nil for a relationship.
    package mutating func value(_ value: Value, for type: AttributeType?, in schema: Schema) {
        switch value {
        case .object(let object): string(schema.name(of: object))
        case .string(let text): string(text)
        case .int(let number): integer(number)
        default: self.value(JSONValue(value, for: type))
        }
    }

    /// Writes the value of a property.
    package mutating func value(_ value: Value, of property: SchemaProperty, in schema: Schema) {
        self.value(value, for: property.attribute?.type, in: schema)
    }
}

extension JSONValue {
    /// The name of the only member of the object that stands for bytes that are not plain JSON.
    private static let base64Name = "base64"

    /// A value that is not a reference; the type distinguishes coded values from data.
    init(_ value: Value, for type: AttributeType?) {
        switch value {
        case .null, .object: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .number(String(value))
        case .double(let value):
            self = value.nonFiniteName.map { .string($0) } ?? .number(value.description)
        case .decimal(let value): self = .string(value.plainText)
        case .string(let value): self = .string(value)
        case .data(let value) where type == .codable: self = JSONValue(coded: value)
        case .data(let value): self = .string(value.base64EncodedString())
        case .large(let value): self = .string(value.reference)
        case .date(let value): self = .string(DateText.text(value))
        case .uuid(let value): self = .string(value.uuidString)
        }
    }

    /// A coded value: its JSON if that reads back as the same bytes, else the bytes as base64.
    init(coded data: Data) {
        do {
            let value = try JSONValue(parsing: Array(data))
            if value != .null, value.base64 == nil,
                value.text(escaping: .least).utf8.elementsEqual(data)
            {
                self = value
                return
            }
        } catch {
            // Bytes that are not JSON are also written as base64.
        }
        self = .object([JSONMember(Self.base64Name, .string(data.base64EncodedString()))])
    }

    /// The bytes of a coded value; nil when its base64 is broken.
    var coded: Data? {
        base64.map { Data(base64Encoded: $0) } ?? Data(text(escaping: .least).utf8)
    }

    private var base64: String? {
        guard case .object(let members) = self, members.count == 1,
            members[0].name == Self.base64Name, case .string(let text) = members[0].value
        else { return nil }
        return text
    }
}

extension Value {
    /// Reads the value of an attribute.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - type: The attribute's type.
    ///   - isConfidential: Whether an error must not tell what was found.
    /// - Throws: ``JSONError`` without a location, saying what was found and what would be right.
    package init(
        _ json: JSONValue, for type: AttributeType, isConfidential: Bool = false
    ) throws(JSONError) {
        if case .null = json {
            self = .null
            return
        }
        guard let value = Value(json, as: type)?.normalized(for: type) else {
            let found = isConfidential ? json.form : json.noun
            throw JSONError("\(type.jsonExpectation) was expected, not \(found).")
        }
        if let objection = type.objection(to: value) { throw JSONError("It \(objection).") }
        self = value
    }

    /// Reads a reference such as `"Country/17"` to an object of the destination or its subentities.
    package init(
        _ json: JSONValue, to destination: SchemaEntity, in schema: Schema
    ) throws(JSONError) {
        switch json {
        case .null: self = .null
        case .string(let text):
            guard let object = schema.object(named: text) else {
                let entity = text.split(separator: "/").first.map(String.init) ?? text
                let names = schema.entities.map(\.name)
                let suggestion = names.contains(entity) ? "" : entity.suggestion(among: names)
                throw JSONError(
                    "'\(text)' does not name an object, as '\(destination.name)/1' does"
                        + (suggestion.isEmpty ? "." : suggestion))
            }
            guard destination.family.contains(object.entity) else {
                throw JSONError("'\(text)' is not an object of '\(destination.name)'.")
            }
            self = .object(object)
        default:
            throw JSONError(
                "The name of an object, such as \"\(destination.name)/1\", was expected, not "
                    + "\(json.noun).")
        }
    }

    init?(_ json: JSONValue, as type: AttributeType) {
        let found: Value? =
            switch (type, json) {
            case (.bool, .bool(let value)): .bool(value)
            case (.int16, .number(let text)), (.int32, .number(let text)),
                (.int64, .number(let text)):
                Value(integer: text)
            case (.float, .number(let text)):
                Float(text).flatMap { $0.isFinite ? .double(Double($0)) : nil }
            case (.double, .number(let text)):
                Double(text).flatMap { $0.isFinite ? .double($0) : nil }
            case (.float, .string(let text)), (.double, .string(let text)):
                Double.namesOfNonFinite[text].map { .double($0) }
            case (.decimal, .string("NaN")): .decimal(.nan)
            case (.decimal, .number(let text)), (.decimal, .string(let text)):
                Decimal(exactly: text).map { .decimal($0) }
            case (.string, .string(let text)), (.url, .string(let text)): .string(text)
            case (.data, .string(let text)):
                LargeData(reference: text).map { .large($0) }
                    ?? Data(base64Encoded: text).map { .data($0) }
            case (.date, .string(let text)): DateText.date(text).map { .date($0) }
            case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) }
            case (.codable, _): json.coded.map { .data($0) }
            default: nil
            }
        guard let found else { return nil }
        self = found
    }
}

extension Value {
    /// The integer that a JSON number is, however it is written (`5`, `5.0`, `5e3`); a decimal number, which no attribute
    /// of integers holds, when it has more than 64 bits.
    fileprivate init?(integer text: String) {
        if let number = Int64(text) {
            self = .int(number)
            return
        }
        guard let decimal = Decimal(exactly: text), DecimalParts(decimal).exponent >= 0 else {
            return nil
        }
        self = Int64(decimal.plainText).map { .int($0) } ?? .decimal(decimal)
    }
}

extension AttributeType {
    /// How a value of the type is written in JSON.
    fileprivate var jsonExpectation: String {
        switch self {
        case .bool: "True or false"
        case .int16, .int32, .int64: "An integer"
        case .float, .double: "A number (or \"NaN\", \"Infinity\", \"-Infinity\")"
        case .decimal: "A decimal number of at most 38 digits, as text or number,"
        case .string: "Text"
        case .url: "The text of a URL"
        case .data: "Base64 text"
        case .date: "A date such as \"2011-12-15T08:30:00Z\""
        case .uuid: "A UUID such as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\""
        case .codable: "JSON, or an object with the member 'base64',"
        }
    }
}
