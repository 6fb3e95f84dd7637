import DaybookTestSupport
import Foundation
import Testing

/// The tool in a terminal that remembers what is on its screen, provided by tmux.
///
/// Each has a server of its own, which knows no settings but these.
final class TerminalScreen {
    private static let tmux = URL(fileURLWithPath: "/usr/bin/tmux")

    private let socket: String
    private let ending: URL
    /// Says when the screen changes.
    private let changes: ChildProcess

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - line: The command line after the tool's name, as a shell reads it.
    ///   - folder: Its working directory.
    ///   - columns: The width of the screen.
    ///   - rows: Its height.
    ///   - environment: Variables, as a shell takes them.
    /// - Throws: What Foundation throws when tmux cannot be started.
    init(
        _ line: String, in folder: URL, columns: Int = 100, rows: Int = 20, environment: String = ""
    ) throws {
        // The path of a socket has at most a hundred characters.
        let socket = "daybook-\(UUID().uuidString)"
        self.socket = socket
        ending = folder.appending(path: "ending-\(socket)")
        let command =
            "env -u NO_COLOR LC_ALL=C.UTF-8 \(environment) '\(Tool.url.path)' \(line) 2>&1; "
            + "echo $? >'\(ending.path)'; exec cat"
        // The server goes on: it must not have a descriptor for which Foundation waits, and it needs the signals that
        // threads of tests block.
        let start = """
            POSIX::sigprocmask(POSIX::SIG_SETMASK(), POSIX::SigSet->new());
            POSIX::close($_) for 3..1023;
            exec @ARGV or die $!;
            """
        let words = [
            "new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", folder.path,
            command,
            ";", "set-option", "window-size", "manual",
        ]
        let started = try ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/perl"),
            ["-MPOSIX", "-e", start, Self.tmux.path, "-L", socket, "-f", "/dev/null"] + words)
        try #require(started.ending == .exited(0), "\(started.talk)")
        // In any case it ends after five minutes, and with it the waiting.
        changes = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/timeout"),
            ["300", Self.tmux.path, "-L", socket, "-C", "attach"])
    }

    deinit {
        do {
            try run(["kill-server"])
            // What says when the screen changes goes on to listen to what it is told.
            try changes.endInput()
        } catch {
            Issue.record(error)
        }
        _ = changes.remainingLines()
    }

    @discardableResult
    private func run(_ words: [String]) throws -> String {
        let (lines, talk, ending) = try ChildProcess.run(
            Self.tmux, ["-L", socket, "-f", "/dev/null"] + words)
        try #require(ending == .exited(0), "\(talk)")
        return lines.joined(separator: "\n")
    }

    /// What is on the screen, without the blanks at the ends of its lines.
    func text() throws -> String { try run(["capture-pane", "-p"]) }

    /// The same, with what makes colours.
    func colored() throws -> String { try run(["capture-pane", "-p", "-e"]) }

    /// Presses keys by tmux's names; a text is typed.
    func press(_ keys: String...) throws { try run(["send-keys"] + keys) }

    /// Types a text letter by letter.
    func type(_ text: String) throws { try run(["send-keys", "-l", text]) }

    /// Gives the screen another size.
    func resize(columns: Int, rows: Int) throws {
        try run(["resize-window", "-x", String(columns), "-y", String(rows)])
    }

    /// Waits until all of some texts are on the screen.
    ///
    /// - Returns: What is on it then.
    @discardableResult
    func wait(
        for texts: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        while true {
            let screen = try text()
            if texts.allSatisfy(screen.contains) { return screen }
            guard changes.nextLine() != nil else {
                Issue.record("\(texts) did not appear:\n\(screen)", sourceLocation: sourceLocation)
                return screen
            }
        }
    }

    /// Waits until the tool has ended.
    ///
    /// - Returns: Its exit code.
    func end() throws -> Int32? {
        while true {
            if let bytes = FileManager.default.contents(atPath: ending.path) {
                let code = String(decoding: bytes, as: UTF8.self)
                if code.hasSuffix("\n") { return Int32(code.dropLast()) }
            }
            // Then a program takes its place that shows what is typed; the tool itself takes no notice.
            try type(".")
            guard changes.nextLine() != nil else { return nil }
        }
    }
}
