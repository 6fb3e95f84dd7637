import CDaybookTerminal
import DaybookNewFiles
import Foundation
import Synchronization

/// The user's request to end a command that would run for ever: Control-C, or `kill`.
enum Interruption {
    /// The end of a pipe that becomes readable with the request; -1 until ``watch()`` is called.
    static var descriptor: Int32 { source.load(ordering: .acquiring) }

    private static let source = Atomic<Int32>(-1)

    /// Whether the command should end.
    static var isThere: Bool { descriptor >= 0 && terminal_signals_came() != 0 }

    /// From now on the first signal only requests the end instead of ending the process. A second
    /// one ends it, in case the command cannot.
    static func watch() throws {
        let signals = terminal_signals_catch(TERMINAL_FIRST_SIGNAL)
        guard signals >= 0 else {
            throw ToolError.system("Signals cannot be waited for", -signals)
        }
        source.store(signals, ordering: .releasing)
    }

    /// Makes an interruption remove unfinished files before it ends the process.
    ///
    /// Signals are caught only while there is such a file. A separate thread removes it, because
    /// the working thread may be in the middle of anything.
    static func takesUnfinishedFilesAway() {
        UnfinishedFolders.whenFirstBegun {
            let signals = terminal_signals_catch(TERMINAL_EACH_SIGNAL)
            // Without a pipe, the signals still end the process immediately.
            guard signals >= 0 else { return }
            Thread.detachNewThread {
                guard let number = SystemCall.nextByte(from: signals) else { return }
                UnfinishedFolders.removeAll { terminal_signals_end(Int32(number)) }
            }
        }
    }
}
