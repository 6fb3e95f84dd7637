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
    private struct Folder {
        let path: String
        /// What is made in it, as far as it is known.
        var names: Set<String> = []
    }

    private struct State {
        var folders: [UInt64: Folder] = [:]
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
            for number in state.folders.keys.sorted(by: >) {
                if let folder = state.folders[number] { remove(folder) }
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
            state.folders[state.next] = Folder(path: path)
            return state.next
        }
    }

    /// Notes that a file of that name will be made in a folder.
    static func note(_ name: String, in number: UInt64) {
        state.withLock { state in
            state.folders[number]?.names.insert(name)
            return
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
            guard let folder = state.folders.removeValue(forKey: number) else { return }
            remove(folder)
        }
    }

    /// Once the folder itself is gone, nobody can make a file in it any more.
    private static func remove(_ folder: Folder) {
        let path = folder.path
        // What is known goes without a look, for which there may be no descriptor left.
        for name in folder.names {
            for companion in companions { unlink("\(path)/\(name)\(companion)") }
        }
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

    /// Nothing, and what other libraries put beside a file: LMDB its lock file, SQLite its journal.
    private static let companions = ["", "-lock", "-journal"]

    /// How often another thread may make a file while its folder is being emptied.
    private static let attemptsMaximum = 1_000
}
