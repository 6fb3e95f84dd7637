import DaybookJournalLog
import DaybookObjectModel
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What logins may do on the server, whatever program they use.
@Suite struct RightsTests {
    @Test(arguments: [
        "UPDATE daybook.entry SET token = 0", "DELETE FROM daybook.entry", "TRUNCATE daybook.entry",
        "INSERT INTO daybook.entry VALUES (1, 1, 99, 0, 0, '', 0, '')",
        "INSERT INTO daybook.chunk VALUES (1, 99, 0, '')", "DELETE FROM daybook.chunk",
        "INSERT INTO daybook.data VALUES (1, 0, '', '')", "DELETE FROM daybook.data",
        "UPDATE daybook.store SET numbers = 1", "UPDATE daybook.writer SET login = 'ada'",
        "UPDATE daybook.mark SET version = 0", "SELECT * FROM daybook.cut_entry",
        "SELECT daybook.cut(1, 1, 'because')",
        "SELECT daybook.add_store('x', gen_random_uuid(), 0, 1, 'public', 'public')",
    ])
    func `a writer writes by the functions only`(_ command: String) async throws {
        let store = try await onThread { try SharedStore() }

        let error = try await onThread {
            let connection = try store.server.connection(as: store.name)
            return #expect(throws: PostgresError.self) {
                try connection.run(script: command, until: limit)
            }
        }

