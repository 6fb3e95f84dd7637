import CDaybookTerminal

/// The program through which long text is read on a terminal.
enum Pager {
    /// Starts the pager, unless the user wants none or it cannot be started: the text then goes to
    /// the terminal as it is.
    static func start() {
        guard let command else { return }
        _ = terminal_pager_start(command)
    }

    /// Waits until the reader has left it.
    ///
    /// - Returns: The command, if the shell found nothing to run for it; nil when all is well.
    static func finish() -> String? {
        [126, 127].contains(terminal_pager_finish()) ? command : nil
    }

    /// What the user wants to read with; nil for nothing but the terminal.
    ///
    /// Who has chosen nothing gets `less` where there is one.
    private static var command: String? {
        let chosen = SystemCall.environment("DAYBOOK_PAGER") ?? SystemCall.environment("PAGER")
        guard let chosen else { return SystemCall.isProgram("less") ? "less" : nil }
        return chosen == "cat" ? nil : chosen
    }
}
