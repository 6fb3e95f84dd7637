import DaybookJournalLog
import DaybookSnapshotStore
import Dispatch
public import Foundation
import Synchronization

extension Notification.Name {
    /// Posted after an entry has been appended to a store, on the thread that saved or noticed it. The
    /// notification's object is the ``PersistentStoreCoordinator``; the user info has the store, its
    /// identifier, its URL and the number of the entry.
    ///
    /// It is posted for every save through the store's coordinator. What another process or coordinator
    /// has saved is posted at once where ``PersistentStoreOptions/remoteChanges`` is
    /// ``RemoteChangeNotice/immediate``. Elsewhere it is posted when
    /// ``PersistentStoreCoordinator/checkForRemoteChanges()`` or a later save finds it. Several entries may make
    /// one notification, with the newest.
    public static var persistentStoreRemoteChange: Notification.Name {
        NotificationInterest.remoteChange.markRequested()
        return .remoteChange
    }

    fileprivate static let remoteChange = Notification.Name("DaybookPersistentStoreRemoteChange")
}

/// How a coordinator learns what other processes and coordinators save to a store.
public enum RemoteChangeNotice: Sendable, Hashable {
    /// It looks when ``PersistentStoreCoordinator/checkForRemoteChanges()`` is called, and when it saves.
    case whenChecked
    /// The operating system wakes it a few milliseconds after each save, and what was saved is announced like a
    /// save from here: by notification, to contexts that merge automatically, and so to lists and values
    /// that are observed. It costs those who save nothing.
    case immediate
}

extension PersistentStore {
    /// In the notification of a change: the ``PersistentStore``.
    public static let storeKey = "store"
    /// In the notification of a change: the store's identifier, a `UUID`.
    public static let storeUUIDKey = "storeUUID"
    /// In the notification of a change: the store's `URL`.
    public static let urlKey = "URL"
    /// In the notification of a change: the number of the newest entry, a ``SequenceNumber``.
    public static let historyTokenKey = "historyToken"

    /// Counts entries up to here as known, when none has been announced yet.
    func startAnnouncing(from sequence: SequenceNumber) {
        announced.withLock { if $0 == nil { $0 = sequence } }
    }

    /// Counts what the original of a copy has announced as known.
    func startAnnouncing(after original: PersistentStore) {
        if let known = original.announced.withLock({ $0 }) { startAnnouncing(from: known) }
    }

    /// Announces an entry, unless it or a later one has been announced.
    ///
    /// - Returns: Whether it was news.
    @discardableResult
    func announce(_ sequence: SequenceNumber) -> Bool {
        let isNews = announced.withLock { announced in
            guard sequence > announced ?? .zero else { return false }
            announced = sequence
            return true
        }
        if isNews { options.checkpoints?.advance(self, to: sequence) }
        guard isNews, NotificationInterest.remoteChange.isThere else { return isNews }
        NotificationCenter.default.post(
            name: .remoteChange, object: coordinator,
            userInfo: [
                Self.storeKey: self, Self.storeUUIDKey: identifier, Self.urlKey: url,
                Self.historyTokenKey: sequence,
            ])
        return true
    }

    /// Where what others have saved is announced, so that observers do not keep the watching of files waiting.
    private static let announcements = DispatchQueue(label: "daybook.remote-changes")

    /// Announces what others save as soon as they have.
    func watchOthers() -> StoreWatch {
        store.watch(.others) { [weak self] in
            Self.announcements.async { [weak self] in self?.noticeOthers() }
        }
    }

    /// Announces what others have saved, if there is something.
    func noticeOthers() {
        do {
            if let coordinator { try coordinator.announceRemoteChanges(of: self) }
        } catch {
            // Whoever uses the store next meets the error.
            return
        }
    }
}

extension PersistentStoreCoordinator {
    /// Checks whether others, in this process or another, have saved to the stores, and announces it
    /// like a save from here: with `persistentStoreRemoteChange`, and to contexts that merge
    /// automatically.
    ///
    /// Where ``PersistentStoreOptions/remoteChanges`` is ``RemoteChangeNotice/immediate``, nobody needs to call
    /// this. Elsewhere a program that shares a store calls it when it has reason to: when its window comes to the
    /// front, or before it decides something.
    ///
    /// - Returns: Whether there was news.
    /// - Throws: ``StoreError`` when a store cannot be read; with ``StoreError/Code/replaced`` when its
    ///   file was deleted, moved or replaced.
    /// - Complexity: O(1) page reads for each store.
    @discardableResult
    public func checkForRemoteChanges() throws -> Bool {
        var isNews = false
        for store in persistentStores {
            if try announceRemoteChanges(of: store) { isNews = true }
        }
        return isNews
    }

    /// Announces what others have saved to a store.
    ///
    /// - Returns: Whether there was news.
    @discardableResult
    fileprivate func announceRemoteChanges(of store: PersistentStore) throws -> Bool {
        try store.store.checkIsInPlace()
        let head = try store.head()
        guard store.announce(head) else { return false }
        rows.learn(of: head, in: store.number)
        store.store.announce(head)
        return true
    }
}
