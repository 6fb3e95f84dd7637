package import DaybookPQ
package import Foundation

/// What a node says about the shared store that it is linked to, and how long it waits.
package struct PostgresTerms: Sendable {
    /// Whether others have to confirm what a server writes.
    package enum Protection: Sendable {
        /// A server without standbys that confirm is refused.
        case required
        /// One is accepted: what it alone has is lost with it.
        case waived
    }

    /// The servers.
    package let servers: ServerDescription
    /// The name of the store on them.
    package let store: String
    /// Which node this is: the same each time that its file is opened.
    package let node: UUID
    /// The name of the program, for those who look at the server.
    package let program: String
    /// Whether others have to confirm.
    package let protection: Protection
    /// How long it waits.
    package let limits: Limits
    /// The time of this machine, in microseconds since 1970.
    package let clock: @Sendable () -> Int64

    /// How long to wait for a server.
    package struct Limits: Sendable {
        /// For a connection to one host, and for the first write there.
        package var connecting = Duration.seconds(2)
        /// For an answer. A long entry may take longer, by its length.
        package var answering = Duration.seconds(10)
        /// For the answer to an append, before another server is looked for: the one that was asked may have been
        /// replaced. Each time in a row that it is too short it doubles, up to ``answering``.
        package var appending = Duration.milliseconds(750)
        /// Between looks whether there is news that nobody has announced.
        package var looking = Duration.seconds(5)

        /// The usual ones.
        package init() {}
    }

    /// Terms with all that a node says.
    ///
    /// - Parameters:
    ///   - servers: The servers.
    ///   - store: The name of the store.
    ///   - node: Which node this is.
    ///   - program: The name of the program.
    ///   - protection: Whether others have to confirm.
    ///   - limits: How long to wait.
    ///   - clock: The time, in microseconds since 1970.
    package init(
        servers: ServerDescription, store: String, node: UUID, program: String,
        protection: Protection = .required, limits: Limits = Limits(),
        clock: @escaping @Sendable () -> Int64
    ) {
        self.servers = servers
        self.store = store
        self.node = node
        self.program = program
        self.protection = protection
        self.limits = limits
        self.clock = clock
    }
}
