internal import DaybookPQ
internal import DaybookSnapshotStore

/// An examination of all servers of a shared store.
package struct PostgresExamination {
    let terms: PostgresTerms
    /// What was found so far.
    package private(set) var findings: [PostgresFinding] = []
    /// Whether a server was found whose writes are confirmed.
    package private(set) var isReached = false

    /// Looks at each server, and at what the one that leads has.
    ///
    /// - Parameters:
    ///   - place: The shared store.
    ///   - limits: How long to wait for each answer.
    package init(of place: SharedPlace, limits: PostgresTerms.Limits = PostgresTerms.Limits()) {
        terms = place.terms(SharedPlace.nobody, limits)
        let places: [ServerPlace]
        do {
            places = try terms.servers.places()
        } catch {
            add(.servers, .fault, error.message)
            return
        }
        var leaders: [(place: ServerPlace, connection: PostgresConnection)] = []
        for place in places {
            do {
                let connection = try PostgresConnection(
                    to: place, of: terms.servers, until: .now + limits.connecting)
                if try lookAt(connection) { leaders.append((place, connection)) }
            } catch {
                add(.servers, .remark, "\(place) was not reached: \(error.message)")
            }
        }
        if leaders.isEmpty {
            add(.servers, .fault, "No server was found that leads: nothing can be saved.")
        }
        if leaders.count > 1 {
            let names = leaders.map { "\($0.place)" }.joined(separator: " and ")
            add(
                .servers, .fault,
                "\(names) each believe that they lead. End the one that was replaced before it is used."
            )
        }
        for leader in leaders { examine(leader.connection) }
        confirm()
    }

    mutating func add(
        _ subject: PostgresFinding.Subject, _ weight: PostgresFinding.Weight, _ text: String
    ) {
        findings.append(PostgresFinding(subject, weight, text))
    }

    /// Asks a server about itself.
    ///
    /// - Returns: Whether it leads.
    private mutating func lookAt(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        let place = connection.place
        let asked = ContinuousClock.now
        let rows = try connection.run(Self.server, until: deadline)
        guard let row = rows.first else { throw PostgresError(.unexpected, "It says nothing.") }
        let reading = ServerClock.Reading(
            try row.integer(1), askedAt: asked, answeredAt: .now)
        let ahead = reading.map { $0.time(at: .now) - terms.clock() }
        let isLeading = try !row.boolean(0)
        let version = try row.text(2)
        add(
            .servers, .sound,
            "\(place) \(isLeading ? "leads" : "follows"); PostgreSQL \(version).")
        let settings = [try row.text(3), try row.text(4)]
        if settings.contains("off") {
            add(
                .servers, .fault,
                "\(place) does not bring entries to its disk: 'fsync' or 'full_page_writes' is off."
            )
        }
        addClock(of: place, ahead: ahead)
        if try row.boolean(5) {
            add(
                .encryption, .sound, "The connection to \(place) is encrypted (\(try row.text(6)))."
            )
        } else {
            let isLocal = place.mode == "prefer" || place.mode == "disable"
            add(
                .encryption, isLocal ? .remark : .fault,
                "The connection to \(place) is not encrypted.")
        }
        return isLeading
    }

    private mutating func addClock(of place: ServerPlace, ahead: Int64?) {
        let remedy = " Entries have its time; set the clocks."
        guard let ahead else {
            return add(.clock, .fault, "The clock of \(place) is far off.\(remedy)")
        }
        let seconds = Double(ahead) / 1_000_000
        let isOff = abs(seconds) > 10
        add(
            .clock, isOff ? .fault : abs(seconds) > 1 ? .remark : .sound,
            "The clock of \(place) is \(Self.text(seconds)) of this machine's.\(isOff ? remedy : "")"
        )
    }

    private static func text(_ seconds: Double) -> String {
        let size = abs(seconds)
        let amount =
            size < 1 ? "\(Int(size * 1_000)) ms" : "\((size * 10).rounded() / 10) s"
        return "\(amount) \(seconds < 0 ? "behind" : "ahead")"
    }

    /// Looks at what a server has that leads. What cannot be asked is a fault.
    private mutating func examine(_ connection: PostgresConnection) {
        do {
            try lookAtStandbys(connection)
            guard try lookAtSchema(connection) else { return }
            try lookAtRights(connection)
        } catch {
            add(.schema, .fault, "\(connection.place) does not answer: \(error.message)")
        }
    }

    private mutating func lookAtStandbys(
        _ connection: PostgresConnection
    ) throws(PostgresError) {
        let rows = try connection.run(Self.standbys, until: deadline)
        guard let row = rows.first else { return }
        let (names, count) = (try row.text(0), try row.integer(1))
        guard !names.isEmpty else {
            return add(
                .standbys, terms.protection == .waived ? .remark : .fault,
                "No standby has to confirm what \(connection.place) writes: what it alone has is lost with "
                    + "it. Set 'synchronous_standby_names'.")
        }
        add(
            .standbys, count == 0 ? .fault : .sound,
            "'\(names)' has to confirm, and \(count) \(count == 1 ? "standby is" : "standbys are") connected."
        )
    }

    /// Makes a write, as every connection begins with one.
    private mutating func confirm() {
        let start = ContinuousClock.now
        do throws(PostgresError) {
            let server = try ConfirmedServer(terms, ServerClock(own: terms.clock))
            isReached = true
            let milliseconds = (.now - start) / Duration.milliseconds(1)
            add(
                .standbys, .sound,
                "A write to \(server.connection.place) was confirmed, \(Int(milliseconds)) ms after the first try."
            )
        } catch {
            add(.standbys, .fault, "No server has confirmed a write: \(error.message)")
        }
    }

    var deadline: ContinuousClock.Instant { .now + terms.limits.answering }

    private static let server = PostgresStatement(
        "daybook_look_at_server",
        """
        SELECT pg_is_in_recovery(), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
            current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
            coalesce(s.ssl, false), coalesce(s.version, '')
        FROM (SELECT) one LEFT JOIN pg_stat_ssl s ON s.pid = pg_backend_pid()
        """)
    private static let standbys = PostgresStatement(
        "daybook_look_at_standbys",
        """
        SELECT current_setting('synchronous_standby_names'), count(*) FROM pg_stat_replication
        """)
}
