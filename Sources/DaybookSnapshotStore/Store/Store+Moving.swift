internal import DaybookLMDB
package import DaybookNewFiles
internal import Foundation

extension Store {
    /// Copies the store, journal and all, as it is now. The copy has the identifier of the original.
    ///
    /// Others may read and save meanwhile; what they save after the start is not in the copy. Until
    /// it is complete, the copy has another name in the same folder.
    ///
    /// - Parameters:
    ///   - path: The path of the copy, where no file may exist.
    ///   - compacting: Whether to leave out free pages and the data still in them, and chunks that no
    ///     entry refers to.
    ///   - check: Checks the copy under its other name, and throws to reject it.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when a file exists at `path`; what
    ///   `check` throws. Nothing is left of the copy then.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages in use, or of all pages
    ///   when free ones are copied too.
    package func copy(
        to path: String, compacting: Bool = true,
        checking check: (_ draftPath: String) throws -> Void = { _ in }
    ) throws {
        let draft = try Self.draft(for: path)
        defer { draft.discard() }
        try Self.wrapping(path, besides: draft) {
            try openEnvironment().copy(to: draft.path, compacting: compacting)
            if compacting, try chunkTable() != nil { try Self.sweep(draft) }
        }
        try check(draft.path)
        try Self.place(draft, at: path)
    }

    /// Leaves out of a copy the chunks that no entry refers to; none where an entry or a chunk is damaged,
    /// which does not keep a store from being copied.
    private static func sweep(_ draft: DraftFile) throws {
        let copy = try open(at: draft.path)
        let swept = draft.path + "-swept"
        do {
            guard try copy.sweep().records > 0 else { return try copy.close() }
            // Without the pages that have become free.
            try copy.openEnvironment().copy(to: swept, compacting: true)
        } catch {
            copy.closeQuietly()
            guard let error = error as? StoreError, error.code == .corrupt else { throw error }
            return
        }
        try copy.close()
        try Environment.remove(at: draft.path)
        try FileManager.default.moveItem(atPath: swept, toPath: draft.path)
    }

    /// A draft file for a store that gets its name only when it is complete.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when a file exists at `path`.
    package static func draft(for path: String) throws -> DraftFile {
        try wrapping(path) { try DraftFile(for: path) }
    }

    /// Moves a finished draft to its final path, and syncs the file and its folder.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when another process was faster.
    package static func place(_ draft: DraftFile, at path: String) throws {
        try wrapping(path, besides: draft) { try draft.place() }
    }

    /// Skips object numbers, so that the original of this copy can give them out while it is still
    /// in use.
    package func skipObjectNumbers(_ count: UInt64) throws {
        guard !options.isReadOnly else { return }
        try writing { [meta = parts.tables.meta] transaction in
            _ = try ObjectNumbers.reserve(meta, count: count, in: transaction)
        }
    }

    /// Removes a store's file and lock file. Does nothing when there is no file.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/busy`` while this process or another has it
    ///   open; with ``StoreError/Code/notAStore``. The file is left unchanged then.
    package static func remove(at path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        try refuseStranger(path)
        try wrapping(path) { try Environment.remove(at: path) }
    }

    /// Copies a store, journal and all, to a path, replacing the store there if there is one.
    ///
    /// - Throws: As ``remove(at:)`` for the store to be replaced, which is left unchanged then.
    package static func replace(at path: String, withCopyOf source: Store) throws {
        if FileManager.default.fileExists(atPath: path) { try refuseStranger(path) }
        // Where the path is a link, the draft stands beside the file itself.
        let draft = try wrapping(path) { try DraftFile(replacing: FileNaming.resolved(path)) }
        defer { draft.discard() }
        try wrapping(path, besides: draft) {
            try source.openEnvironment().copy(to: draft.path, compacting: true)
            try draft.place(by: { try Environment.replace(at: path, withFileAt: draft.path) })
        }
    }

    /// Refuses a file that is not a store. A damaged store is still one.
    private static func refuseStranger(_ path: String) throws {
        do {
            try open(at: path, options: StoreOptions(isReadOnly: true)).close()
        } catch let error as StoreError where error.code != .notAStore {
            return
        }
    }
}
