import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Calls of the server's functions as no node makes them, by a login that may write.
@Suite struct ForgedCallTests {
    @Test(arguments: [
        "NULL, ZEROS, WRITER, 1, 0, ZEROS, 'a', 0, false",
        "0, NULL, WRITER, 1, 0, ZEROS, 'a', 0, false",
        "0, ZEROS, WRITER, NULL, 0, ZEROS, 'a', 0, false",
        "0, ZEROS, WRITER, 1, NULL, ZEROS, 'a', 0, false",
        "0, ZEROS, WRITER, 1, 0, NULL, 'a', 0, false",
        "0, ZEROS, WRITER, 1, 0, ZEROS, 'a', NULL, false",
        "0, ZEROS, WRITER, 1, 0, ZEROS, 'a', 0, NULL",
        "0, ZEROS, WRITER, 1, 0, ZEROS, NULL, 0, false",
        "0, ZEROS, WRITER, 1, '[0:1]={0,0}', ARRAY[ZEROS, ZEROS], ARRAY['a', 'b']::bytea[], false",
        "0, ZEROS, WRITER, 1, '{0,0}', '[0:1]={a,b}', '{a,b}', false",
        "0, ZEROS, WRITER, 1, '{0,0}', '{a,b}', '[0:1]={a,b}', false",
        "0, ZEROS, WRITER, 1, '{{0,0}}', '{{a,b}}', '{{a,b}}', false",
        "0, ZEROS, WRITER, 1, '{0,NULL}', '{a,b}', '{a,b}', false",
        "0, ZEROS, WRITER, 1, '{0,0}', '{a,NULL}', '{a,b}', false",
        "0, ZEROS, WRITER, 1, '{0,0}', '{a,b}', '{a,NULL}', false",
        "0, ZEROS, WRITER, 1, NULL::bigint[], '{a,b}', '{a,b}', false",
        "0, NULL, WRITER, 1, '{0,0}', '{a,b}', '{a,b}', false",
    ])
    func `an entry of an impossible form is refused whatever its digest is`(_ values: String)
        async throws
    {
        let store = try await onThread { try SharedStore() }

        let error = try await onThread {
            let (connection, writer) = try store.registered()
            let values = values.replacing("ZEROS", with: "decode(repeat('00', 32), 'hex')")
                .replacing("WRITER", with: "\(writer)")
            let append = "SELECT daybook.append(\(try store.number), \(values))"
            return #expect(throws: PostgresError.self) {
                try connection.run(script: append, until: limit)
            }
        }

        #expect(error?.state == "DB008")
    }

    @Test(arguments: [
        "NULL, '{a}', '{a}'", "'{0}', NULL, '{a}'", "'{0}', '{a}', NULL",
        "'{NULL}', '{a}', '{a}'", "'{0}', '{NULL}', '{a}'", "'{0}', '{a}', '{NULL}'",
        "'{0,0}', '{a,b}', '{a}'", "'{{0,0}}', '{{a,b}}', '{{a,b}}'",
        "'[0:1]={0,0}', '{a,b}', '{a,b}'", "'{}', '{}', '{}'",
    ])
    func `records of an impossible form are refused whatever their digests are`(_ values: String)
        async throws
    {
        let store = try await onThread { try SharedStore() }

        let error = try await onThread {
            let (connection, writer) = try store.registered()
            let keep = "SELECT daybook.keep_data(\(try store.number), \(writer), \(values))"
            return #expect(throws: PostgresError.self) {
                try connection.run(script: keep, until: limit)
            }
        }

        #expect(error?.state == "DB008")
    }

    @Test func `who says that it has the turn, and does not, appends nothing`() async throws {
        let store = try await onThread { try SharedStore() }

        let answer = try await onThread {
            let journal = try store.journal()
            _ = try journal.enter(after: .start, bytes: 1)
            let (connection, writer) = try store.registered()
            let append = PostgresStatement(
                "append",
                """
                SELECT daybook.append(\(try store.number), 0, decode(repeat('00', 32), 'hex'), \(writer),
                1, 0, 'a', 'a', 0, true)
                """)
            let answer = try connection.run(append, until: limit)[0].integer(0)
            journal.leave()
            return answer
        }

        #expect(answer == -2)
    }

    @Test func `a role that is not there any more stops its store alone`() async throws {
        let (ours, theirs) = try await onThread { (try SharedStore(), try SharedStore()) }

        try await onThread {
            try theirs.server.administer(
                "ALTER ROLE \(theirs.name)_writers RENAME TO \(theirs.name)_gone")
            let first = group(after: .start, [1])
            #expect(try ours.journal().append(first) == .accepted)
            #expect(try ours.journal().page(after: first.after, bytes: 1).isLast)
            let error = #expect(throws: SharedJournalError.self) {
                try theirs.journal().append(first)
            }
            #expect(error?.code == .refused)
        }
    }
}

extension SharedStore {
    /// A connection of its writer without a journal, and the writer's number.
    func registered() throws -> (connection: PostgresConnection, writer: Int64) {
        let connection = try server.connection(as: name)
        try connection.run(script: "SET daybook.unprotected = 'allowed'", until: limit)
        let register = PostgresStatement(
            "register",
            "SELECT writer FROM daybook.register(\(try number), gen_random_uuid(), 'tests')")
        return (connection, try connection.run(register, until: limit)[0].integer(0))
    }
}
