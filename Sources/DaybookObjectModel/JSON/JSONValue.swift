/// A JSON value as it was written: numbers keep their digits, members their order.
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

/// What is wrong with JSON, and where.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The way to the value (`entities[1].name`) or the place in the text (`line 1, column 5`).
    package var place: String
    /// What was found and what would be right: the rest of the sentence.
    package var message: String

    /// Describes a mistake.
    package init(_ message: String, at place: String = "") {
        self.place = place
        self.message = message
    }

    /// The message behind its place.
    package var description: String {
        place.isEmpty ? message : "\(place): \(message)"
    }

    /// The same mistake, seen from further outside.
    package func within(_ outer: String) -> JSONError {
        let joint = place.isEmpty || place.hasPrefix("[") ? "" : "."
        return JSONError(message, at: outer + joint + place)
    }
}

extension JSONValue {
    /// The member of that name; nil when this is no object or has none.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// What this is called in a message.
    package var noun: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): "the number \(text)"
        case .string(let text): "the text \"\(text.shortened)\""
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
