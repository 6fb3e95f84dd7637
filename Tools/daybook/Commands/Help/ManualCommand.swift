/// `daybook manual`: the manual page.
struct ManualCommand: Command {
    var declaration: CommandDeclaration {
        CommandDeclaration(
            "manual", in: .tool, summary: "Print the manual page, in roff.",
            formats: [],
            examples: [
                .init("daybook manual | man -l -", "Read it"),
                .init(
                    "daybook manual > /usr/local/share/man/man1/daybook.1",
                    "Install it for 'man daybook'"),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try console.printLines(ManualPage.lines(for: CommandList.all, version: Tool.version))
        return .success
    }
}
