public import DaybookSnapshotStore
public import Foundation

extension PersistentStore {
    /// Copies the store, journal and all, as it is at one moment, while programs go on reading and saving.
    ///
    /// The copy is a store like the first, with the same identifier and digests. All of it is verified before it
    /// gets its name, so there is either a complete and sound copy, on the disk, or none. Those who save do not
    /// wait, but the store cannot reuse pages until the copy is complete, so it may grow. Call it on a
    /// thread that may take its time.
    ///
    /// A copy and its original cannot be added to one coordinator. The command does the same with
    /// `daybook backup`.
    ///
    /// - Parameter url: The file to make, where there must be none.
    /// - Throws: ``StoreError`` with code `exists`; with `corrupt`, and every finding in
    ///   ``StoreError/details``, when the store, and so its copy, is damaged; with `full`, `permission` or
    ///   `inputOutput`. Nothing is left of the copy then.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages, and O(*n* log *n*) page reads,
    ///   *n* the size of the journal.
    public func backup(to url: URL) throws(StoreError) {
        try store.refusing {
            try store.copy(to: url.path, compacting: false) { draft in
                let report = try Store.verify(path: draft)
                let findings = report.findings.map { "\($0.place): \($0.message)" }
                guard report.isSound else {
                    throw StoreError(
                        .corrupt,
                        "The copy of '\(name)' is not sound, and was removed. Run 'daybook verify' to see "
                            + "whether the store itself is damaged.",
                        details: findings + report.gaps)
                }
            }
        }
    }
}

extension PersistentContainer {
    /// Copies the only store of the container, as it is at one moment; see ``PersistentStore/backup(to:)``.
    ///
    /// - Parameter url: The file to make, where there must be none.
    /// - Throws: As there; ``StoreError`` with code `noSuchStore` when there is no store, or when there are
    ///   several: each of them has a moment of its own, and is copied by itself.
    /// - Complexity: As there.
    public func backup(to url: URL) throws(StoreError) {
        let stores = persistentStoreCoordinator.persistentStores
        guard let store = stores.first else { throw .noStore() }
        guard stores.count == 1 else {
            throw StoreError(
                .noSuchStore,
                "The container has \(stores.count) stores. Copy each of them with its own backup(to:)."
            )
        }
        try store.backup(to: url)
    }
}
