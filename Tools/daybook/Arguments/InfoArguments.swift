import DaybookObjectModel

/// The option with which commands that write keep information with their entry.
struct InfoArguments: Sendable {
    private let option: RepeatedOption<InfoPair>

    /// - Parameter help: What the information is kept with.
    init(_ help: String = "Information to keep with the entry.") {
        option = RepeatedOption("--info", "KEY=VALUE", .info, help)
    }

    /// The declaration, for the list of a command.
    var argument: any Argument { option }

    /// The information, by key.
    ///
    /// - Throws: ``ToolError`` when a key is given twice.
    func info(_ arguments: ParsedArguments) throws -> [String: String] {
        var info: [String: String] = [:]
        for pair in arguments[option] {
            guard info.updateValue(pair.value, forKey: pair.key) == nil else {
                throw ToolError.usage(
                    "'--info' gives '\(DisplayText.escaped(pair.key))' twice: an entry keeps one "
                        + "value by a key.")
            }
        }
        return info
    }
}

/// One piece of information: `request=77`.
struct InfoPair: Sendable {
    let key: String
    let value: String

    /// Nil when the key is none that an entry keeps.
    init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        key = String(text[..<sign])
        value = String(text[text.index(after: sign)...])
        guard EntryInfo.objection(toKey: key) == nil else { return nil }
    }
}

/// Information to look for: `request=77`, or `request` with any value.
struct InfoCondition: Sendable {
    let key: String
    let value: String?

    /// Nil when the key is none that an entry keeps.
    init?(_ text: String) {
        if text.contains("=") {
            guard let pair = InfoPair(text) else { return nil }
            (key, value) = (pair.key, pair.value)
        } else {
            guard EntryInfo.objection(toKey: text) == nil else { return nil }
            (key, value) = (text, nil)
        }
    }
}

extension ValueParser where Value == InfoPair {
    /// A key and a value.
    static var info: ValueParser {
        ValueParser("a key and a value such as request=77") { InfoPair($0) }
    }
}

extension ValueParser where Value == InfoCondition {
    /// A key, and perhaps a value.
    static var infoCondition: ValueParser {
        ValueParser("a key such as request, or with a value, request=77") { InfoCondition($0) }
    }
}
