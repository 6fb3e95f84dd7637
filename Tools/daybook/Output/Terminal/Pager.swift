import CDaybookTerminal

/// The program that shows long text on a terminal.
enum Pager {
    /// Starts the pager, unless the user wants none or it cannot be started: then the text goes
    /// directly to the terminal.
    static func start() {
        guard let command else { return }
        _ = terminal_pager_start(command)
    }

    /// Waits until the user has left it.
    ///
    /// - Returns: The command, if the shell could not run it; otherwise nil.
    static func finish() -> String? {
        [126, 127].contains(terminal_pager_finish()) ? command : nil
    }

    /// The user's pager; nil for none.
    ///
    /// The default is `less`, if installed.
    private static var command: String? {
        let chosen = SystemCall.environment("DAYBOOK_PAGER") ?? SystemCall.environment("PAGER")
        guard let chosen else { return SystemCall.isProgram("less") ? "less" : nil }
        return chosen == "cat" ? nil : chosen
    }
}
