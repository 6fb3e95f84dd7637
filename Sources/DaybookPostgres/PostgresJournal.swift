package import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookPQ
package import DaybookSnapshotStore
internal import Synchronization

/// The journal of a store that several machines share, in PostgreSQL.
///
/// Entries are accepted by a function of the server, ``PostgresSchema``, which checks that they follow the
/// last one, and answers when a quorum of servers has them. Making one asks nobody; connections are made when
/// they are needed.
///
/// Invariants:
/// - Nothing is read from a server, or appended there, before a write to it was confirmed by others on the
///   same connection.
/// - What is handed out is held by others: whoever appended it has announced that, or a later write is confirmed.
/// - A statement that may change something is never cancelled: it is left behind by closing its socket.
package final class PostgresJournal: SharedJournal {
    package let identity: StoreIdentity
    private let session: Mutex<PostgresSession>
    private let listener: PostgresListener
    private let clock: ServerClock

    /// The journal of a store whose identity is known.
    ///
    /// - Parameters:
    ///   - terms: Where it is, and how long to wait for it.
    ///   - identity: Which store it must be; another one is refused when the servers are reached.
    package init(_ terms: PostgresTerms, _ identity: StoreIdentity) {
        self.identity = identity
        clock = ServerClock(own: terms.clock)
        session = Mutex(PostgresSession(terms, clock, identity))
        listener = PostgresListener(terms, clock)
    }

    deinit { listener.stop() }

    /// The identity that a store has on the servers.
    ///
    /// - Parameter terms: Where it is.
    /// - Returns: The identity.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/refused`` when there is no such store
    ///   for this login; with ``SharedJournalError/Code/unreachable`` or
    ///   ``SharedJournalError/Code/unprotected``.
    package static func identity(_ terms: PostgresTerms) throws(SharedJournalError) -> StoreIdentity
    {
        do {
            return try ConfirmedServer(terms, ServerClock(own: terms.clock)).identity
        } catch {
            throw SharedJournalError(error)
        }
    }

    package var entryBytesMaximum: Int { SharedGroup.entryBytesMaximum }

    package func now() -> Int64 { clock.now() }

    package func append(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        let answer = try withSession { session throws(SharedJournalError) in
            try session.append(group)
        }
        listener.know((answer == .accepted ? group.after : group.head).sequence)
        return answer
    }

    package func page(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage {
        listener.know(head.sequence)
        return try withSession { session throws(SharedJournalError) in
            try session.page(after: head, bytes: bytes, announced: listener.heard)
        }
    }

    package func enter(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage
    {
        listener.know(head.sequence)
        return try withSession { session throws(SharedJournalError) in
            try session.takeTurn()
            return try session.page(after: head, bytes: bytes, announced: listener.heard)
        }
    }

    package func leave() {
        session.withLock { $0.leaveTurn() }
    }

    package func takeNumbers(_ count: UInt64) throws(SharedJournalError) -> Range<UInt64> {
        try withSession { session throws(SharedJournalError) in try session.takeNumbers(count) }
    }

    package func marks(_ kind: SharedMark.Kind) throws(SharedJournalError) -> [SharedMark] {
        try withSession { session throws(SharedJournalError) in try session.marks(kind) }
    }

    package func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64? {
        try withSession { session throws(SharedJournalError) in try session.set(mark) }
    }

    package func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey] {
        try withSession { session throws(SharedJournalError) in try session.lacking(keys) }
    }

    package func keep(_ records: [SharedRecord]) throws(SharedJournalError) {
        try withSession { session throws(SharedJournalError) in try session.keep(records) }
    }

    package func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        try withSession { session throws(SharedJournalError) in try session.records(keys) }
    }

    package func follow(
        _ body: @escaping @Sendable (SequenceNumber) -> Void
    ) -> any AnyObject & Sendable {
        listener.follow(body)
    }

    package func announce(_ head: SharedHead) {
        listener.announce(head)
    }

    private func withSession<R: Sendable>(
        _ body: (PostgresSession) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        try session.withLock { session throws(SharedJournalError) in
            do throws(SharedJournalError) {
                return try body(session)
            } catch {
                // The connection is open still: without a pause the same server would be asked again at once.
                if error.isTroubleOfServer { session.leaveServer() }
                throw error
            }
        }
    }
}
