import DaybookPQ
import DaybookTestSupport
import Foundation
import Testing

/// Statements, copies, notifications and failures on one connection.
@Suite struct ConnectionTests {
    @Test func `values of all types come back as they were given`() async throws {
        let row = try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            let echo = PostgresStatement(
                "echo",
                "SELECT $1, $2, $3, $4, $5, $6, $7, ($8::bigint[])[2], ($9::bytea[])[3], $10")
            return try connection.run(
                echo,
                [
                    .boolean(true), .int4(-7), .int8(.min), .text("Grüße"), .bytes([0, 255]),
                    .uuid(Array(0..<16)), .bytes([]), .int8s([1, -2]),
                    .bytesList([[], [1], [2, 3]]), .bytes(nil),
                ], until: limit)[0]
        }

        #expect(try row.boolean(0) == true)
        #expect(try row.integer(1) == -7)
        #expect(try row.integer(2) == .min)
        #expect(try row.text(3) == "Grüße")
        #expect(try row.bytes(4) == [0, 255])
        #expect(try row.bytes(5) == Array(0..<16))
        #expect(try row.bytes(6) == [])
        #expect(try row.integer(7) == -2)
        #expect(try row.bytes(8) == [2, 3])
        #expect(row.isNull(9))
        #expect(row.isNull(10))
        #expect(throws: PostgresError.self) { try row.integer(3) }
        #expect(throws: PostgresError.self) { try row.text(10) }
    }

    @Test func `a copy hands out every row, long and missing values too`() async throws {
        let rows = try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            return try connection.copy(
                """
                COPY (SELECT i::bigint, CASE WHEN i % 3 > 0 THEN repeat('x', i * 1000)::bytea END
                FROM generate_series(1, 300) i) TO STDOUT (FORMAT binary)
                """, until: limit)
        }

        #expect(try rows.map { try $0.integer(0) } == Array(1...300))
        #expect(rows.enumerated().allSatisfy { $1.isNull(1) == (($0 + 1) % 3 == 0) })
        #expect(try rows[298].isNull(1) || rows[298].bytes(1).count == 299_000)
        #expect(try rows[297].bytes(1).count == 298_000)
    }

    @Test func `an error in the middle of a copy is thrown, and the connection goes on`()
        async throws
    {
        try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            let error = #expect(throws: PostgresError.self) {
                try connection.copy(
                    """
                    COPY (SELECT 1 / (i - 5000) FROM generate_series(1, 9000) i)
                    TO STDOUT (FORMAT binary)
                    """, until: limit)
            }
            #expect(error?.code == .refused)
            #expect(error?.state == "22012")
            #expect(throws: PostgresError.self) {
                try connection.copy("COPY nothing TO STDOUT", until: limit)
            }
            #expect(try connection.run(one, until: limit)[0].integer(0) == 1)
        }
    }

    @Test func `an error has its name and its first line, and never values of rows`() async throws {
        try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            let error = #expect(throws: PostgresError.self) {
                try connection.run(
                    script: """
                        CREATE TEMPORARY TABLE secrets (word text PRIMARY KEY);
                        INSERT INTO secrets VALUES ('tr0ub4dor'), ('tr0ub4dor')
                        """, until: limit)
            }
            #expect(error?.state == "23505")
            #expect(error?.code == .refused)
            #expect(error.map { String(describing: $0).contains("tr0ub4dor") } == false)
            #expect(error?.message.contains("duplicate key") == true)
            let many = #expect(throws: PostgresError.self) {
                try connection.run(
                    script: "DO $$ BEGIN RAISE EXCEPTION E'first\\nsecond'; END $$", until: limit)
            }
            #expect(many?.message == "first")
        }
    }

    @Test func `a late answer closes the connection`() async throws {
        try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            let error = #expect(throws: PostgresError.self) {
                try connection.run(script: "SELECT pg_sleep(60)", until: .now + .milliseconds(50))
            }
            #expect(error?.code == .late)
            #expect(!connection.isOpen)
            #expect(throws: PostgresError.self) { try connection.run(one, until: limit) }
        }
    }

    @Test func `a connection that the server ends is lost`() async throws {
        try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            let error = #expect(throws: PostgresError.self) {
                try connection.run(
                    script: "SELECT pg_terminate_backend(pg_backend_pid())", until: limit)
            }
            #expect(error?.code == .unreachable)
            #expect(error?.state == "57P01")
            #expect(!connection.isOpen)
        }
    }

    @Test func `nobody at a port is unreachable, and silence there is late`() async throws {
        try await onThread {
            let port = try PostgresServer.freePort()
            let nobody = try ServerDescription("host=127.0.0.1 port=\(port)")
            let error = #expect(throws: PostgresError.self) {
                try PostgresConnection(to: nobody.places()[0], of: nobody, until: limit)
            }
            #expect(error?.code == .unreachable)

            let silence = try SilentServer()
            let silent = try ServerDescription("host=127.0.0.1 port=\(silence.port)")
            let late = #expect(throws: PostgresError.self) {
                try PostgresConnection(
                    to: silent.places()[0], of: silent, until: .now + .milliseconds(50))
            }
            #expect(late?.code == .late)
        }
    }

    @Test func `warnings are kept until they are looked at, and information is not`() async throws {
        let warnings = try await onThread {
            let connection = try PostgresServer.shared.get().connection(as: "postgres")
            try connection.run(
                script: "DO $$ BEGIN RAISE NOTICE 'hello'; RAISE WARNING 'beware'; END $$",
                until: limit)
            return [connection.takeWarnings(), connection.takeWarnings()]
        }

        #expect(warnings == [["beware"], []])
    }

    @Test func `notifications end a wait, and so does a call`() async throws {
        let (payloads, afterCall) = try await onThread {
            let server = try PostgresServer.shared.get()
            let listener = try server.connection(as: "postgres")
            try listener.run(script: "LISTEN connection_tests", until: limit)
            try server.administer("NOTIFY connection_tests, 'one'")
            let wake = try #require(Wake())
            let payloads = try listener.waitForNotifications(orFor: wake, until: limit)
            wake.call()
            return (payloads, try listener.waitForNotifications(orFor: wake, until: limit))
        }

        #expect(payloads == ["one"])
        #expect(afterCall == [])
    }

    private let one = PostgresStatement("one", "SELECT 1")
}

/// Far enough for what has to come.
var limit: ContinuousClock.Instant { .now + .seconds(30) }

/// Takes connections and never says anything.
final class SilentServer: Sendable {
    let port: Int
    private let listening: Int32

    init() throws {
        (listening, port) = try listeningSocket()
    }

    deinit { close(listening) }
}
