/// Turns the text of an argument into a value, and describes what it expects.
struct ValueParser<Value: Sendable>: Sendable {
    /// The expected form, as it reads after "expected": "a whole number from 1".
    let expectation: String
    /// All possible values, if they can be listed.
    let choices: [String]
    /// The completions that a shell offers.
    let completion: Completion
    /// The value, or nil when the text is not one.
    let parse: @Sendable (String) -> Value?

    init(
        _ expectation: String, choices: [String] = [], completion: Completion = .nothing,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.expectation = expectation
        self.choices = choices
        self.completion = choices.isEmpty ? completion : .choices
        self.parse = parse
    }
}

/// The completions that a shell offers for an argument.
enum Completion: Sendable {
    case nothing
    case files
    case choices
}

extension ValueParser where Value == String {
    /// Any text, even empty.
    static var text: ValueParser {
        ValueParser("text") { $0 }
    }

    /// The path of a file.
    static var path: ValueParser {
        ValueParser("the path of a file", completion: .files) { $0.isEmpty ? nil : $0 }
    }

    /// The path of a file to be made. The name that is standard output for other programs has to be meant.
    static var newPath: ValueParser {
        ValueParser(
            "the path of a new file, or './-' for one that is called so", completion: .files
        ) { ["", "-"].contains($0) ? nil : $0 }
    }

    /// The name of an entity, an attribute or anything else with a name.
    static var name: ValueParser {
        ValueParser("a name") { $0.isEmpty ? nil : $0 }
    }

    /// The name of a cursor, which is printed unchanged in tables and sentences.
    static var cursor: ValueParser {
        ValueParser("a name without control characters") { text in
            let isFit = text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control
            }
            return isFit && !text.isEmpty ? text : nil
        }
    }

    /// One of several words.
    static func word(among words: [String]) -> ValueParser {
        ValueParser(list(words), choices: words) { words.contains($0) ? $0 : nil }
    }
}

extension ValueParser where Value == Int {
    /// How many: zero or more.
    static var count: ValueParser {
        ValueParser("a whole number, 0 or more") { text in
            text.utf8.allSatisfy(isDigit) ? Int(text) : nil
        }
    }
}

extension ValueParser where Value == UInt16 {
    /// A port of this machine.
    static var port: ValueParser {
        ValueParser("a port, 0 to 65535") { text in
            text.utf8.allSatisfy(isDigit) ? UInt16(text) : nil
        }
    }
}

extension ValueParser where Value == Duration {
    /// A length of time.
    static var seconds: ValueParser {
        ValueParser("a number of seconds, 0 or more") { text in
            guard let number = Double(text), (0...1e9).contains(number) else { return nil }
            return .seconds(number)
        }
    }
}

extension ValueParser where Value == UInt64 {
    /// The number of one entry.
    static var sequence: ValueParser {
        ValueParser("a sequence number such as 42") { JournalPosition.sequence(from: $0) }
    }
}

extension ValueParser where Value == JournalPosition {
    /// A position in the journal, by number, by time or by the name of a tag.
    static var moment: ValueParser {
        ValueParser(
            "a sequence number such as 42, a time such as 2011-12-15, 2011-12-15T08:30:00Z or "
                + "'2 hours ago', or a tag"
        ) { JournalPosition($0) }
    }
}

extension ValueParser where Value == SubjectName {
    /// All objects of an entity, or one object.
    static var subject: ValueParser {
        ValueParser("an entity such as Country, or an object such as Country/17") {
            SubjectName($0)
        }
    }
}

extension ValueParser where Value == PointInTime {
    /// A date, or a date and a time of day.
    static var time: ValueParser {
        ValueParser("a time such as 2011-12-15, 2011-12-15T08:30:00Z or '2 hours ago'") {
            PointInTime($0)
        }
    }
}

extension ValueParser where Value == ObjectName {
    /// An object of the store.
    static var object: ValueParser {
        ValueParser("an object such as Country/17") { text in
            ObjectName(text).flatMap { $0.property == nil ? $0 : nil }
        }
    }

    /// An object of the store, or one of its properties.
    static var objectOrProperty: ValueParser {
        ValueParser("an object such as Country/17, or a property such as Country/17.name") {
            ObjectName($0)
        }
    }
}

extension ValueParser
where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static var oneOf: ValueParser {
        let words = Value.allCases.map(\.rawValue)
        return ValueParser(list(words), choices: words) { Value(rawValue: $0) }
    }
}

/// "text, json or jsonl".
private func list(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}
