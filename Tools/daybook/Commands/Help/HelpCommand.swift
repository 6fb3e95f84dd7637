// The room of the commands about commands: help, manual, completion, and the shell that runs the others.

/// `daybook help [COMMAND]`: the overview, or the page of one command.
struct HelpCommand: Command {
    private let command = OptionalPositional("COMMAND", .name, "The command to read about.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "help", in: .tool,
            summary: "Describe the tool or one of its commands.",
            arguments: [command], formats: [],
            examples: [.init("daybook help help", "Read about the command that prints help")])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let help = HelpText(console.palette, columns: console.columns)
        guard let name = arguments[command] else {
            try console.printLines(help.overview(of: CommandList.all, version: Tool.version))
            return .success
        }
        let command = try ArgumentParser(CommandList.all).command(named: name)
        try console.printLines(help.page(for: command.declaration))
        return .success
    }
}
