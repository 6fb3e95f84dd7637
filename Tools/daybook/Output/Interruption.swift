import CDaybookTerminal
import DaybookNewFiles
import Foundation
import Synchronization

/// The user's wish that a command which goes on for ever comes to its end: Control-C, or `kill`.
enum Interruption {
    /// The end of a pipe that can be read once the wish is there; -1 as long as nobody watches.
    static var descriptor: Int32 { source.load(ordering: .acquiring) }

    private static let source = Atomic<Int32>(-1)

    /// Whether the command is to come to its end.
    static var isThere: Bool { descriptor >= 0 && terminal_signals_came() != 0 }

    /// Takes the wish as a question from now on, and no longer as an order. A second one is an order
    /// again, for a command that cannot come to its end.
    static func watch() throws {
        let signals = terminal_signals_catch(TERMINAL_FIRST_SIGNAL)
        guard signals >= 0 else {
            throw ToolError.system("Signals cannot be waited for", -signals)
        }
        source.store(signals, ordering: .releasing)
    }

    /// Lets an interruption take away the files that are not whole yet, before it ends the process.
    ///
    /// Only when there is such a file are signals caught. A thread of its own does it, because the one
    /// that works may be in the middle of anything.
    static func takesUnfinishedFilesAway() {
        UnfinishedFolders.whenFirstBegun {
            let signals = terminal_signals_catch(TERMINAL_EACH_SIGNAL)
            // Without a pipe, the signals go on ending the process at once.
            guard signals >= 0 else { return }
            Thread.detachNewThread {
                guard let number = SystemCall.nextByte(from: signals) else { return }
                UnfinishedFolders.removeAll { terminal_signals_end(Int32(number)) }
            }
        }
    }
}
