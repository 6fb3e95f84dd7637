import Foundation
import Synchronization

/// Concurrent operating-system threads with the same work.
///
/// A pool would have as many threads as cores, but these wait for the disk.
enum Threads {
    /// Runs `body` on `count` threads, with the number of each, and waits for all of them.
    ///
    /// - Throws: The first error of a thread.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failure = Failure()
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                do {
                    try body(number)
                } catch {
                    failure.record(error)
                }
            }
            thread.start()
        }
        group.wait()
        try failure.check()
    }

    private final class Failure: Sendable {
        private let first = Mutex<(any Error)?>(nil)

        func record(_ error: any Error) {
            first.withLock { $0 = $0 ?? error }
        }

        func check() throws {
            if let error = first.withLock({ $0 }) { throw error }
        }
    }
}
