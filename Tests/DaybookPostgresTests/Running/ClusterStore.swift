import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization

/// A store on the cluster of the tests, all of whose servers run and follow the leader to begin with.
final class ClusterStore: Sendable {
    let cluster: PostgresCluster
    private let name: String
    private let identity = StoreIdentity(uuid: UUID(), createdAt: 1_700_000_000_000_000)

    private static let made = Atomic(0)

    init() throws {
        cluster = try PostgresCluster.shared.get()
        try cluster.mend()
        name = "store\(Self.made.wrappingAdd(1, ordering: .relaxed).newValue)"
        let owner = try ServerDescription(
            cluster.description(of: [try cluster.leader], as: "ledger_owner"))
        try PostgresSchema.addStore(
            name, identity, numbers: 1, roles: ("ledger_readers", "ledger_writers"),
            on: PostgresConnection(to: owner.places()[0], of: owner, until: limit), until: limit)
    }

    /// The journal of a node of its own.
    ///
    /// - Parameters:
    ///   - servers: The servers it knows, in the order in which it tries them; nil for all.
    ///   - limits: How long it waits.
    ///   - protection: Whether others have to confirm.
    /// - Returns: The journal, which is not connected yet.
    /// - Throws: When libpq cannot read the description.
    func journal(
        _ servers: [Int]? = nil, limits: PostgresTerms.Limits = .patient,
        protection: PostgresTerms.Protection = .required
    ) throws -> PostgresJournal {
        let description = cluster.description(of: servers ?? [0, 1, 2], as: "ledger")
        return PostgresJournal(
            PostgresTerms(
                servers: try ServerDescription(description), store: name, node: UUID(),
                program: "tests", protection: protection, limits: limits, clock: microseconds),
            identity)
    }

    /// How a program reaches the store.
    func link(limits: PostgresTerms.Limits = .short) throws -> SharedLink {
        let servers = try ServerDescription(cluster.description(of: [0, 1, 2], as: "ledger"))
        let (identity, name) = (identity, name)
        return SharedLink(
            to: "tests:\(name)", identify: { identity },
            connect: { file, identity in
                PostgresJournal(
                    PostgresTerms(
                        servers: servers, store: name, node: file.node, program: "tests",
                        protection: .required, limits: limits, clock: microseconds), identity)
            })
    }

    /// How many entries a server shows to whoever asks it.
    func entries(on server: Int) throws -> Int? {
        Int(
            try cluster.administer(
                server,
                """
                SELECT count(*) FROM daybook.entry JOIN daybook.store USING (store)
                WHERE name = '\(name)'
                """))
    }

    /// When its writers have connected last, the earliest first.
    func connections(on server: Int) throws -> [String] {
        try cluster.administer(
            server,
            """
            SELECT connected FROM daybook.writer JOIN daybook.store USING (store)
            WHERE name = '\(name)' ORDER BY connected
            """
        ).split(separator: "\n").map(String.init)
    }
}

extension PostgresTerms.Limits {
    /// For servers of which it is known that they will not answer.
    static var short: Self {
        var limits = Self()
        limits.connecting = .seconds(2)
        limits.answering = .seconds(2)
        return limits
    }
}
