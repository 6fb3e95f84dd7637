import CDaybookTerminal
import DaybookNewFiles
import Foundation
import Synchronization

/// The user's wish that a command which goes on for ever comes to its end: Control-C, or `kill`.
enum Interruption {
    /// The end of a pipe that can be read once the wish is there; -1 as long as nobody watches.
    static var descriptor: Int32 { source.load(ordering: .acquiring) }

    private static let source = Atomic<Int32>(-1)
    private static let target = Atomic<Int32>(-1)
    private static let isWanted = Atomic<Bool>(false)

    /// Whether the command is to come to its end.
    static var isThere: Bool { isWanted.load(ordering: .acquiring) }

    /// Takes the wish as a question from now on, and no longer as an order. A second one is an order
    /// again, for a command that cannot come to its end.
    static func watch() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ToolError.system("Signals cannot be waited for", errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        target.store(ends[1], ordering: .releasing)
        source.store(ends[0], ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in Interruption.note(number) }
        }
    }

    /// Lets an interruption take away the files that are not whole yet, before it ends the process.
    ///
    /// Only when there is such a file are signals caught. A thread of its own does it, because the one
    /// that works may be in the middle of anything.
    static func takesUnfinishedFilesAway() {
        UnfinishedFolders.whenFirstBegun {
            let signals = terminal_signals_catch()
            // Without a pipe, the signals go on ending the process at once.
            guard signals >= 0 else { return }
            Thread.detachNewThread {
                guard let number = SystemCall.nextByte(from: signals) else { return }
                UnfinishedFolders.removeAll { terminal_signals_end(Int32(number)) }
            }
        }
    }

    private static func note(_ number: Int32) {
        let error = errno
        isWanted.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        _ = write(target.load(ordering: .acquiring), &byte, 1)
        signal(number, SIG_DFL)
        errno = error
    }
}
