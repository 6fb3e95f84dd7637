internal import Foundation
internal import Synchronization

/// The folders of this process in which files come to be that are no good to anybody yet.
///
/// A library does not handle signals. A program that does takes these folders away with
/// ``removeAll(_:)`` before it ends, so that an interruption leaves nothing behind.
///
/// Invariants:
/// - A folder is here as long as it exists.
/// - A file gets its own name while nobody removes, and none gets one, and no folder is made, after that.
package enum UnfinishedFolders {
    private struct State {
        var paths: [UInt64: String] = [:]
        var next: UInt64 = 0
        var prepare: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())

    /// Says what is to be done before the first folder is made, such as handling signals.
    package static func whenFirstBegun(_ prepare: @escaping @Sendable () -> Void) {
        state.withLock { $0.prepare = prepare }
    }

    /// Removes every folder with all that is in it, whatever other threads go on to write there, and
    /// ends the process.
    package static func removeAll(_ end: @Sendable () -> Never) -> Never {
        state.withLock { state in
            // One that stands in another is the younger one.
            for number in state.paths.keys.sorted(by: >) {
                if let path = state.paths[number] { remove(path) }
            }
            end()
        }
    }

    /// Makes a folder for its owner alone.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - target: What is told not to be made when that fails.
    /// - Returns: Its number here.
    /// - Throws: ``NewFileError``.
    static func make(_ path: String, for target: String) throws(NewFileError) -> UInt64 {
        let prepare = state.withLock { $0.prepare.take() }
        prepare?()
        return try state.withLock { state throws(NewFileError) in
            guard mkdir(path, 0o700) == 0 else { throw .system(target, "made", errno) }
            state.next += 1
            state.paths[state.next] = path
            return state.next
        }
    }

    /// Runs `body`, which gives a file its name, unless all is being removed.
    static func naming<Failure: Error>(
        _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        try state.withLock { _ throws(Failure) in try body() }
    }

    /// Removes a folder with all that is in it. What cannot be removed is in nobody's way.
    static func discard(_ number: UInt64) {
        state.withLock { state in
            guard let path = state.paths.removeValue(forKey: number) else { return }
            remove(path)
        }
    }

    /// Once the folder itself is gone, nobody can make a file in it any more.
    private static func remove(_ path: String) {
        for _ in 0..<attemptsMaximum {
            guard rmdir(path) != 0, errno == ENOTEMPTY || errno == EEXIST else { return }
            do {
                for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                    unlink("\(path)/\(name)")
                }
            } catch {
                return
            }
        }
    }

    /// How often another thread may make a file while its folder is being emptied.
    private static let attemptsMaximum = 1_000
}
