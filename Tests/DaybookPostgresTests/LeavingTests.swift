import DaybookJournalLog
import DaybookObjectModel
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Servers that are left: in trouble, or not confirmed any more.
@Suite struct LeavingTests {
    /// Has a server refuse to give numbers, for a reason that may pass.
    private static let trouble = """
        CREATE OR REPLACE FUNCTION daybook.take_numbers(_store int, _count bigint) RETURNS bigint
            LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$
        """

    @Test func `a server in trouble is left for another one, and its turn is over`() async throws {
        try await onThread {
            let stores = try [SharedStore(on: PostgresServer()), SharedStore(on: PostgresServer())]
            let second = try stores[1].addTwin(of: stores[0])
            let journal = PostgresJournal(
                try stores[0].terms(besides: second), stores[0].identity)
            _ = try journal.enter(after: .start, bytes: 1)
            #expect(try journal.takeNumbers(1) == 1..<2)
            try stores[0].server.administer(Self.trouble)

            let refusal = #expect(throws: SharedJournalError.self) { try journal.takeNumbers(1) }

            #expect(refusal?.code == .unreachable)
            // The server would end a turn in which nothing is done only after five seconds.
            var limits = PostgresTerms.Limits.patient
            limits.answering = .seconds(2)
            let other = PostgresJournal(
                try stores[0].terms(limits: limits), stores[0].identity)
            _ = try other.enter(after: .start, bytes: 1)
            other.leave()
            // The numbers of the other server begin elsewhere.
            #expect(try journal.takeNumbers(1) == 1_000..<1_001)
        }
    }

    @Test func `a server in trouble is asked again when there is no other one`() async throws {
        try await onThread {
            let store = try SharedStore(on: PostgresServer())
            let journal = try store.journal()
            #expect(try journal.takeNumbers(1) == 1..<2)
            let name = "daybook.take_numbers(int, bigint)"
            try store.server.administer(
                "ALTER FUNCTION \(name) SET SCHEMA public; \(Self.trouble)")
            for _ in 0..<3 {
                let refusal = #expect(throws: SharedJournalError.self) {
                    try journal.takeNumbers(1)
                }
                #expect(refusal?.code == .unreachable)
            }

            try store.server.administer(
                """
                DROP FUNCTION \(name); ALTER FUNCTION public.take_numbers(int, bigint) SET SCHEMA daybook
                """)

            #expect(try journal.takeNumbers(1) == 2..<3)
        }
    }

    /// It may lack what others have appended on the server that leads meanwhile.
    @Test func `that nothing is new is not believed of a server that nobody confirms any more`()
        async throws
    {
        let store = try await onThread { try SharedStore(on: PostgresServer(standbys: "")) }
        var limits = PostgresTerms.Limits.patient
        limits.connecting = .seconds(2)
        let first = group(after: .start, [1])

        let refusal = try await onThread { [limits] in
            let reader = PostgresJournal(try store.terms(limits: limits), store.identity)
            #expect(try reader.append(first) == .accepted)
            #expect(try reader.page(after: first.after, bytes: 1).entries.isEmpty)
            try store.confirmByNobody()
            return try store.untilRefused { _ = try reader.page(after: first.after, bytes: 1) }
        }

        #expect(refusal?.code == .unreachable)
        #expect((refusal?.cause as? PostgresError)?.code == .late)
    }

    @Test func `a cursor that is made or removed is confirmed, and one that moves need not be`()
        async throws
    {
        let store = try await onThread { try SharedStore(on: PostgresServer(standbys: "")) }
        var limits = PostgresTerms.Limits.patient
        limits.answering = .seconds(2)

        let (made, removed) = try await onThread { [limits] in
            let terms = try store.terms(limits: limits)
            let journals = (0..<3).map { _ in PostgresJournal(terms, store.identity) }
            for (number, journal) in journals.enumerated() {
                #expect(try journal.set(SharedMark(.cursor, "\(number)", [1], version: 0)) == 1)
            }
            try store.confirmByNobody()
            let refusal = try store.untilRefused {
                _ = try journals[0].set(SharedMark(.value, "\(UUID())", [1], version: 0))
            }
            #expect(refusal?.code == .inDoubt)
            #expect(try journals[1].set(SharedMark(.cursor, "1", [2], version: 1)) == 2)
            return (
                #expect(throws: SharedJournalError.self) {
                    try journals[1].set(SharedMark(.cursor, "new", [1], version: 0))
                },
                #expect(throws: SharedJournalError.self) {
                    try journals[2].set(SharedMark(.cursor, "2", nil, version: 1))
                }
            )
        }

        #expect(made?.code == .inDoubt)
        #expect(removed?.code == .inDoubt)
    }

    /// Whoever has kept them first may be the only one who has them.
    @Test func `records that are there already are confirmed before they count as kept`()
        async throws
    {
        let store = try await onThread { try SharedStore(on: PostgresServer(standbys: "")) }
        var limits = PostgresTerms.Limits.patient
        limits.answering = .seconds(2)
        let terms = try store.terms(limits: limits)
        let first = PostgresJournal(terms, store.identity)
        let second = PostgresJournal(terms, store.identity)

        try await onThread {
            try Self.keep(by: first)
            try Self.keep(by: second)
            try store.confirmByNobody()
            _ = try store.untilRefused { try Self.set(by: first) }
        }
        let refusal = await #expect(throws: SharedJournalError.self) {
            try await onThread { try Self.keep(by: second) }
        }

        #expect(refusal?.code == .unreachable)
    }

    private static func keep(by journal: PostgresJournal) throws {
        let bytes: [UInt8] = [1, 2, 3]
        try journal.keep([SharedRecord(ChunkKey(level: 0, of: bytes.span.bytes), bytes)])
    }

    private static func set(by journal: PostgresJournal) throws {
        _ = try journal.set(SharedMark(.value, "\(UUID())", [1], version: 0))
    }
}

