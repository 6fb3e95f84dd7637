import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension Notification.Name {
    /// Posted before a store is removed from a coordinator. The notification's object is the
    /// coordinator.
    public static let persistentStoreCoordinatorStoresWillChange = Notification.Name(
        "DaybookPersistentStoreCoordinatorStoresWillChange")
    /// Posted after stores were added to a coordinator, removed from it, or moved. The notification's
    /// object is the coordinator.
    public static let persistentStoreCoordinatorStoresDidChange = Notification.Name(
        "DaybookPersistentStoreCoordinatorStoresDidChange")
}

extension PersistentStoreCoordinator {
    /// In the notifications: the stores that were added, an array of ``PersistentStore``.
    public static let addedPersistentStoresKey = "added"
    /// In the notifications: the stores that were or will be removed, an array of
    /// ``PersistentStore``.
    public static let removedPersistentStoresKey = "removed"

    // MARK: - Coming

    /// Opens a store, making it when there is none, and adds it.
    ///
    /// A store keeps the whole model, whatever configuration it is added under; so it can be added
    /// under another one later.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - configuration: The configuration of the model whose entities the store is to hold; nil for
    ///     all.
    ///   - options: How it is opened.
    /// - Returns: The store, the last one of ``persistentStores``.
    /// - Throws: ``StoreError`` with code `modelMismatch`, listing the differences, when the store was
    ///   written with another model; with `noSuchConfiguration`; with `exists` when the store, or a copy
    ///   of it, has been added already; with another code when the file cannot be used.
    @discardableResult
    public func addPersistentStore(
        at url: URL, configuration: String? = nil,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentStore {
        try addPersistentStore(
            StoreLocation(
                url: url, type: .file, configurationName: configuration,
                entities: try entities(of: configuration), options: options))
    }

    private func addPersistentStore(_ location: StoreLocation) throws -> PersistentStore {
        let (store, isMade) = try openOrMake(location)
        let added: PersistentStore
        do {
            try number(by: store.schema.version, of: location.url)
            added = try attach(store, location, endWhenAdded: store.end())
        } catch let refusal {
            do {
                try store.close()
                if isMade { try Store.remove(at: location.url.path) }
            } catch {
                // Why it was not added says more than what is left of it.
                throw refusal
            }
            throw refusal
        }
        inEveryContext { $0.beginFollowing(added) }
        post(.persistentStoreCoordinatorStoresDidChange, added: [added])
        return added
    }

    /// Opens a store as described, making it when there is none, and adds it.
    ///
    /// - Returns: The store, the last one of ``persistentStores``.
    /// - Throws: As ``addPersistentStore(at:configuration:options:)``; for a store in memory with code
    ///   `unsupportedFileSystem` when the system has no file system in memory.
    @discardableResult
    public func addPersistentStore(
        with description: PersistentStoreDescription
    ) throws -> PersistentStore {
        try addPersistentStore(
            StoreLocation(
                url: description.url, type: description.type,
                configurationName: description.configuration,
                entities: try entities(of: description.configuration), options: description.options
            ))
    }

    /// Adds a store of another coordinator, to be read with the model that it had at an entry.
    ///
    /// - Throws: ``StoreError`` with code `modelMismatch` when the stores that are here had another
    ///   one.
    func attach(
        _ other: PersistentStore, withModelAt sequence: SequenceNumber
    ) throws -> PersistentStore {
        let store = try other.store.withModel(at: sequence)
        try number(by: store.schema.version, of: other.url)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let names = other.configurationName.flatMap { store.schema.model.configurations[$0] }
        return try attach(
            store,
            StoreLocation(
                url: other.url, type: other.type, configurationName: other.configurationName,
                entities: names.map { names in
                    Set(names.compactMap { store.schema.entity(named: $0)?.number })
                },
                options: options),
            endWhenAdded: JournalEnd(head: sequence, rewinds: store.end().rewinds))
    }

    /// - Returns: The store, and whether its file was made.
    private func openOrMake(_ location: StoreLocation) throws -> (Store, isMade: Bool) {
        if location.type == .inMemory {
            let store = try Store.createInMemory(
                version: model.schema.version.restarted, options: location.options.storeOptions)
            return (store, false)
        }
        let path = location.url.path
        guard !FileManager.default.fileExists(atPath: path), !location.options.isReadOnly else {
            return (try open(location), false)
        }
        let options = location.options.storeOptions
        if let link = options.link {
            try Store.makeCopy(
                of: link, at: path, version: model.schema.version.restarted, options: options)
            return (try open(location), true)
        }
        do {
            let store = try Store.create(
                at: path, version: model.schema.version.restarted, options: options)
            return (store, true)
        } catch let error as StoreError where error.code == .exists {
            // Somebody else has just made the store.
            return (try open(location), false)
        }
    }

    private func open(_ location: StoreLocation) throws -> Store {
        if let plan = location.options.migrationPlan, !location.options.isReadOnly {
            return try PlannedMigration(
                plan, of: location.url, to: managedObjectModel, location.options
            ).open()
        }
        return try Store.open(
            at: location.url.path, model: managedObjectModel, options: location.options.storeOptions
        )
    }

    private func entities(of configuration: String?) throws -> Set<EntityNumber>? {
        guard let configuration else { return nil }
        guard let entities = managedObjectModel.configurations[configuration] else {
            throw StoreError.noSuchConfiguration(
                configuration, among: managedObjectModel.configurations.keys.sorted())
        }
        return Set(entities.compactMap { model.entity(named: $0)?.schema.number })
    }

    // MARK: - Going

    /// Removes a store and closes it. Its file stays as it is.
    ///
    /// In every context, objects of the store without changes become faults, which read as empty and
    /// call ``ManagedObjectContext/inaccessibleFaultHandler``. What is pending for objects of the store
    /// stays, and each save throws ``StoreError`` with code `noSuchStore` until it is rolled back.
    /// Contexts of other queues follow on their queues. When the store is added again, its objects can
    /// be read again.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` when it is not a store of this coordinator; the
    ///   error when closing the file fails, though the store has been removed then.
    public func remove(_ store: PersistentStore) throws {
        guard has(store) else { throw StoreError.noSuchStore(store.name) }
        post(.persistentStoreCoordinatorStoresWillChange, removed: [store])
        replace(store.number, with: nil)
        inEveryContext { $0.endFollowing(store) }
        post(.persistentStoreCoordinatorStoresDidChange, removed: [store])
        try store.close()
    }

    /// Moves a store to another location ("save as"): copies it, journal and all, and goes on with the
    /// copy. The file at the old location stays as it is.
    ///
    /// The copy has the same identifier, so objects, their identifiers and pending changes in contexts
    /// stay as they are. While the file is copied, saves to the store throw `busy`, with everything
    /// still pending.
    ///
    /// - Parameters:
    ///   - store: A store of this coordinator. Use the result in place of the original.
    ///   - url: The new file, which must not exist yet.
    /// - Returns: The store at the new location.
    /// - Throws: ``StoreError`` with code `exists` when the file exists; with `busy` while a save to
    ///   the store is running; with `noSuchStore`. The store stays at its old location then, and nothing
    ///   is left at the new one.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages in use.
    @discardableResult
    public func migratePersistentStore(
        _ store: PersistentStore, to url: URL
    ) throws -> PersistentStore {
        guard has(store) else { throw StoreError.noSuchStore(store.name) }
        post(.persistentStoreCoordinatorStoresWillChange, removed: [store])
        let migrated = try store.whileNobodyWrites {
            let copied = try copy(store, to: url)
            replace(store.number, with: copied)
            return copied
        }
        inEveryContext { $0.follow(migrated, insteadOf: store) }
        migrated.beginToWatchOthers()
        post(.persistentStoreCoordinatorStoresDidChange, added: [migrated], removed: [store])
        try store.close()
        return migrated
    }

    /// Copies a store to another location and opens the copy.
    private func copy(_ store: PersistentStore, to url: URL) throws -> PersistentStore {
        let location = StoreLocation(
            url: url, type: .file, configurationName: store.configurationName,
            entities: store.location.entities, options: store.options)
        try store.store.copy(to: url.path)
        do {
            let opened = try open(location)
            // Contexts may ask the original for numbers until the copy replaces it.
            try opened.skipObjectNumbers(Self.numbersWhileMoving)
            let copied = PersistentStore(
                location, number: store.number, store: opened, endWhenAdded: store.endWhenAdded,
                rows: rows)
            // Another process or coordinator may write to the file meanwhile.
            guard try store.head() == copied.head() else {
                throw StoreError.changedWhileCopied(store)
            }
            copied.takeKeptValues(of: store)
            // What has been announced is no news at the new location.
            copied.startAnnouncing(after: store)
            copied.belong(to: self)
            return copied
        } catch {
            try Store.remove(at: url.path)
            throw error
        }
    }

    /// More objects than can be made while a file is copied.
    private static let numbersWhileMoving: UInt64 = 1 << 24

    // MARK: - Files

    /// Removes the file of a store that is not in use. Does nothing when there is none.
    ///
    /// - Throws: ``StoreError`` with code `busy` while a coordinator of this process or another process
    ///   has the store open: remove it from its coordinator first; with `notAStore` when the file is
    ///   something else. The file is as it was then.
    public func destroyPersistentStore(at url: URL) throws {
        try Store.remove(at: url.path)
    }

    /// Replaces a store that is not in use with a copy of another, journal and all, or puts the copy where
    /// there is no file yet. The copy has the identifier of its original.
    ///
    /// - Parameters:
    ///   - destination: The store to replace.
    ///   - source: The store to copy; it may be in use.
    /// - Throws: ``StoreError`` with code `busy` while the store at `destination` is open;
    ///   with another code when the store at `source` cannot be read. The file at `destination` is as it
    ///   was then.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of pages in use.
    public func replacePersistentStore(
        at destination: URL, withPersistentStoreFrom source: URL
    ) throws {
        let store = try Store.open(at: source.path, options: StoreOptions(isReadOnly: true))
        try Store.replace(at: destination.path, withCopyOf: store)
        try store.close()
    }

    // MARK: - Metadata

    /// The metadata of a store, with values that wait for the next save.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` when it is not a store of this coordinator.
    public func metadata(for store: PersistentStore) throws -> PersistentStoreMetadata {
        guard has(store) else { throw StoreError.noSuchStore(store.name) }
        return try store.metadata()
    }

    /// The metadata of a store that need not be added to any coordinator.
    ///
    /// - Throws: ``StoreError`` when the file is not a store or cannot be read.
    public static func metadata(at url: URL) throws -> PersistentStoreMetadata {
        let store = try Store.open(at: url.path, options: StoreOptions(isReadOnly: true))
        let metadata = PersistentStoreMetadata(store, values: try store.userValues())
        try store.close()
        return metadata
    }

    /// Keeps values about a store, which the next save of any context of this coordinator writes, in one
    /// step with its changes. They are about the file and not part of the journal: they have no history,
    /// and exports leave them out.
    ///
    /// - Parameters:
    ///   - values: All values to keep, by name; those left out are forgotten.
    ///   - store: A store of this coordinator.
    /// - Throws: ``StoreError`` with code `noSuchStore`; with `readOnly` when the store cannot be
    ///   written.
    public func setMetadata(_ values: [String: Value], for store: PersistentStore) throws {
        guard has(store) else { throw StoreError.noSuchStore(store.name) }
        guard !store.isReadOnly else { throw StoreError.readOnlyStore(store) }
        store.keep(values)
    }

    // MARK: - Telling

    private func post(
        _ name: Notification.Name, added: [PersistentStore] = [], removed: [PersistentStore] = []
    ) {
        var information: [AnyHashable: Any] = [:]
        if !added.isEmpty { information[Self.addedPersistentStoresKey] = added }
        if !removed.isEmpty { information[Self.removedPersistentStoresKey] = removed }
        NotificationCenter.default.post(name: name, object: self, userInfo: information)
    }
}
