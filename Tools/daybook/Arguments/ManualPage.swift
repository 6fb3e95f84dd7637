/// The manual page, made from the declarations, in the `man` macros of roff.
struct ManualPage {
    private var lines: [String] = []

    /// The page for these commands.
    static func lines(for commands: [any Command], version: String) -> [String] {
        var page = ManualPage()
        page.lines.append(".TH DAYBOOK 1 \"\" \"Daybook \(version)\" \"Daybook\"")
        page.section("NAME")
        page.text("daybook - \(lowercasedFirst(Tool.summary.dropLast()))")
        page.section("SYNOPSIS")
        page.lines.append(".B daybook")
        page.text("COMMAND [ARGUMENT]... [OPTION]...")
        page.section("DESCRIPTION")
        page.discuss(Tool.discussion)
        page.section("OPTIONS OF EVERY COMMAND")
        page.list(SharedOptions.all)
        page.section("COMMANDS")
        for command in commands { page.describe(command.declaration) }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item(String(code.rawValue), code.meaning) }
        page.section("ENVIRONMENT")
        page.item("DAYBOOK_STORE", "The store of lines that name none.")
        page.item("DAYBOOK_AUTHOR", "The author of entries whose line names none.")
        page.item("NO_COLOR", "When set and not empty, nothing is coloured unless --color says so.")
        page.item("TERM", "When it is 'dumb', nothing is coloured unless --color says so.")
        page.item(
            "DAYBOOK_PAGER, PAGER",
            "The pager for long text on a terminal, run by a shell; the first that is set counts, "
                + "and 'cat' means none. 'less' if neither is set.")
        page.item("LESS", "If it is not set, the pager gets the options 'FRX' in it.")
        page.item(
            "PGSERVICEFILE, PGPASSFILE",
            "Files of libpq, with servers and passwords; 'daybook schema' reads them as all its programs "
                + "do, and its other variables.")
        page.item(
            "XDG_STATE_HOME",
            "The folder under which 'daybook shell' keeps its history; ~/.local/state when not set."
        )
        return page.lines
    }

    private mutating func describe(_ command: CommandDeclaration) {
        lines.append(
            ".SS \(Self.escaped((["daybook"] + Usage.parts(of: command)).joined(separator: " ")))")
        text(command.summary)
        discuss(command.discussion)
        list(command.positionals + command.options)
        for example in command.examples {
            lines.append(".PP")
            text("\(example.purpose):")
            verbatim(example.line.split(separator: "\n").map(String.init))
        }
        guard command.endings.count > 2 else { return }
        lines.append(".PP")
        let endings = command.endings.map { "\($0.code.rawValue): \($0.meaning)" }
        text("Exit status " + endings.joined(separator: " "))
    }

    private mutating func section(_ title: String) {
        lines.append(".SH \(title)")
    }

    private mutating func discuss(_ discussion: String) {
        for paragraph in Usage.paragraphs(of: discussion) {
            guard paragraph.isVerbatim else {
                lines.append(".PP")
                text(paragraph.text)
                continue
            }
            verbatim(paragraph.text.split(separator: "\n").map(String.init))
        }
    }

    private mutating func list(_ arguments: [ArgumentDeclaration]) {
        for argument in arguments { item(Usage.heading(of: argument), Usage.help(of: argument)) }
    }

    private mutating func item(_ name: String, _ meaning: String) {
        lines += [".TP", ".B \(Self.escaped(name))"]
        text(meaning)
    }

    private mutating func verbatim(_ text: [String]) {
        lines += [".PP", ".RS 4", ".nf"] + text.map(Self.guarded) + [".fi", ".RE"]
    }

    private mutating func text(_ text: String) {
        lines.append(Self.guarded(text))
    }

    /// A text line that roff does not mistake for a request.
    private static func guarded(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "\"": result += "\\(dq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default: result.append(character)
            }
        }
        return result
    }

    private static func lowercasedFirst(_ text: Substring) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }
}