extension SharedStore {
    /// Has the server wait for a standby that there is not.
    fileprivate func confirmByNobody() throws {
        try server.administer("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try server.administer("SELECT pg_reload_conf()")
    }

    /// Asks until the server refuses, which takes its new setting up a little later.
    fileprivate func untilRefused(_ ask: () throws -> Void) throws -> SharedJournalError? {
        let end = ContinuousClock.now + .seconds(60)
        while .now < end {
            do { try ask() } catch let error as SharedJournalError { return error }
        }
        return nil
    }

    /// Makes a store on this one's server that is the same as another one, but for its numbers.
    fileprivate func addTwin(of other: SharedStore) throws -> ServerDescription {
        try server.administer(
            """
            DELETE FROM daybook.store;
            INSERT INTO daybook.store (name, uuid, created_at, numbers, reader, writer)
            VALUES ('\(other.name)', '\(other.identity.uuid)', \(other.identity.createdAt), 1000,
                '\(name)_readers', '\(name)_writers');
            CREATE ROLE \(other.name) LOGIN IN ROLE \(name)_writers
            """)
        return try server.description(as: other.login)
    }

    /// The terms of a node that may go to another server, too.
    fileprivate func terms(besides other: ServerDescription) throws -> PostgresTerms {
        func value(_ key: String, of description: ServerDescription) -> String {
            let part = description.text.split(separator: " ").first { $0.hasPrefix("\(key)=") }
            return part.map { String($0.dropFirst(key.count + 1)) } ?? ""
        }
        let own = try server.description(as: login)
        let lists = ["host", "port"].map { key in
            "\(key)=\(value(key, of: own)),\(value(key, of: other))"
        }
        let text = "\(lists.joined(separator: " ")) user=\(login) dbname=postgres"
        return PostgresTerms(
            servers: try ServerDescription(text), store: name, node: UUID(), program: "tests",
            protection: .waived, limits: .patient, clock: microseconds)
    }
}
