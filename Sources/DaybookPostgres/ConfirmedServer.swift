internal import DaybookPQ
internal import DaybookSnapshotStore
internal import Foundation

/// A connection to a server whose writes are confirmed by others: it began with one.
///
/// A leader that was cut off from its standbys still answers questions, and after a restart shows entries
/// that nobody else has. It cannot complete a write, so it is passed over here.
final class ConfirmedServer {
    /// The connection.
    let connection: PostgresConnection
    /// The store's number on the servers.
    let store: Int32
    /// Which store it is.
    let identity: StoreIdentity
    /// This node's number there.
    let writer: Int32
    /// What follows the clock of the server.
    private let clock: ServerClock

    /// Finds the first server that is confirmed.
    ///
    /// - Parameters:
    ///   - terms: Where to look, and how long at each place.
    ///   - clock: What follows the clock of the server.
    ///   - avoided: Where to look last.
    /// - Throws: The most telling ``PostgresError`` of those that the servers gave.
    init(
        _ terms: PostgresTerms, _ clock: ServerClock, avoiding avoided: ServerPlace? = nil
    ) throws(PostgresError) {
        EndOfProcess.prepare()
        var reason: PostgresError?
        let places = try terms.servers.places()
        for place in places.filter({ $0 != avoided }) + places.filter({ $0 == avoided }) {
            do {
                let limit = terms.limits.connecting
                let connection = try PostgresConnection(
                    to: place, of: terms.servers, until: .now + limit)
                try Self.prepare(connection, terms)
                let found = try Self.find(terms.store, on: connection, until: .now + limit)
                writer = try Self.register(
                    terms, clock, store: found.store, on: connection, until: .now + limit)
                (store, identity) = found
                self.clock = clock
                self.connection = connection
                return
            } catch {
                if error.weight > reason?.weight ?? -1 { reason = error }
            }
        }
        throw reason ?? PostgresError(.unreachable, "No server is known.")
    }

    /// Proves once more that the server is confirmed, and looks at its clock.
    ///
    /// - Parameter terms: The terms of the connection.
    /// - Throws: ``PostgresError``.
    func confirm(_ terms: PostgresTerms) throws(PostgresError) {
        let limit = ContinuousClock.now + terms.limits.connecting
        _ = try Self.register(terms, clock, store: store, on: connection, until: limit)
    }

    /// Sees to it that this login may still use the store: to one that may not, its journal looks empty.
    ///
    /// - Parameter terms: The terms of the connection.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/refused`` when it may not.
    func requireStore(_ terms: PostgresTerms) throws(PostgresError) {
        let limit = ContinuousClock.now + terms.limits.connecting
        _ = try Self.find(terms.store, on: connection, until: limit)
    }

    private static func prepare(
        _ connection: PostgresConnection, _ terms: PostgresTerms
    ) throws(PostgresError) {
        // A node that stands still loses its turn, and the server notices when one has gone. A warning has to
        // come through: it may say that the standbys have not confirmed. How long to wait is this side's to say: a
        // limit that was set for all programs would end every long page and every wait for a turn. The functions are
        // written for backslashes that stand for themselves. Not every version has all of the limits.
        var script = """
            SET client_min_messages = 'warning';
            SET idle_in_transaction_session_timeout = '5s';
            SET client_connection_check_interval = '1s';
            SET default_transaction_isolation = 'read committed';
            SET standard_conforming_strings = on;
            SET row_security = on;
            SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings
            WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_session_timeout', 'transaction_timeout');
            """
        if terms.protection == .waived { script += "SET daybook.unprotected = 'allowed';" }
        try connection.run(script: script, until: .now + terms.limits.connecting)
    }

    private static func find(
        _ name: String, on connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> (store: Int32, identity: StoreIdentity) {
        let rows = try connection.run(findStore, [.text(name)], until: deadline)
        guard let row = rows.first else {
            throw PostgresError(
                .refused,
                "There is no store '\(name)' that this login may use on \(connection.place).")
        }
        guard let uuid = UUID(sixteenBytes: try row.bytes(1)) else {
            throw PostgresError(.unexpected, "The identity of the store '\(name)' cannot be read.")
        }
        return (
            Int32(clamping: try row.integer(0)),
            StoreIdentity(uuid: uuid, createdAt: try row.integer(2))
        )
    }

    /// Makes a write, and follows the server's clock when it is confirmed.
    ///
    /// - Returns: The number of this node.
    private static func register(
        _ terms: PostgresTerms, _ clock: ServerClock, store: Int32,
        on connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Int32 {
        _ = connection.takeWarnings()
        let asked = ContinuousClock.now
        let rows = try connection.run(
            registerNode, [.int4(store), .uuid(terms.node.sixteenBytes), .text(terms.program)],
            until: deadline)
        guard let row = rows.first else {
            throw PostgresError(.unexpected, "The server has not said which writer this node is.")
        }
        guard connection.takeWarnings().isEmpty else {
            connection.close()
            throw PostgresError(.unreachable, "The standbys of \(connection.place) do not confirm.")
        }
        let writer = Int32(clamping: try row.integer(0))
        let time = try row.integer(1)
        guard let reading = ServerClock.Reading(time, askedAt: asked, answeredAt: .now) else {
            throw PostgresError(
                .unexpected, "The clock of the server \(connection.place) is far off.")
        }
        clock.follow(reading)
        return writer
    }

    private static let findStore = PostgresStatement(
        "daybook_find", "SELECT store, uuid, created_at FROM daybook.store WHERE name = $1")
    private static let registerNode = PostgresStatement(
        "daybook_register", "SELECT writer, clock FROM daybook.register($1, $2, $3)")
}
