import CDaybookTerminal
import Foundation
import Synchronization

/// Lines from a person at a terminal, with a history and completion.
final class LineEditor {
    /// The result of reading a line.
    enum Answer {
        case line(String)
        /// The user abandoned the line with Control-C.
        case interrupted
        case end
    }

    private static let candidates = Mutex<@Sendable (String) -> [String]>({ _ in [] })

    /// Opens the editor; nil if the terminal does not support one.
    ///
    /// - Parameters:
    ///   - history: The file for the history.
    ///   - complete: Returns completions of the last word of a line.
    init?(history: URL, complete: @escaping @Sendable (String) -> [String]) {
        Self.candidates.withLock { $0 = complete }
        let status = terminal_editor_open("daybook", history.path) { line in
            guard let line else { return }
            let complete = LineEditor.candidates.withLock { $0 }
            for word in complete(String(cString: line)) { terminal_editor_offer(word) }
        }
        guard status == 0 else { return nil }
    }

    deinit {
        terminal_editor_close()
    }

    /// Reads a line.
    func read(prompt: String) -> Answer {
        switch Int(terminal_editor_read(prompt)) {
        case TERMINAL_LINE:
            let line = String(cString: terminal_editor_line())
            if line.contains(where: { $0 != " " }) { terminal_editor_remember(line) }
            return .line(line)
        case TERMINAL_INTERRUPTED: return .interrupted
        default: return .end
        }
    }

    /// Writes the history to its file.
    ///
    /// - Returns: Whether that succeeded.
    func saveHistory() -> Bool {
        terminal_editor_save() == 0
    }

    /// The file for the history, whose folder is made if it is missing:
    /// `$XDG_STATE_HOME/daybook/history`, or the same under `~/.local/state`.
    static func historyFile() throws -> URL {
        let state =
            SystemCall.environment("XDG_STATE_HOME").map { URL(fileURLWithPath: $0) }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/state")
        let folder = state.appending(path: "daybook")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return folder.appending(path: "history")
    }
}
