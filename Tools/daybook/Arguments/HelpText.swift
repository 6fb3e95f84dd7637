/// The help of the tool and of each command, made from their declarations.
struct HelpText {
    private let palette: Palette
    private let width: Int
    private var lines: [String] = []

    /// - Parameters:
    ///   - palette: The colours of headings.
    ///   - columns: The width of the terminal, nil when there is none.
    init(_ palette: Palette, columns: Int?) {
        self.palette = palette
        width = max(40, min(columns ?? 80, 100))
    }

    /// All commands by group, and the options that they share.
    func overview(of commands: [any Command], version: String) -> [String] {
        var help = self
        help.lines.append("\(palette("daybook", .heading)) \(version): \(Tool.summary)")
        help.section("Usage")
        help.lines.append("  daybook COMMAND [ARGUMENT]... [OPTION]...")
        let declarations = commands.map(\.declaration)
        let margin = (declarations.map(\.name.count).max() ?? 0) + 4
        for group in CommandGroup.allCases {
            let members = declarations.filter { $0.group == group }
            guard !members.isEmpty else { continue }
            help.section(group.rawValue)
            for member in members { help.entry(member.name, member.summary, margin: margin) }
        }
        help.list(SharedOptions.all, under: "Options of every command")
        help.lines += [
            "", "Run 'daybook help COMMAND' to read about one command, 'daybook manual | man -l -'",
            "to read about all of them.",
        ]
        return help.lines
    }

    /// One command.
    func page(for command: CommandDeclaration) -> [String] {
        var help = self
        help.lines.append("\(palette("daybook \(command.name)", .heading)): \(command.summary)")
        help.section("Usage")
        help.wrap(
            ["daybook"] + Usage.parts(of: command), indent: 2, hanging: 11 + command.name.count)
        help.discuss(command.discussion)
        help.list(command.positionals, under: "Arguments")
        help.list(command.options, under: "Options")
        let shared = command.allOptions.dropFirst(command.options.count)
        help.list(Array(shared), under: "Options of every command")
        help.examples(command.examples)
        help.endings(command.endings)
        return help.lines
    }

    private mutating func section(_ title: String) {
        lines += ["", palette("\(title):", .heading)]
    }

    private mutating func discuss(_ discussion: String) {
        for paragraph in Usage.paragraphs(of: discussion) {
            lines.append("")
            if paragraph.isVerbatim {
                lines += paragraph.text.split(separator: "\n").map(String.init)
            } else {
                wrap(paragraph.text.split(separator: " ").map(String.init), indent: 0, hanging: 0)
            }
        }
    }

    private mutating func list(_ arguments: [ArgumentDeclaration], under title: String) {
        guard !arguments.isEmpty else { return }
        section(title)
        let headings = arguments.map(Usage.heading)
        let margin = min(26, (headings.map(\.count).max() ?? 0) + 4)
        for (argument, heading) in zip(arguments, headings) {
            entry(heading, Usage.help(of: argument), margin: margin)
        }
    }

    private mutating func examples(_ examples: [CommandDeclaration.Example]) {
        guard !examples.isEmpty else { return }
        section(examples.count == 1 ? "Example" : "Examples")
        for example in examples {
            lines.append(palette("  # \(example.purpose)", .faint))
            lines += example.line.split(separator: "\n").map { "  \($0)" }
        }
    }

    private mutating func endings(_ endings: [CommandDeclaration.Ending]) {
        section("Exit codes")
        for ending in endings { entry(String(ending.code.rawValue), ending.meaning, margin: 5) }
    }

    /// A name and its meaning, in two columns.
    private mutating func entry(_ name: String, _ meaning: String, margin: Int) {
        let words = meaning.split(separator: " ").map(String.init)
        guard name.count + 4 <= margin else {
            lines.append("  \(palette(name, .name))")
            return wrap(words, indent: margin, hanging: margin)
        }
        let start = lines.count
        wrap(words, indent: margin, hanging: margin)
        let gap = String(repeating: " ", count: margin - 2 - name.count)
        lines[start] = "  \(palette(name, .name))\(gap)\(lines[start].dropFirst(margin))"
    }

    private mutating func wrap(_ words: [String], indent: Int, hanging: Int) {
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for word in words {
            if !isEmpty, DisplayText.width(of: line) + 1 + DisplayText.width(of: word) > width {
                lines.append(line)
                line = String(repeating: " ", count: hanging)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        lines.append(line)
    }
}
