internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookPQ
internal import DaybookPostgres
internal import DaybookSnapshotStore
internal import Foundation
internal import Synchronization

/// The stores of tests on one real server of PostgreSQL, which waits for no standby.
///
/// Each test has a clock of its own, and some have identities of their own making, the same in several tests: the
/// server's clock is far ahead of all of them, and it does not mind two stores with one identity.
enum PostgresBackEnd {
    private static let server: Result<PostgresServer, any Error> = Result {
        let server = try PostgresServer()
        try server.administer(
            """
            CREATE ROLE test_readers;
            CREATE ROLE test_writers;
            CREATE ROLE tests LOGIN IN ROLE test_writers;
            CREATE OR REPLACE FUNCTION daybook.clock() RETURNS bigint LANGUAGE sql VOLATILE
                SET search_path = pg_catalog, pg_temp AS $$ SELECT (1::bigint << 55) - 1 $$;
            ALTER TABLE daybook.store DROP CONSTRAINT store_uuid_key;
            """)
        return server
    }

    private static let storesMade = Atomic(0)
    private static let prefix = "postgres:"

    /// The link to a new store without entries.
    ///
    /// - Parameters:
    ///   - identity: Which store it is.
    ///   - clock: The clock that its nodes follow.
    /// - Returns: The link.
    /// - Throws: When the server does not start, or refuses the store.
    static func newLink(
        _ identity: StoreIdentity, clock: @escaping @Sendable () -> Int64
    ) throws -> SharedLink {
        let server = try Self.server.get()
        let name = "store\(storesMade.wrappingAdd(1, ordering: .relaxed).newValue)"
        try PostgresSchema.addStore(
            name, identity, numbers: 1, roles: ("test_readers", "test_writers"),
            on: server.connection(as: "postgres"), until: .now + .seconds(20))
        return link(
            toStore: name, identity, servers: try server.description(as: "tests"), clock: clock)
    }

    private static func link(
        toStore name: String, _ identity: StoreIdentity, servers: ServerDescription,
        clock: @escaping @Sendable () -> Int64
    ) -> SharedLink {
        SharedLink(
            to: prefix + name, identify: { identity },
            connect: { file, _ in
                let terms = PostgresTerms(
                    servers: servers, store: name, node: file.node, program: "tests",
                    protection: .waived, limits: .patient, clock: StoreOptions.systemClock)
                return ClockedJournal(PostgresJournal(terms, identity), clock)
            })
    }
}

/// A journal whose nodes follow the clock of a test.
private final class ClockedJournal: SharedJournal {
    private let journal: PostgresJournal
    private let clock: @Sendable () -> Int64
    private let lastTime = Mutex(Int64.min)

    init(_ journal: PostgresJournal, _ clock: @escaping @Sendable () -> Int64) {
        self.journal = journal
        self.clock = clock
    }

    var identity: StoreIdentity { journal.identity }

    var entryBytesMaximum: Int { journal.entryBytesMaximum }

    func now() -> Int64 {
        let now = clock()
        return lastTime.withLock { last in
            last = max(last, now)
            return last
        }
    }

    func append(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        try journal.append(group)
    }

    func page(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage {
        try journal.page(after: head, bytes: bytes)
    }

    func enter(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage {
        try journal.enter(after: head, bytes: bytes)
    }

    func leave() { journal.leave() }

    func takeNumbers(_ count: UInt64) throws(SharedJournalError) -> Range<UInt64> {
        try journal.takeNumbers(count)
    }

    func marks(_ kind: SharedMark.Kind) throws(SharedJournalError) -> [SharedMark] {
        try journal.marks(kind)
    }

    func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64? { try journal.set(mark) }

    func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey] {
        try journal.lacking(keys)
    }

    func keep(_ records: [SharedRecord]) throws(SharedJournalError) { try journal.keep(records) }

    func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        try journal.records(keys)
    }

    func follow(
        _ body: @escaping @Sendable (SequenceNumber) -> Void
    ) -> any AnyObject & Sendable {
        journal.follow(body)
    }

    func announce(_ head: SharedHead) { journal.announce(head) }
}
