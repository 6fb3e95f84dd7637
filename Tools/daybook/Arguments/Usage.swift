/// The usage line of a command.
enum Usage {
    /// `STORE`, `[COMMAND]`, `--model FILE`, `[--assert P]...`, `[-q]`.
    static func form(of argument: ArgumentDeclaration) -> String {
        let bare =
            switch argument.kind {
            case .positional: argument.placeholder
            case .option: "\(argument.name) \(argument.placeholder)"
            case .flag: argument.name
            }
        return switch argument.occurrence {
        case .once: bare
        case .optional: "[\(bare)]"
        case .repeated: "[\(bare)]..."
        case .several: "\(bare)..."
        }
    }

    /// The parts of the usage line after `daybook`, required options before optional ones.
    static func parts(of command: CommandDeclaration) -> [String] {
        let required = command.options.filter { $0.occurrence == .once }
        let others = command.options.filter { $0.occurrence != .once }
        return [command.name] + (command.positionals + required + others).map(form)
    }

    /// `-n, --limit N`, `--since, --from SEQ|TIME`.
    static func heading(of argument: ArgumentDeclaration) -> String {
        guard argument.kind != .positional else { return argument.placeholder }
        let names = [argument.shortName, argument.name, argument.otherName]
        let joined = names.compactMap(\.self).joined(separator: ", ")
        return argument.takesValue ? "\(joined) \(argument.placeholder)" : joined
    }

    /// The help of an argument with its possible values.
    static func help(of argument: ArgumentDeclaration) -> String {
        guard !argument.choices.isEmpty, argument.choices.count <= 8 else { return argument.help }
        return "\(argument.help) One of: \(argument.choices.joined(separator: ", "))."
    }

    /// The paragraphs of a discussion; indented ones keep their lines.
    static func paragraphs(of text: String) -> [(text: String, isVerbatim: Bool)] {
        text.split(separator: "\n\n").map { paragraph in
            paragraph.hasPrefix(" ")
                ? (String(paragraph), true)
                : (paragraph.split(separator: "\n").joined(separator: " "), false)
        }
    }
}
