/// `daybook completion SHELL`: a script that completes commands, options and values.
struct CompletionCommand: Command {
    private let shell = Positional<Shell>("SHELL", .oneOf, "The shell to write the script for.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "completion", in: .tool, summary: "Print a completion script for a shell.",
            discussion: """
                Names in a store, of entities, properties, objects, tags and cursors, come from the
                store that the line names or that DAYBOOK_STORE is set to: the script asks 'daybook
                --complete' with the words of the line. Of a shared store it is what this machine's
                copy has: no server is asked.
                """,
            arguments: [shell], formats: [],
            examples: [
                .init("eval \"$(daybook completion bash)\"", "Complete in this bash"),
                .init("daybook completion fish | source", "Complete in this fish"),
                .init(
                    "daybook completion zsh > /usr/local/share/zsh/site-functions/_daybook",
                    "Complete in every new zsh"),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try console.printLines(ShellCompletion(CommandList.all).script(for: arguments[shell]))
        return .success
    }
}
