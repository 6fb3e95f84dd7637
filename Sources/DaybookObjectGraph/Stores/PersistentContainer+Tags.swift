public import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore
public import Foundation

/// A name given to an entry.
///
/// Tags are kept beside the journal and are not part of any entry: setting or removing one changes
/// nothing that the journal proves. With several stores, a tag names an entry of the first one.
public struct EntryTag: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The entry.
    public let sequence: SequenceNumber
    /// The digest that the entry had when the tag was set.
    public let digest: Digest
    /// Who set the tag.
    public let author: String?
    /// Its meaning, in the author's words.
    public let note: String?
    /// When it was set.
    public let time: Date

    init(_ tag: StoreTag) {
        name = tag.name
        sequence = tag.sequence
        digest = tag.digest
        author = tag.author
        note = tag.note
        time = Date(microseconds: tag.time)
    }
}

extension PersistentContainer {
    /// The names that entries have been given, by entry.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` when no store has been added; with `corrupt` when the
    ///   record of the tags is damaged.
    public func tags() throws -> [EntryTag] {
        try taggedStore().store.tags().map(EntryTag.init)
    }

    /// Gives an entry a name, by which ``Moment/tag(_:)`` and the command find it.
    ///
    /// ```swift
    /// try container.setTag("audited", note: "Annual accounts")
    /// let accounts = try container.context(at: .tag("audited"))
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name: letters, digits, dots, dashes and others, but no slash and no space, and
    ///     nothing that could be taken for a number, a date or `head`.
    ///   - moment: The entry; the last one by default.
    ///   - author: Who sets the tag.
    ///   - note: What the tag means.
    ///   - existing: What happens to a tag of that name.
    /// - Returns: The tag.
    /// - Throws: ``StoreError`` with code `tagName` for a name that is not allowed or is taken;
    ///   with `noSuchEntry` when the moment is before the first entry or past the last; with `readOnly`.
    ///   Nothing has changed then.
    @discardableResult
    public func setTag(
        _ name: String, at moment: Moment = .head, author: String? = nil, note: String? = nil,
        existing: TagReplacement = .refuse
    ) throws -> EntryTag {
        let store = try taggedStore()
        let sequence = try persistentStoreCoordinator.sequences(at: moment)[store.number]
        return try store.whileNotMoving {
            EntryTag(
                try store.store.setTag(
                    name, at: sequence, author: author, note: note,
                    existing: existing == .replace ? .replace : .refuse))
        }
    }

    /// Takes a name away from its entry.
    ///
    /// - Returns: The tag that was removed.
    /// - Throws: ``StoreError`` with code `noSuchTag`, and what may have been meant; with `readOnly`.
    @discardableResult
    public func removeTag(_ name: String) throws -> EntryTag {
        let store = try taggedStore()
        return try store.whileNotMoving { EntryTag(try store.store.removeTag(named: name)) }
    }

    /// The store whose entries tags name.
    private func taggedStore() throws -> PersistentStore {
        guard let first = persistentStoreCoordinator.persistentStores.first else {
            throw StoreError.noStore()
        }
        return first
    }
}

extension PersistentStore {
    /// The tag of a name.
    ///
    /// - Throws: ``StoreError`` with code `noSuchTag`, and what may have been meant.
    func tag(named name: String) throws -> StoreTag {
        guard let tag = try store.tag(named: name) else {
            throw StoreError.noSuchTag(name, among: try store.tags().map(\.name))
        }
        return tag
    }
}
