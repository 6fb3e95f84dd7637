// The room of the terminal: the streams of the process, colours, width, the pager, progress and signals.

/// The form of the output: `text` for people, `json` for one document, `jsonl` for a stream.
enum OutputFormat: String, CaseIterable, Sendable {
    case text
    case json
    case jsonl
}

/// The two streams of the tool: data on standard output, messages on standard error.
///
/// Nothing else in the tool writes. Data is buffered and leaves when the buffer is full, when a
/// command calls ``flush()``, before any message, and at the end; on a terminal, line by line.
final class Console {
    /// The form of the data, from `--output`.
    let format: OutputFormat
    /// Colours for data.
    let palette: Palette
    /// The width of the text; nil when standard output is not a terminal.
    let columns: Int?
    /// Standard input.
    let input = LineReader()

    private let output = OutputBuffer(.output)
    private let talkPalette: Palette
    private let isQuiet: Bool
    private let isTerminal: Bool
    /// Whether a pager is started before the first data leaves.
    private var wantsPager: Bool

    init(format: OutputFormat, color: ColorChoice, isQuiet: Bool, isPaged: Bool = false) {
        self.format = format
        self.isQuiet = isQuiet
        wantsPager = isPaged && format == .text && SystemCall.isTerminal(.output)
        palette = Palette(isColored: color.allows(.output))
        talkPalette = Palette(isColored: color.allows(.errors))
        isTerminal = SystemCall.isTerminal(.output)
        columns = isTerminal ? SystemCall.columns(of: .output) ?? 80 : nil
    }

    // MARK: - Data

    /// Prints a line of text unchanged.
    ///
    /// Values from a store go through ``DisplayText/escaped(_:)`` first.
    func print(_ line: String = "") throws {
        startPager()
        try output.write(line)
        try endLine()
    }

    /// Prints lines of text unchanged.
    func printLines(_ lines: [String]) throws {
        for line in lines { try print(line) }
    }

    /// Prints a table.
    func print(_ table: TextTable) throws {
        for line in table.lines(fitting: columns, palette) { try print(line) }
    }

    /// Prints a document: indented for `json`, on one line for `jsonl`.
    func print(_ document: JSONText) throws {
        startPager()
        try output.write(format == .json ? document.indented() : document.compact)
        try endLine()
    }

    /// Writes finished data, such as an export.
    ///
    /// Programs get the bytes unchanged. A terminal gets text without control sequences.
    func write(_ bytes: some Sequence<UInt8>) throws {
        startPager()
        guard isTerminal else { return try output.write(bytes) }
        try output.write(DisplayText.escapedLines(String(decoding: Array(bytes), as: UTF8.self)))
    }

    /// Hands everything printed so far to the system.
    func flush() throws {
        try output.flush()
    }

    /// Drops output that cannot be written, so that the reason can still be reported.
    func discardOutput() {
        output.whenClosed = .discard
    }

    /// Waits until the reader has left the pager, if there is one.
    ///
    /// All output has been flushed before.
    ///
    /// - Parameter code: How the command ended.
    /// - Returns: The same, unless there is no such pager.
    func finish(_ code: ExitCode) -> ExitCode {
        guard let pager = Pager.finish() else { return code }
        fail("The pager '\(pager)' cannot be run. Set DAYBOOK_PAGER, or use '--no-pager'.")
        return .usage
    }

    /// No pager is started for a command that fails before it has anything to show.
    private func startPager() {
        guard wantsPager else { return }
        wantsPager = false
        Pager.start()
    }

    private func endLine() throws {
        try output.write("\n")
        if isTerminal { try output.flush() }
    }

    // MARK: - Talk

    /// Prints a message about the work, unless `--quiet` was given.
    func talk(_ sentence: String) throws {
        guard !isQuiet else { return }
        try flush()
        putTalk(sentence)
    }

    /// Says to somebody who looks on that there is nothing to show. Programs get empty output, and no message that would
    /// look like a failure.
    func remark(_ sentence: String) throws {
        guard format == .text, SystemCall.isTerminal(.errors) else { return }
        try talk(sentence)
    }

    /// Prints a warning; the work goes on.
    func warn(_ sentence: String) throws {
        try flush()
        putTalk(talkPalette("warning:", .changed) + " " + DisplayText.escaped(sentence))
    }

    /// Prints why a part of the input is left out, as often as there is such a part.
    func refuse(_ sentence: String) throws {
        try flush()
        putTalk(talkPalette("refused:", .failure) + " " + DisplayText.escaped(sentence))
    }

    /// Prints why the tool stops: the `error:` line, and each reason indented below it.
    func fail(_ sentence: String, details: [String] = []) {
        putTalk(talkPalette("error:", .failure) + " " + DisplayText.escaped(sentence))
        for detail in details { putTalk("  " + DisplayText.escaped(detail)) }
    }

    /// Asks the user a question on the last line of the terminal, even with `--quiet`.
    func ask(_ question: String) throws {
        try flush()
        _ = SystemCall.write(Array(question.utf8), to: .errors)
    }

    /// Removes the question.
    func endAsking() {
        _ = SystemCall.write(Array("\r\u{1B}[K".utf8), to: .errors)
    }

    /// Starts to show the progress of long work.
    func progress(_ label: String, of total: Int? = nil) -> sending Progress {
        let isShown = !isQuiet && SystemCall.isTerminal(.errors)
        return Progress(
            label, of: total, columns: isShown ? SystemCall.columns(of: .errors) ?? 80 : nil)
    }

    private func putTalk(_ line: String) {
        // If standard error itself is gone, nothing can be reported.
        _ = SystemCall.write(Array((line + "\n").utf8), to: .errors)
    }
}
