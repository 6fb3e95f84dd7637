import DaybookSnapshotStore

/// The tool as a whole: reads the command line, runs a command, and reports the result.
enum Tool {
    static let version = "0.1.0"

    static let summary =
        "Record changes into a journal, look into the past, undo, verify and export."

    /// The opening of the manual page.
    static let discussion = """
        A store is one file. It holds a journal, in which every insert, update and delete is kept \
        with its old and new values, and tables derived from it. The tool needs nothing but the \
        store: the model is kept in the journal, too.

        Data goes to standard output, messages to standard error. Commands that only read never \
        block a program that writes.

        Wherever SEQ|TIME is written, a sequence number (42), 'head' for the newest entry, a time \
        or the name of a tag (see 'daybook help tag') can be given. Digits alone are always a \
        sequence number: 2011 is an entry and not a year. A time is a \
        date (2011-12-15, which begins at midnight) or a date and a time of day \
        (2011-12-15T08:30:00Z, 2011-12-15T08:30+02:00), a month (2011-12), or 'now', 'today', \
        'yesterday', '2 hours ago', '3.days.ago', of seconds, minutes, hours, days, weeks, months \
        and years; without a zone it is UTC. A time stands for the latest entry that is not after \
        it, and a day or a month for its beginning, or as an end for all of it.

        An object is written as its entity and its number: Country/17.

        STORE can be left out when DAYBOOK_STORE is set to it: 'daybook log', 'daybook show 7'. A file \
        that is there and stands in its place is taken for the store all the same, and so is a \
        word that ends with '.daybook'.

        The file .daybook/config of the folder, or of the nearest one above it, has lines such as \
        'store = iso.daybook', 'author = registry', 'color = never' and 'alias.recent = log \
        --oneline --limit 5', after which 'daybook recent' is such a line. Values stand \
        without quotes, and a remark, after '#', on a line of its own. What a line or the \
        environment says counts more; a file that belongs to somebody else is not read.
        """

    /// Runs the tool with the command line of the process.
    static func run() -> ExitCode {
        SystemCall.fillDescriptors()
        SystemCall.ignoreBrokenPipes()
        SystemCall.heedSignals()
        Interruption.takesUnfinishedFilesAway()
        var console = Console(format: .text, color: .auto, isQuiet: false)
        do {
            let words = try SystemCall.commandLine()
            let request = VerificationProcess.request(words)
            if request == nil, !Self.needsNoConfiguration(words) {
                Configuration.current = try Configuration.load { try console.warn($0) }
            }
            let (store, aliases) = (Configuration.current.store, Configuration.current.aliases)
            let code =
                if let request {
                    try VerificationProcess.report(request, console)
                } else if words.first == ShellCompletion.question {
                    try complete(Array(words.dropFirst()), store, on: console)
                } else {
                    try perform(
                        ArgumentParser(CommandList.all, store: store, aliases: aliases)
                            .parse(words),
                        on: &console)
                }
            try console.flush()
            return console.finish(code)
        } catch is OutputClosed {
            return console.finish(.success)
        } catch {
            return report(error, on: console)
        }
    }

    /// Whether a line can be carried out whatever the configuration says, so that help is there when it is wrong.
    private static func needsNoConfiguration(_ words: [String]) -> Bool {
        guard let first = words.first else { return true }
        return ["help", "manual", "completion", "--help", "-h", "--version"].contains(first)
    }

    /// Tells a shell's script the names that can be the last word.
    private static func complete(
        _ words: [String], _ store: String?, on console: Console
    ) throws -> ExitCode {
        try console.printLines(
            ShellCompleter.names(completing: words, store: store).map { DisplayText.escaped($0) })
        return .success
    }

    private static func perform(
        _ request: ArgumentParser.Request, on console: inout Console
    ) throws -> ExitCode {
        switch request {
        case .version:
            try console.print("daybook \(version)")
        case .overview:
            try printOverview(on: console)
        case .nothing:
            try printOverview(on: console)
            throw ToolError.usage(
                "A command is missing. Run 'daybook help COMMAND' to read about one.")
        case .help(let command):
            try console.printLines(
                HelpText(console.palette, columns: console.columns).page(for: command.declaration))
        case .run(let command, let arguments):
            console = Console(
                format: arguments[SharedOptions.output] ?? .text,
                color: arguments[SharedOptions.color] ?? Configuration.current.color ?? .auto,
                isQuiet: arguments[SharedOptions.quiet],
                isPaged: command.isPaged(arguments) && !arguments[SharedOptions.noPager])
            StoreOptions.Waiting.usual = StoreOptions.Waiting(
                limit: arguments[SharedOptions.lockTimeout] ?? StoreOptions.Waiting.limitUsual,
                isOver: { Interruption.isThere })
            SharedStores.isOffline = arguments[SharedOptions.offline]
            let code = try command.run(arguments, console)
            for warning in SharedStores.warnings { try console.warn(warning) }
            return code
        }
        return .success
    }

    private static func printOverview(on console: Console) throws {
        try console.printLines(
            HelpText(console.palette, columns: console.columns)
                .overview(of: CommandList.all, version: version))
    }

    /// Prints the pending output, then the reason for ending; the reason is reported even if the
    /// reader is gone.
    private static func report(_ error: any Error, on console: Console) -> ExitCode {
        let failure = ToolError(error)
        do {
            try console.flush()
        } catch {
            console.discardOutput()
        }
        let code = console.finish(failure.code)
        console.fail(failure.message, details: failure.details)
        return code
    }
}
