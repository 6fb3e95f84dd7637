// The room of errors: why the tool stops, as one sentence and one exit code.

/// Why the tool stops: one sentence for people and one code for scripts.
struct ToolError: Error, Sendable {
    /// The exit code of the process.
    let code: ExitCode
    /// Full sentences, names in single quotes, the remedy last.
    let message: String
    /// One line for each reason, if there are several.
    let details: [String]

    init(_ code: ExitCode, _ message: String, details: [String] = []) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// The command line cannot be understood.
    static func usage(_ message: String) -> ToolError {
        ToolError(.usage, message)
    }

    /// A call of the operating system failed.
    static func system(_ action: String, _ number: Int32) -> ToolError {
        ToolError(.usage, "\(action): \(SystemCall.message(for: number)).")
    }
}

/// The reader of standard output is gone.
///
/// That is no error: `daybook log STORE | head` has what it needs. The tool ends quietly, with
/// success.
struct OutputClosed: Error {}
