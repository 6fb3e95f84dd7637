import Foundation
import Synchronization

/// Threads of the operating system that do the same at once.
///
/// A pool would give as many threads as there are cores, and these are to wait for the disk.
enum Threads {
    /// Runs `body` on so many threads, with the number of each, and waits for all of them.
    ///
    /// - Throws: The first error that one of them threw.
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
                    failure.note(error)
                }
            }
            thread.start()
        }
        group.wait()
        try failure.check()
    }

    private final class Failure: Sendable {
        private let first = Mutex<(any Error)?>(nil)

        func note(_ error: any Error) {
            first.withLock { $0 = $0 ?? error }
        }

        func check() throws {
            if let error = first.withLock({ $0 }) { throw error }
        }
    }
}
