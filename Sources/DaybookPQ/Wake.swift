internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Ends the wait of a thread that waits for a server, from another thread.
package final class Wake: Sendable {
    /// What is read here says that somebody has called.
    let readEnd: Int32
    private let writeEnd: Int32

    /// Nobody has called. Nil when this process may open no more files.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        readEnd = ends[0]
        writeEnd = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the wait that is under way, or else the next one.
    package func call() {
        // A full pipe has enough calls in it.
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    /// Forgets the calls so far.
    func clear() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(readEnd, &bytes, 16) == 16 {}
    }

    /// Waits for a call.
    ///
    /// - Parameter deadline: When the wait ends without one.
    /// - Returns: Whether somebody has called.
    package func wait(until deadline: ContinuousClock.Instant) -> Bool {
        var waited = [pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)]
        let isCalled = waitForFiles(&waited, until: deadline)
        clear()
        return isCalled
    }
}

/// Waits for a moment.
///
/// - Parameter moment: When the wait ends.
package func rest(until moment: ContinuousClock.Instant) {
    var none: [pollfd] = []
    _ = waitForFiles(&none, until: moment)
}

/// Waits until one of some files is ready, or the deadline has come.
///
/// - Parameters:
///   - files: The files and what is waited for; says afterwards what has happened.
///   - deadline: When to stop waiting.
/// - Returns: Whether one is ready.
func waitForFiles(_ files: inout [pollfd], until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let left = ContinuousClock.now.duration(to: deadline)
        let milliseconds =
            left <= .zero
            ? 0
            : min(left.components.seconds, 100_000) * 1000
                + left.components.attoseconds / 1_000_000_000_000_000 + 1
        let count = poll(&files, nfds_t(files.count), Int32(milliseconds))
        if count > 0 { return true }
        let isInterrupted = count < 0 && (errno == EINTR || errno == EAGAIN)
        if !isInterrupted && milliseconds == 0 { return false }
    }
}