        #expect(error?.state == "42501")
    }

    @Test(arguments: [
        "UPDATE daybook.entry SET token = 0", "DELETE FROM daybook.entry", "TRUNCATE daybook.entry",
        "UPDATE daybook.chunk SET part = 0", "DELETE FROM daybook.chunk", "TRUNCATE daybook.chunk",
        "UPDATE daybook.data SET bytes = ''", "DELETE FROM daybook.data", "TRUNCATE daybook.data",
        "DELETE FROM daybook.cut_entry",
    ])
    func `the owner does not change entries either`(_ command: String) async throws {
        let error = try await onThread {
            let server = try PostgresServer.shared.get()
            return #expect(throws: PostgresError.self) { try server.administer(command) }
        }

        #expect(error?.state == "DB005")
    }

    @Test func `a login sees and writes its own stores only`() async throws {
        let (ours, theirs) = try await onThread { (try SharedStore(), try SharedStore()) }

        try await onThread {
            let journal = try theirs.journal()
            #expect(try journal.append(group(after: .start, [1])) == .accepted)
            #expect(try journal.set(SharedMark(.tag, "v1", [1], version: 0)) == 1)
            let connection = try ours.server.connection(as: ours.name)
            let bytes = [UInt8](1...9)
            let record = SharedRecord(ChunkKey(level: 0, of: bytes.span.bytes), bytes)
            try journal.keep([record])
            #expect(try ours.journal().records([record.key]) == [])
            for table in ["entry", "chunk", "data", "mark", "writer"] {
                let count = PostgresStatement(
                    "count_\(table)",
                    "SELECT count(*) FROM daybook.\(table) WHERE store = \(try theirs.number)")
                #expect(try connection.run(count, until: limit)[0].integer(0) == 0)
            }
            let number = try theirs.number
            let names = PostgresStatement("names", "SELECT name FROM daybook.store")
            #expect(try connection.run(names, until: limit).map { try $0.text(0) } == [ours.name])

            let terms = PostgresTerms(
                servers: try ours.server.description(as: ours.name), store: theirs.name,
                node: UUID(),
                program: "tests", protection: .waived, clock: microseconds)
            let intruder = PostgresJournal(terms, theirs.identity)
            let error = #expect(throws: SharedJournalError.self) {
                try intruder.append(group(after: .start, [1]))
            }
            #expect(error?.code == .refused)
            let forged = #expect(throws: PostgresError.self) {
                try connection.run(
                    script: "SELECT daybook.take_numbers(\(number), 1)", until: limit)
            }
            #expect(forged?.state == "42501")
        }
    }

    @Test func `rights that were withdrawn are refused, and are no other history`() async throws {
        let store = try await onThread { try SharedStore() }
        let first = group(after: .start, [1])

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(first) == .accepted)
            try store.server.administer("REVOKE \(store.name)_writers FROM \(store.name)")
            for head in [.start, first.after] {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.page(after: head, bytes: 1)
                }
                #expect(error?.code == .refused)
            }
        }
    }

    @Test func `a reader reads and does not write`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            #expect(try store.journal().append(group(after: .start, [1])) == .accepted)
            let number = try store.number
            let reader = try store.server.connection(as: "\(store.name)_reader")
            let count = PostgresStatement("count", "SELECT count(*) FROM daybook.entry")
            #expect(try reader.run(count, until: limit)[0].integer(0) == 1)
            let error = #expect(throws: PostgresError.self) {
                try reader.run(
                    script: "SELECT daybook.take_numbers(\(number), 1)", until: limit)
            }
            #expect(error?.state == "42501")
        }
    }

    @Test func `the schema is not installed where names cannot be written`() async throws {
        let error = try await onThread {
            let server = try PostgresServer()
            try server.administer(
                "CREATE DATABASE western ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
            )
            let place = try ServerDescription(
                "host=\(server.folder) port=\(server.port) user=postgres dbname=western")
            return #expect(throws: PostgresError.self) {
                try PostgresSchema.install(on: place, limits: .patient)
            }
        }

        #expect(error?.code == .refused)
        #expect(error?.state == "22P05")
    }

    @Test func `a server without standbys is refused unless that is waived`() async throws {
        let store = try await onThread { try SharedStore() }

        let error = try await onThread {
            let journal = PostgresJournal(try store.terms(protection: .required), store.identity)
            return #expect(throws: SharedJournalError.self) {
                try journal.append(group(after: .start, [1]))
            }
        }

        #expect(error?.code == .unprotected)
    }

    @Test func `another store of that name is refused`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            #expect(try PostgresJournal.identity(store.terms()) == store.identity)
            let other = StoreIdentity(uuid: UUID(), createdAt: store.identity.createdAt)
            let journal = PostgresJournal(try store.terms(), other)
            let error = #expect(throws: SharedJournalError.self) {
                try journal.page(after: .start, bytes: 1)
            }
            #expect(error?.code == .refused)
        }
    }

    @Test func `a chunk without an entry does not stay`() async throws {
        let store = try await onThread { try SharedStore() }

        let error = try await onThread {
            let connection = try store.server.connection(as: store.name)
            let add = "SELECT daybook.add_chunk(\(try store.number), 1, 0, '\\x00')"
            return #expect(throws: PostgresError.self) {
                try connection.run(script: add, until: limit)
            }
        }

        #expect(error?.state == "DB010")
    }

    @Test func `the owner takes the end off a journal, and keeps it as evidence`() async throws {
        let store = try await onThread { try SharedStore() }
        let long = [UInt8](repeating: 7, count: (1 << 20) + 1)
        let all = group(after: .start, [1], long, [3])
        let head = SharedHead(all.entries[0].sequence, all.entries[0].digest)

        try await onThread {
            #expect(try store.journal().append(all) == .accepted)
            let number = try store.number
            try store.server.administer(
                "SET daybook.unprotected = 'allowed'; SELECT daybook.cut(\(number), 2, 'does not fold')"
            )
            let kept = try store.number(
                "SELECT count(*) FROM daybook.cut_entry WHERE store = \(number) AND reason = 'does not fold'"
            )
            let parts = try store.number(
                "SELECT count(*) FROM daybook.cut_chunk WHERE store = \(number)")
            #expect(kept == 2)
            #expect(parts == 2)
            #expect(try store.journal().append(group(after: head, [9])) == .accepted)
            let page = try store.journal().page(after: .start, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1], [9]])
        }
    }
}
