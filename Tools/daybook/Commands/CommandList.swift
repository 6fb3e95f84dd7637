/// All commands, in the order in which the overview shows them.
enum CommandList {
    static let all: [any Command] = [
        InitCommand(),
        RecordCommand(),
        LoadCommand(),
        LogCommand(),
        ShowCommand(),
        FetchCommand(),
        HistoryCommand(),
        DiffCommand(),
        ModelCommand(),
        StatsCommand(),
        UndoCommand(),
        RedoCommand(),
        ReplayCommand(),
        VerifyCommand(),
        ExportCommand(),
        HelpCommand(),
        ManualCommand(),
        CompletionCommand(),
    ]
}

extension ToolError {
    /// The command is declared but this build has no store below it.
    static func withoutStore(_ command: String) -> ToolError {
        ToolError(.usage, "'daybook \(command)' needs a store, and this build cannot open any.")
    }
}
