internal import DaybookLMDB
package import DaybookNewFiles
internal import Foundation

extension Store {
    /// Copies the store, journal and all, as it is now. The copy has the identifier of the original.
    ///
    /// Others may read and save meanwhile; what they save after the start is not in the copy. The copy
    /// has another name in the same folder until it is whole.
    ///
    /// - Parameters:
    ///   - path: A place where no file is yet.
    ///   - compacting: Whether free pages, and what they still hold, are left out.
    ///   - check: Looks at the copy under its other name, and throws if it is not what it should be.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when something stands at `path`; what
    ///   `check` throws. Nothing is left of the copy then.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages in use, or of all pages
    ///   when free ones are copied, too.
    package func copy(
        to path: String, compacting: Bool = true,
        checking check: (_ draftPath: String) throws -> Void = { _ in }
    ) throws {
        let draft = try Self.draft(for: path)
        defer { draft.discard() }
        try Self.wrapping(path, besides: draft) {
            try openEnvironment().copy(to: draft.path, compacting: compacting)
        }
        try check(draft.path)
        try Self.place(draft, at: path)
    }

    /// Another place for a store that shall be whole before it has its name.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when something stands at `path`.
    package static func draft(for path: String) throws -> DraftFile {
        try wrapping(path) { try DraftFile(for: path) }
    }

    /// Gives a store that was made under another name its own, and syncs both.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when somebody was faster.
    package static func place(_ draft: DraftFile, at path: String) throws {
        try wrapping(path, besides: draft) { try draft.place() }
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
        let draft = try wrapping(path) { try DraftFile(replacing: FileNaming.resolved(path)) }
        defer { draft.discard() }
        try wrapping(path, besides: draft) {
            try source.openEnvironment().copy(to: draft.path, compacting: true)
            try draft.place(by: { try Environment.replace(at: path, withFileAt: draft.path) })
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
