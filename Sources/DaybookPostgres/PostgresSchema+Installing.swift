package import DaybookPQ
package import DaybookSnapshotStore

extension PostgresSchema {
    /// Runs the SQL on the server that leads.
    ///
    /// The servers are tried in order. One that cannot be reached, that follows another one, or whose standbys
    /// do not confirm what it writes is passed over.
    ///
    /// - Parameters:
    ///   - servers: The servers, for the login that is to own the schema.
    ///   - limits: How long to wait for each.
    /// - Returns: Where it was installed.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/description``; with
    ///   ``PostgresError/Code/refused`` when the server that leads does not do it, such as for a schema of that
    ///   name; with ``PostgresError/Code/unreachable`` when none leads; with ``PostgresError/Code/late`` when
    ///   one of them has not answered in time; the message says if it may have the schema.
    @discardableResult
    package static func install(
        on servers: ServerDescription, limits: PostgresTerms.Limits = PostgresTerms.Limits()
    ) throws(PostgresError) -> ServerPlace {
        try onLeader(of: servers, limits) { connection, deadline throws(PostgresError) in
            try install(on: connection, until: deadline)
        }
    }

    /// Makes a store without entries, on the server that leads; see ``install(on:limits:)``.
    ///
    /// - Parameters:
    ///   - name: Its name, alone on the servers.
    ///   - identity: Which store it is.
    ///   - numbers: The least object number that has not been given yet.
    ///   - roles: The roles whose members may read, and may read and write.
    ///   - servers: The servers, for the login that owns the schema.
    ///   - limits: How long to wait for each.
    /// - Returns: Where it was made.
    /// - Throws: As there; also when there is a store of that name or identity, or a role is missing.
    @discardableResult
    package static func addStore(
        _ name: String, _ identity: StoreIdentity, numbers: UInt64,
        roles: (reader: String, writer: String), on servers: ServerDescription,
        limits: PostgresTerms.Limits = PostgresTerms.Limits()
    ) throws(PostgresError) -> ServerPlace {
        try onLeader(of: servers, limits) { connection, deadline throws(PostgresError) in
            try addStore(
                name, identity, numbers: numbers, roles: roles, on: connection, until: deadline)
        }
    }

    private typealias Deed =
        (PostgresConnection, ContinuousClock.Instant) throws(PostgresError) -> Void

    private static func onLeader(
        of servers: ServerDescription, _ limits: PostgresTerms.Limits, _ deed: Deed
    ) throws(PostgresError) -> ServerPlace {
        var reason: PostgresError?
        for place in try servers.places() {
            do {
                let connection = try PostgresConnection(
                    to: place, of: servers, until: .now + limits.connecting)
                try carryOut(deed, confirmedOn: connection, until: .now + limits.answering)
                return place
            } catch {
                let error = error.at(place)
                // The server that leads has decided.
                if error.code == .refused && !error.isOfStandby { throw error }
                if error.weight > reason?.weight ?? -1 { reason = error }
            }
        }
        guard let reason, !reason.isOfStandby else {
            throw PostgresError(
                .unreachable, state: reason?.state, reason?.message ?? "No server is known.")
        }
        throw reason
    }

    private static func carryOut(
        _ deed: Deed, confirmedOn connection: PostgresConnection,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        // What a login has set for itself must not keep the standbys from being waited for.
        try connection.run(
            script: "SET synchronous_commit = on; SET client_min_messages = 'warning'",
            until: deadline)
        do {
            try deed(connection, deadline)
        } catch {
            guard error.code != .refused else { throw error }
            throw PostgresError(
                .late, state: error.state, "It is not known whether it was done: \(error.message)")
        }
        guard connection.takeWarnings().isEmpty else {
            throw PostgresError(.late, "The standbys do not confirm that it was done.")
        }
    }
}

extension PostgresError {
    /// Whether a standby refused to write.
    var isOfStandby: Bool { state == "25006" }

    /// How much it tells about why no server was found: a refusal more than silence, that more than a server
    /// that cannot be reached, and that more than a standby, which refuses every write.
    var weight: Int {
        if isOfStandby { return 0 }
        return switch code {
        case .unreachable: 1
        case .late: 2
        case .description, .refused, .unexpected: 3
        }
    }

    /// The same, with the server.
    fileprivate func at(_ place: ServerPlace) -> PostgresError {
        PostgresError(code, state: state, "\(place): \(message)")
    }
}
