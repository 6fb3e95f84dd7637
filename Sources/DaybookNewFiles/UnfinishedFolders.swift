internal import Foundation
internal import Synchronization

/// The folders of this process that hold unfinished files.
///
/// A library does not handle signals. A program that does removes these folders with
/// ``removeAll(_:)`` before it ends, so that an interruption leaves nothing behind.
///
/// Invariants:
/// - A folder is listed here as long as it exists.
/// - A file gets its name only before the removal begins; after that, no file gets a name and no
///   folder is made.
package enum UnfinishedFolders {
    private struct Folder {
        let path: String
        /// Open and locked, by which others know that it is needed; nil where that cannot be.
        let descriptor: Int32?
        /// The known files in it.
        var names: Set<String> = []
    }

    private struct State {
        var folders: [UInt64: Folder] = [:]
        var next: UInt64 = 0
        var prepare: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())

    /// Sets the preparation before the first folder is made, such as handling signals.
    package static func whenFirstBegun(_ prepare: @escaping @Sendable () -> Void) {
        state.withLock { $0.prepare = prepare }
    }

    /// Removes every folder with its content, even while other threads write there, and ends the
    /// process.
    package static func removeAll(_ end: @Sendable () -> Never) -> Never {
        state.withLock { state in
            // A folder inside another one is younger.
            for number in state.folders.keys.sorted(by: >) {
                if let folder = state.folders[number] { remove(folder) }
            }
            end()
        }
    }

    /// Makes a folder for its owner alone. Those of the same name that killed programs have left go.
    ///
    /// - Parameters:
    ///   - folder: Where it is made.
    ///   - prefix: How its name begins, before a dot and twelve digits.
    ///   - target: The file that an error message names; nil for the folder itself.
    /// - Returns: Its path, and its number here.
    /// - Throws: ``NewFileError``.
    static func make(
        in folder: String, named prefix: String, for target: String?
    ) throws(NewFileError) -> (path: String, number: UInt64) {
        AbandonedFolders.removeAll(in: folder, named: prefix)
        let prepare = state.withLock { $0.prepare.take() }
        prepare?()
        return try state.withLock { state throws(NewFileError) in
            var attempts = 0
            while true {
                attempts += 1
                let digits = String(UInt64.random(in: 0..<1 << 48), radix: 16)
                let zeros = String(repeating: "0", count: AbandonedFolders.digits - digits.count)
                let path = "\(folder)/\(prefix).\(zeros)\(digits)"
                guard mkdir(path, 0o700) == 0 else { throw .system(target ?? path, "made", errno) }
                let descriptor = try locked(path, for: target ?? path)
                // A file system may not tell that a folder is the same, however often it is asked.
                if descriptor == nil, attempts < locksTriedMaximum { continue }
                state.next += 1
                state.folders[state.next] = Folder(path: path, descriptor: descriptor)
                return (path, state.next)
            }
        }
    }

    /// The folder, open and locked; nil when somebody has removed it meanwhile.
    private static func locked(
        _ path: String, for target: String
    ) throws(NewFileError) -> Int32? {
        do throws(NewFileError) {
            return try AbandonedFolders.lock(path, for: target)
        } catch {
            rmdir(path)
            throw error
        }
    }

    private static let locksTriedMaximum = 8

    /// Remembers that a file of that name will be made in a folder.
    static func remember(_ name: String, in number: UInt64) {
        state.withLock { state in
            state.folders[number]?.names.insert(name)
            return
        }
    }

    /// Runs `body`, which gives a file its name, unless the removal has begun.
    static func naming<Failure: Error>(
        _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        try state.withLock { _ throws(Failure) in try body() }
    }

    /// Removes a folder with its content. A file that cannot be removed does no harm.
    static func discard(_ number: UInt64) {
        state.withLock { state in
            guard let folder = state.folders.removeValue(forKey: number) else { return }
            remove(folder)
        }
    }

    /// Once the folder itself is gone, no file can be made in it.
    private static func remove(_ folder: Folder) {
        defer { if let descriptor = folder.descriptor { close(descriptor) } }
        let path = folder.path
        // Known files are removed without listing the folder, for which there may be no descriptor
        // left.
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

    /// The file itself, and the files that libraries put beside it: LMDB's lock file, SQLite's
    /// journal.
    private static let companions = ["", "-lock", "-journal"]

    /// The number of times that another thread may make a file while its folder is being emptied.
    private static let attemptsMaximum = 1_000
}
