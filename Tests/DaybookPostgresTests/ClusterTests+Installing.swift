import DaybookPQ
import DaybookPostgres
import DaybookTestSupport
import Foundation
import Testing

extension ClusterTests {
    @Test func `the schema is installed where its writes are confirmed, and once`() async throws {
        try await onThread {
            let cluster = try PostgresCluster.shared.get()
            try cluster.mend()
            let (old, others) = (try cluster.leader, try cluster.others)
            try cluster.administer(old, "CREATE DATABASE fresh OWNER ledger_owner")
            var longer = PostgresTerms.Limits.short
            longer.answering = .seconds(5)
            func install(
                _ servers: [Int], _ limits: PostgresTerms.Limits = .short
            ) throws(PostgresError) -> ServerPlace {
                let owner = cluster.description(of: servers, as: "ledger_owner", in: "fresh")
                return try PostgresSchema.install(on: ServerDescription(owner), limits: limits)
            }
            for server in others {
                // What a leader has answered for, its standbys may still have to replay.
                let found = "SELECT count(*) FROM pg_database WHERE datname = 'fresh'"
                while try cluster.administer(server, found) != "1" {}
            }
            let counting = "SELECT count(*) FROM pg_namespace WHERE nspname = 'daybook'"

            // A standby refuses every write.
            let following = #expect(throws: PostgresError.self) { try install(others) }
            #expect(following?.code == .unreachable)
            #expect(following?.state == "25006")

            try cluster.run("cut", String(old))
            let alone = #expect(throws: PostgresError.self) { try install([old]) }
            #expect(alone?.code == .late)
            #expect(alone?.message.contains("It is not known whether") == true)
            try cluster.run("failover")
            let leader = try cluster.leader
            let places = try ServerDescription(
                cluster.description(of: [leader], as: "ledger_owner")
            ).places()
            #expect(try install([old] + others, longer) == places[0])
            #expect(try cluster.administer(leader, counting, in: "fresh") == "1")

            let again = #expect(throws: PostgresError.self) { try install([leader], .patient) }
            #expect(again?.code == .refused)
            #expect(again?.state == "42P06")

            // A login that may make no schema there.
            let stranger = cluster.description(of: [leader], as: "ledger", in: "postgres")
            let refused = #expect(throws: PostgresError.self) {
                try PostgresSchema.install(on: ServerDescription(stranger), limits: .patient)
            }
            #expect(refused?.code == .refused)
            #expect(refused?.state == "42501")
        }
    }
}
