import CDaybookTerminal
import DaybookNewFiles
import Foundation
import Synchronization

/// The user's request to end a command that would run for ever: Control-C, or `kill`.
enum Interruption {
    /// The end of a pipe that becomes readable with the request; -1 until ``watch()`` is called.
    static var descriptor: Int32 { source.load(ordering: .acquiring) }

    private static let source = Atomic<Int32>(-1)
    private static let target = Atomic<Int32>(-1)
    private static let isWanted = Atomic<Bool>(false)

    /// Whether the command should end.
    static var isThere: Bool { isWanted.load(ordering: .acquiring) }

    /// From now on the first signal only requests the end instead of ending the process. A second
    /// one ends it, in case the command cannot.
    static func watch() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ToolError.system("Signals cannot be waited for", errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        target.store(ends[1], ordering: .releasing)
        source.store(ends[0], ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in Interruption.record(number) }
        }
    }

    /// Makes an interruption remove unfinished files before it ends the process.
    ///
    /// Signals are caught only while there is such a file. A separate thread removes it, because
    /// the working thread may be in the middle of anything.
    static func takesUnfinishedFilesAway() {
        UnfinishedFolders.whenFirstBegun {
            let signals = terminal_signals_catch()
            // Without a pipe, the signals still end the process immediately.
            guard signals >= 0 else { return }
            Thread.detachNewThread {
                guard let number = SystemCall.nextByte(from: signals) else { return }
                UnfinishedFolders.removeAll { terminal_signals_end(Int32(number)) }
            }
        }
    }

    private static func record(_ number: Int32) {
        let error = errno
        isWanted.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        _ = write(target.load(ordering: .acquiring), &byte, 1)
        signal(number, SIG_DFL)
        errno = error
    }
}
