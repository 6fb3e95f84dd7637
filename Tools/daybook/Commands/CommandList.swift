/// All commands, in the order in which the overview shows them.
enum CommandList {
    static let all: [any Command] = [
        InitCommand(),
        RecordCommand(),
        LoadCommand(),
        ImportCommand(),
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
        KeygenCommand(),
        CheckpointCommand(),
        ProveCommand(),
        CheckCommand(),
        ExportCommand(),
        HelpCommand(),
        ManualCommand(),
        CompletionCommand(),
    ]
}
