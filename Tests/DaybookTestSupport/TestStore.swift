internal import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore

/// Makes and opens stores for tests: no test does so by itself, so that all of them can be run with stores of
/// another kind. A test that needs no more than an empty store takes a ``TemporaryStore``, which comes here, too.
package enum TestStore {
    /// Makes a store.
    ///
    /// - Parameters:
    ///   - path: The file, which must not exist.
    ///   - model: Its model.
    ///   - author: The author of its first entry.
    ///   - info: What its first entry says.
    ///   - options: How to open it.
    /// - Returns: The open store.
    /// - Throws: ``StoreError``, as `Store.create`.
    package static func create(
        at path: String, model: ManagedObjectModel, author: String? = nil,
        info: [String: String] = [:], options: StoreOptions = StoreOptions()
    ) throws -> Store {
        let link = try BackEnd.newLink(
            StoreIdentity(uuid: options.makeUUID(), createdAt: options.clock()),
            clock: options.clock)
        guard let link else {
            return try Store.create(
                at: path, model: model, author: author, info: info, options: options)
        }
        try Store.begin(
            link, at: path, version: ModelVersion(first: model.persistent), options: options,
            EntryHeader(kind: .model, author: author, info: info))
        return try open(at: path, options: options)
    }

    /// Makes a store that begins with the first entry of another one.
    ///
    /// - Parameters:
    ///   - path: The file, which must not exist.
    ///   - first: The entry.
    ///   - options: How to open it.
    ///   - other: A store that has read the model already.
    /// - Returns: The open store.
    /// - Throws: ``StoreError``, as `Store.create`.
    package static func create(
        at path: String, loading first: Entry, options: StoreOptions = StoreOptions(),
        readLike other: Store? = nil
    ) throws -> Store {
        try Store.create(at: path, loading: first, options: options, readLike: other)
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - model: The model that the caller knows; nil to take the store's.
    ///   - options: How to open it.
    /// - Returns: The open store.
    /// - Throws: ``StoreError``, as `Store.open`.
    package static func open(
        at path: String, model: ManagedObjectModel? = nil, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        var options = options
        if !options.isReadOnly, options.link == nil { options.link = BackEnd.link(ofFileAt: path) }
        return try Store.open(at: path, model: model, options: options)
    }

    /// Cuts off entries at the end of a store that others have open, as `daybook pull --rewind` does.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - last: The entry that becomes the last one.
    /// - Throws: ``StoreError``, as `Store.cutBack`.
    package static func cutBack(at path: String, to last: UInt64) throws {
        let store = try open(at: path)
        try store.cutBack(to: SequenceNumber(last))
        try store.close()
    }
}
