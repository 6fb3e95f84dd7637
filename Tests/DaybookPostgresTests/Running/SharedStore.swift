import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization

/// A store on the server of the tests, with roles and logins of its own.
final class SharedStore: SharedJournalPlace {
    let server: PostgresServer
    let name: String
    let identity = StoreIdentity(uuid: UUID(), createdAt: 1_700_000_000_000_000)

    /// Its writer's.
    var login: String { name }

    private static let made = Atomic(0)

    /// Makes a store without entries, a writer of it called like it, and a reader called like it with `_reader`.
    init(numbers: UInt64 = 1, on server: PostgresServer? = nil) throws {
        self.server = try server ?? PostgresServer.shared.get()
        let number = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
        name = "store\(number)"
        try self.server.administer(
            """
            CREATE ROLE \(name)_readers; CREATE ROLE \(name)_writers;
            CREATE ROLE \(name) LOGIN IN ROLE \(name)_writers;
            CREATE ROLE \(name)_reader LOGIN IN ROLE \(name)_readers
            """)
        try PostgresSchema.addStore(
            name, identity, numbers: numbers, roles: ("\(name)_readers", "\(name)_writers"),
            on: self.server.connection(as: "postgres"), until: .now + .seconds(20))
    }

    /// The terms of a node of it.
    func terms(
        as login: String? = nil, protection: PostgresTerms.Protection = .waived,
        limits: PostgresTerms.Limits = .patient, node: UUID = UUID()
    ) throws -> PostgresTerms {
        PostgresTerms(
            servers: try server.description(as: login ?? name), store: name, node: node,
            program: "tests", protection: protection, limits: limits, clock: microseconds)
    }

    /// A journal of a node of its own.
    func journal() throws -> PostgresJournal {
        PostgresJournal(try terms(), identity)
    }

    /// One number that a query answers the owner.
    func number(_ query: String) throws -> Int64 {
        let connection = try server.connection(as: "postgres")
        let rows = try connection.run(
            PostgresStatement("question", query), until: .now + .seconds(20))
        return try rows[0].integer(0)
    }

    /// Its number on the server.
    var number: Int64 {
        get throws { try number("SELECT store FROM daybook.store WHERE name = '\(name)'") }
    }
}

/// The time of this machine, in microseconds since 1970.
@Sendable func microseconds() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1_000_000)
}

/// A group of entries with these payloads.
func group(
    after head: SharedHead, at time: Int64 = microseconds(), token: Int64 = .random(in: 1 ... .max),
    _ payloads: [UInt8]...
) -> SharedGroup {
    SharedGroup(after: head, at: time, token: token, payloads: payloads)
}
