// The room of sharing: what a program sees of a store whose journal it shares with programs on other machines.
// How the journal is reached is another module's; here it is only a `SharedLink`.

public import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore
public import Foundation

/// How a file stands to the shared store of which it is one machine's copy.
///
/// Reading never asks the servers. A save does, and the copy hears of what others have saved.
public struct StoreLink: Sendable {
    /// What is known of the servers.
    public enum State: Sendable {
        /// They answered last. The copy lacks so many entries, as far as is known.
        case connected(behind: UInt64)
        /// They have not answered since then. Saves throw the error; reading goes on.
        case offline(since: Date, StoreError)
        /// The next entry does not fit, or the copy has gone another way. Saves throw the error until a person has
        /// seen to it; reading goes on.
        case stopped(StoreError)
    }

    /// The shared store, such as `postgresql:service=ledger?store=iso`; no hosts and no secrets.
    public let place: String
    /// What is known of the servers.
    public let state: State
}

extension PersistentStore {
    /// How the file stands to the shared store; nil for a store of its own.
    public var link: StoreLink? {
        guard let place = options.sharing?.link.place, let condition = store.condition else {
            return nil
        }
        let state: StoreLink.State =
            switch condition {
            case .connected(_, let behind): .connected(behind: behind)
            case .offline(let since, let error):
                .offline(
                    since: Date(timeIntervalSince1970: Double(since) / 1_000_000), StoreError(error)
                )
            case .stopped(let error): .stopped(error)
            }
        return StoreLink(place: place, state: state)
    }

    /// Brings the copy up to the shared store: what was saved elsewhere before this call is there when it returns.
    ///
    /// Contexts see it as they see what another process has saved.
    ///
    /// - Parameter limit: How long to try while the servers cannot be reached.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable``, ``StoreError/Code/unprotected``,
    ///   ``StoreError/Code/quarantined`` or ``StoreError/Code/diverged``; also for a store that is not shared. What
    ///   was brought in before stays.
    /// - Complexity: O(*k* log *n*) page reads and writes, *k* the number of changes that were missing.
    public func catchUp(within limit: Duration = .seconds(5)) throws {
        let end = ContinuousClock.now + limit
        while true {
            do {
                try store.pull()
                noticeOthers()
                return
            } catch let error as StoreError where error.code == .unreachable {
                guard store.condition != nil, .now < end else { throw error }
            }
        }
    }
}

extension PersistentStore {
    /// Finds out what became of a save, a batch request or another single change of a store that ended with
    /// ``StoreError/Code/inDoubt``.
    ///
    /// It is tried again, as it was. A context that still has the changes may as well be saved again, which settles it,
    /// too. What a batch request changes is pending nowhere, so this is the way to learn whether to execute it again:
    ///
    /// ```swift
    /// do {
    ///     try context.execute(raise)
    /// } catch let error as StoreError where error.code == .inDoubt {
    ///     if try store.settle(error) == nil { try context.execute(raise) }
    /// }
    /// ```
    ///
    /// - Parameter error: The error, from this opening of the store.
    /// - Returns: The entry; nil when nothing was saved, and nothing of it ever will be.
    /// - Throws: ``StoreError`` with ``StoreError/Code/inDoubt`` or ``StoreError/Code/unreachable`` when it is still not
    ///   known; `error` itself when it is another one; as ``catchUp(within:)``.
    public func settle(_ error: StoreError) throws -> SequenceNumber? {
        guard let doubt = error.doubt else { throw error }
        defer { noticeOthers() }
        return try store.settle(doubt)?.sequence
    }
}

/// How a store is shared, compared by the place of its journal.
package struct StoreSharing: Sendable, Hashable {
    package let link: SharedLink

    package init(_ link: SharedLink) {
        self.link = link
    }

    package static func == (left: StoreSharing, right: StoreSharing) -> Bool {
        left.link.place == right.link.place
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(link.place)
    }
}
