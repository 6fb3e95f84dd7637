internal import Foundation
internal import LMDB

extension Store {
    /// Copies the store, journal and all, as it is now. The copy has the identifier of the original.
    ///
    /// Others may read and save meanwhile; what they save after the start is not in the copy.
    ///
    /// - Parameters:
    ///   - path: A place where no file is yet.
    ///   - compacting: Whether free pages, and what they still hold, are left out.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when something stands at `path`. No
    ///   file is left there when copying fails.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages in use, or of all pages
    ///   when free ones are copied, too.
    package func copy(to path: String, compacting: Bool = true) throws {
        let environment = try openEnvironment()
        guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.exists(path) }
        try wrapping { try environment.copy(to: path, compacting: compacting) }
        do {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.synchronize()
            try file.close()
        } catch {
            unlink(path)
            throw StoreError(wrapping: error, path: path)
        }
    }

    /// Copies the store as ``copy(to:compacting:)`` does, and gives the copy its name only once it has
    /// been checked.
    ///
    /// - Parameters:
    ///   - path: A place where no file is yet.
    ///   - compacting: Whether free pages are left out.
    ///   - check: Looks at the copy, which has another name in the same folder, and throws if it is
    ///     not what it should be.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists``; what `check` throws. Nothing is left
    ///   of the copy then.
    package func copy(
        to path: String, compacting: Bool, checking check: (_ draftPath: String) throws -> Void
    ) throws {
        guard !FileManager.default.fileExists(atPath: path) else { throw StoreError.exists(path) }
        let draftPath = "\(path).\(options.makeUUID().uuidString.prefix(8))"
        defer { Self.remove(draftPath) }
        try copy(to: draftPath, compacting: compacting)
        try check(draftPath)
        try wrapping { try Self.place(draftPath, at: path) }
    }

    /// Leaves out object numbers, so that they can be given out by somebody else: by the original of
    /// this copy, while that is still in use.
    package func skipObjectNumbers(_ count: UInt64) throws {
        guard !options.isReadOnly else { return }
        try writing { [meta = parts.tables.meta] transaction in
            _ = try ObjectNumbers.reserve(meta, count: count, in: transaction)
        }
    }

    /// Removes a store's file and lock file. Does nothing when there is no file.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/busy`` while this process or another has it
    ///   open; with ``StoreError/Code/notAStore``. The file is as it was then.
    package static func remove(at path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        try refuseStranger(path)
        try wrapping(path) { try Environment.remove(at: path) }
    }

    /// Puts a copy of a store, journal and all, in the place of another, if there is one.
    ///
    /// - Throws: As ``remove(at:)`` for what is to be replaced. It is as it was then.
    package static func replace(at path: String, withCopyOf source: Store) throws {
        if FileManager.default.fileExists(atPath: path) { try refuseStranger(path) }
        // Beside the file itself, where a link leads to it from elsewhere.
        let draftPath =
            "\(FilePath.resolved(path)).\(source.options.makeUUID().uuidString.prefix(8))"
        try source.copy(to: draftPath)
        do {
            try wrapping(path) { try Environment.replace(at: path, withFileAt: draftPath) }
        } catch {
            unlink(draftPath)
            throw error
        }
    }

    /// Refuses a file that is something else than a store. One that is damaged is a store still.
    private static func refuseStranger(_ path: String) throws {
        do {
            try open(at: path, options: StoreOptions(isReadOnly: true)).close()
        } catch let error as StoreError where error.code != .notAStore {
            return
        }
    }
}
