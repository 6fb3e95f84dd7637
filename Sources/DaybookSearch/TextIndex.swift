// The room of searching: words in the values of text attributes, those of now and those of the past. An index in a file
// beside the store follows the journal; it holds nothing that the journal does not have, and can be deleted.

public import DaybookJournalLog
public import DaybookObjectGraph
internal import DaybookObjectModel
internal import DaybookSnapshotStore
public import Foundation
internal import Synchronization

/// Finds words in the text attributes of a store, in the present, at any moment, and in every value that ever was.
///
/// The index is a SQLite database with FTS5 in a file of its own. It follows the store's journal: each search first
/// takes in the entries since the last, in the same transaction in which it notes how far it has come, so nothing is
/// missed and nothing counts twice, whoever saved. The file may be deleted at any time, and is then made anew.
///
/// Words are those of Unicode's letters and digits, without regard to case and diacritics. Attributes of type string
/// are searched, but for confidential and transient ones. What is pending in a context is not.
///
/// ```swift
/// let index = try TextIndex(of: store)
/// for match in try index.search("\"red her*\" -blue") { print(match.objectID, match.text) }
/// ```
public final class TextIndex: Sendable {
    /// Where the index is; nil for one in memory, which a store in memory has.
    public let url: URL?
    private let store: PersistentStore
    private let file: TextIndexFile

    /// Opens the index of a store, or begins one.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - url: The file of the index; nil for the store's path with `-text` behind it.
    /// - Throws: ``SearchError`` with ``SearchError/Code/file`` when the file cannot be made, or is something else.
    public init(of store: PersistentStore, at url: URL? = nil) throws {
        let place =
            url ?? (store.type == .inMemory ? nil : URL(filePath: store.store.path + "-text"))
        self.url = place
        self.store = store
        file = try TextIndexFile(of: store.store, at: place?.path)
    }

    /// Takes in the entries that have been saved since the last search, so that the next one is as fast as it can be.
    ///
    /// - Returns: The number of the last entry taken in.
    /// - Throws: ``SearchError`` with ``SearchError/Code/file``; `StoreError` when the journal cannot be read.
    /// - Complexity: O(*k*), *k* the changes of texts since.
    @discardableResult
    public func bringUpToDate() throws -> SequenceNumber { try file.bringUpToDate() }

    /// Finds the values in which a text is, the best matches first.
    ///
    /// The text is words, all of which must be there; `"…"` are words side by side, `her*` a word that begins so,
    /// `OR` between two asks for at least one of them, and `-word` excludes one.
    ///
    /// - Parameters:
    ///   - text: What to look for.
    ///   - scope: What the search is limited to.
    /// - Returns: The matches.
    /// - Throws: ``SearchError``; `StoreError` when the store cannot be read.
    /// - Complexity: As ``bringUpToDate()``, and O(*m*), *m* the number of all values that ever had the words.
    public func search(
        _ text: String, in scope: SearchScope = SearchScope()
    ) throws -> [TextMatch] {
        try file.search(text, in: scope).map { found in
            TextMatch(
                objectID: store.objectID(found.object), propertyName: found.property.name,
                text: found.text, rank: found.rank, since: found.since, until: found.until)
        }
    }
}
