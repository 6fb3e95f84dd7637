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
    func startAnnouncing(from end: JournalEnd) {
        announced.withLock { if $0 == nil { $0 = end } }
    }

    /// Counts what the original of a copy has announced as known.
    func startAnnouncing(after original: PersistentStore) {
        if let known = original.announced.withLock({ $0 }) { startAnnouncing(from: known) }
    }

    /// Announces an entry that was saved here, unless a later one has been announced.
    func announceSave(_ sequence: SequenceNumber) {
        do {
            guard let known = announced.withLock(\.self) else {
                announce(try store.end())
                return
            }
            guard sequence <= known.head else {
                announce(JournalEnd(head: sequence, rewinds: known.rewinds))
                return
            }
            // Saves end in any order. Or entries were cut off, and this one has the number of one of them.
            if try store.end().rewinds != known.rewinds { noticeOthers() }
        } catch {
            // Whoever uses the store next meets the error.
            return
        }
    }

    /// Announces the end of the journal, unless it or a later one has been announced.
    ///
    /// - Returns: Whether it was news.
    @discardableResult
    func announce(_ end: JournalEnd) -> Bool {
        let (isNews, isCutBack) = announced.withLock { announced in
            let known = announced ?? JournalEnd(head: .zero, rewinds: end.rewinds)
            guard end.isNews(after: known) else { return (false, false) }
            announced = end
            return (true, end.rewinds != known.rewinds)
        }
        guard isNews else { return false }
        if isCutBack { options.checkpoints?.begin(self, at: end.head) }
        options.checkpoints?.advance(self, to: end.head)
        guard NotificationInterest.remoteChange.isThere else { return true }
        NotificationCenter.default.post(
            name: .remoteChange, object: coordinator,
            userInfo: [
                Self.storeKey: self, Self.storeUUIDKey: identifier, Self.urlKey: url,
                Self.historyTokenKey: end.head,
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
        let end = try store.store.end()
        guard store.announce(end) else { return false }
        rows.learn(of: end, in: store.number)
        store.store.announce(end.head)
        return true
    }
}
