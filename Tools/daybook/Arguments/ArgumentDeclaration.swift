/// One argument, as the parser, the help, the manual and the shells need it.
struct ArgumentDeclaration: Sendable {
    /// Positional argument, option or flag.
    enum Kind: Sendable {
        case positional
        case option
        case flag
    }

    /// How often an argument may and must be given.
    enum Occurrence: Sendable {
        case once
        case optional
        case repeated
        /// Once or more.
        case several
    }

    let kind: Kind
    let occurrence: Occurrence
    /// The long name of an option (`--where`), the capitals of a positional (`STORE`).
    let name: String
    /// The one-letter name of an option (`-n`).
    let shortName: String?
    /// A second long name of an option, which other commands use (`--since`).
    let otherName: String?
    /// The capitals that stand for a value: `SEQ|TIME`.
    let placeholder: String
    /// One sentence.
    let help: String
    let expectation: String
    let choices: [String]
    let completion: Completion
    let convert: @Sendable (String) -> (any Sendable)?

    fileprivate init<Value>(
        _ kind: Kind, _ occurrence: Occurrence, name: String, shortName: String? = nil,
        otherName: String? = nil, placeholder: String, _ parser: ValueParser<Value>, help: String
    ) {
        self.kind = kind
        self.occurrence = occurrence
        self.name = name
        self.shortName = shortName
        self.otherName = otherName
        self.placeholder = placeholder
        self.help = help
        expectation = parser.expectation
        choices = parser.choices
        completion = parser.completion
        convert = { parser.parse($0) }
    }

    /// Every spelling of an option.
    var names: [String] {
        [name] + [otherName, shortName].compactMap(\.self)
    }

    var takesValue: Bool { kind != .flag }
}

/// An argument that a command declares once and uses to read its value.
///
/// ```swift
/// private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
/// …
/// let limit = arguments[limit] ?? .max
/// ```
protocol Argument: Sendable {
    /// The result of reading the argument.
    associatedtype Result
    var declaration: ArgumentDeclaration { get }
    /// Turns the given values into the result.
    func result(of values: [any Sendable]) -> Result
}

/// A mandatory positional value: `STORE`.
struct Positional<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(_ placeholder: String, _ parser: ValueParser<Value>, _ help: String) {
        declaration = ArgumentDeclaration(
            .positional, .once, name: placeholder, placeholder: placeholder, parser, help: help)
    }

    func result(of values: [any Sendable]) -> Value {
        required(values)
    }
}

/// An optional positional value: `[COMMAND]`.
struct OptionalPositional<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(_ placeholder: String, _ parser: ValueParser<Value>, _ help: String) {
        declaration = ArgumentDeclaration(
            .positional, .optional, name: placeholder, placeholder: placeholder, parser, help: help)
    }

    func result(of values: [any Sendable]) -> Value? {
        values.first as? Value
    }
}

/// One or more positional values: `SEQ...`.
struct SeveralPositionals<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(_ placeholder: String, _ parser: ValueParser<Value>, _ help: String) {
        declaration = ArgumentDeclaration(
            .positional, .several, name: placeholder, placeholder: placeholder, parser, help: help)
    }

    func result(of values: [any Sendable]) -> [Value] {
        values.compactMap { $0 as? Value }
    }
}

/// An optional option with a value: `[--at SEQ|TIME]`.
struct Option<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(
        _ name: String, or other: String? = nil, short: String? = nil, _ placeholder: String,
        _ parser: ValueParser<Value>, _ help: String
    ) {
        declaration = ArgumentDeclaration(
            .option, .optional, name: name, shortName: short, otherName: other,
            placeholder: placeholder, parser, help: help)
    }

    func result(of values: [any Sendable]) -> Value? {
        values.first as? Value
    }
}

/// A mandatory option with a value: `--model FILE`.
struct RequiredOption<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(
        _ name: String, short: String? = nil, _ placeholder: String, _ parser: ValueParser<Value>,
        _ help: String
    ) {
        declaration = ArgumentDeclaration(
            .option, .once, name: name, shortName: short, placeholder: placeholder, parser,
            help: help)
    }

    func result(of values: [any Sendable]) -> Value {
        required(values)
    }
}

/// An option that may be given several times: `[--assert P]...`.
struct RepeatedOption<Value: Sendable>: Argument {
    let declaration: ArgumentDeclaration

    init(
        _ name: String, short: String? = nil, _ placeholder: String, _ parser: ValueParser<Value>,
        _ help: String
    ) {
        declaration = ArgumentDeclaration(
            .option, .repeated, name: name, shortName: short, placeholder: placeholder, parser,
            help: help)
    }

    func result(of values: [any Sendable]) -> [Value] {
        values.compactMap { $0 as? Value }
    }
}

/// An option without a value: `[--reverse]`.
struct Flag: Argument {
    let declaration: ArgumentDeclaration

    init(_ name: String, short: String? = nil, _ help: String) {
        declaration = ArgumentDeclaration(
            .flag, .optional, name: name, shortName: short, placeholder: "",
            ValueParser("nothing") { _ in true }, help: help)
    }

    func result(of values: [any Sendable]) -> Bool {
        !values.isEmpty
    }
}

private func required<Value>(_ values: [any Sendable]) -> Value {
    guard let value = values.first as? Value else {
        preconditionFailure("The parser lets no command run without its required arguments.")
    }
    return value
}
