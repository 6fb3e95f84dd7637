/// A JSON value as written: numbers keep their digits, members their order.
package enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, digit by digit, so that integers of 64 bits and decimals lose nothing.
    case number(String)
    /// Text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Members in the order in which they were written.
    case object([JSONMember])
}

/// A name and its value within a JSON object.
package struct JSONMember: Sendable, Hashable {
    /// The name, which no other member of the object has.
    package var name: String
    /// The value.
    package var value: JSONValue

    /// A member of an object.
    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

/// A mistake in JSON and its location.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path to the value (`entities[1].name`) or the location in the text (`line 1, column 5`).
    package var location: String
    /// The mistake and the remedy: the rest of the sentence.
    package var message: String

    /// Describes a mistake.
    package init(_ message: String, at location: String = "") {
        self.location = location
        self.message = message
    }

    /// The message after its location.
    package var description: String {
        location.isEmpty ? message : "\(location): \(message)"
    }

    /// The same mistake, located from an enclosing value.
    package func within(_ outer: String) -> JSONError {
        let joint = location.isEmpty || location.hasPrefix("[") ? "" : "."
        return JSONError(message, at: outer + joint + location)
    }
}

extension JSONValue {
    /// The member with that name; nil when this is not an object or has none.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// Its name in a message.
    package var noun: String {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .string(let text): "the text \"\(text.shortened)\""
        case .null, .array, .object: form
        }
    }

    /// Its name in a message that must not tell what it is.
    var form: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "another text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension String {
    /// The first characters, for a message.
    fileprivate var shortened: String {
        count > 40 ? prefix(40) + "…" : self
    }
}
