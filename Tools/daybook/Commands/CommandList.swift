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
        RestoreCommand(),
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
