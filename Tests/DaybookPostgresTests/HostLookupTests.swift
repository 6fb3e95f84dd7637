import DaybookPQ
import DaybookTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// Names of servers, and name servers that do not answer.
@Suite struct HostLookupTests {
    @Test func `nobody waits for a name beyond the deadline`() async throws {
        let (errors, count) = try await onThread {
            let end = DispatchSemaphore(value: 0)
            let lookups = Atomic(0)
            let lookup = HostLookup { _ in
                lookups.add(1, ordering: .relaxed)
                end.wait()
                return .success(["127.0.0.1"])
            }
            defer { end.signal() }
            let servers = try ServerDescription("host=slow.example port=1")
            let place = try servers.places()[0]
            let errors = (0..<2).map { _ in
                #expect(throws: PostgresError.self) {
                    try PostgresConnection(
                        to: place, of: servers, until: .now + .milliseconds(50), lookup: lookup)
                }
            }
            return (errors, lookups.load(ordering: .relaxed))
        }

        #expect(errors.map { $0?.code } == [.late, .late])
        #expect(errors.allSatisfy { $0?.message.contains("slow.example") == true })
        // Who asks again waits for the same answer.
        #expect(count == 1)
    }

    @Test func `a name is reached at the addresses that it has, one after the other`() async throws
    {
        let row = try await onThread {
            let server = try PostgresServer.shared.get()
            let servers = try ServerDescription(
                "host=books.example port=\(server.port) user=postgres dbname=postgres sslmode=disable"
            )
            // Nobody listens at the first one.
            let lookup = HostLookup { _ in .success(["127.0.0.9", "127.0.0.1"]) }
            let connection = try PostgresConnection(
                to: servers.places()[0], of: servers, until: limit, lookup: lookup)
            return try connection.run(PostgresStatement("one", "SELECT 1"), until: limit)[0]
        }

        #expect(try row.integer(0) == 1)
    }

    @Test func `the system knows localhost, and not what is no name`() async throws {
        let (row, error) = try await onThread {
            let server = try PostgresServer.shared.get()
            let local = try ServerDescription(
                "host=localhost port=\(server.port) user=postgres dbname=postgres")
            let connection = try PostgresConnection(
                to: local.places()[0], of: local, until: limit)
            let unknown = try ServerDescription("host=not_a_name.invalid port=1")
            let error = #expect(throws: PostgresError.self) {
                try PostgresConnection(to: unknown.places()[0], of: unknown, until: limit)
            }
            return (
                try connection.run(PostgresStatement("one", "SELECT 1"), until: limit)[0], error
            )
        }

        #expect(try row.integer(0) == 1)
        #expect(error?.code == .unreachable || error?.code == .late)
        #expect(error?.message.contains("not_a_name.invalid") == true)
    }
}
