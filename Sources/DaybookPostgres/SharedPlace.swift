package import DaybookPQ
package import DaybookSnapshotStore
internal import Foundation

/// A shared store on PostgreSQL's servers, as people write it: `postgresql:service=ledger?store=iso`.
package struct SharedPlace: Sendable, Hashable {
    /// The servers.
    package let servers: ServerDescription
    /// The name of the store on them.
    package let store: String
    /// Whether others have to confirm what a server writes.
    package let protection: PostgresTerms.Protection

    /// The place of a store.
    ///
    /// - Parameters:
    ///   - servers: The servers, in libpq's words.
    ///   - store: The name of the store.
    ///   - protection: Whether others have to confirm what a server writes.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/refused`` when they cannot be read.
    package init(
        servers: String, store: String, protection: PostgresTerms.Protection = .required
    ) throws(SharedJournalError) {
        do {
            self.servers = try ServerDescription(servers)
        } catch {
            throw SharedJournalError(error)
        }
        guard !store.isEmpty, !store.contains(where: { "&?".contains($0) }) else {
            // What stands there may be more of the description, and so a password.
            throw SharedJournalError(
                .refused,
                "The name of a shared store is not empty and has no '&' and '?'. What else is said of the "
                    + "servers stands before '?store=', as in 'postgresql:service=ledger?store=iso'."
            )
        }
        self.store = store
        self.protection = protection
    }

    /// Reads a place.
    ///
    /// - Parameter text: `postgresql:SERVERS?store=NAME`, SERVERS in libpq's words without the scheme; with
    ///   `&unprotected=allowed` at its end where no other server has to confirm.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/refused``. The message repeats nothing of the
    ///   text, in which a password may stand.
    package init(parsing text: String) throws(SharedJournalError) {
        guard text.hasPrefix(Self.scheme), let mark = text.range(of: Self.mark, options: .backwards)
        else {
            throw SharedJournalError(
                .refused,
                "The place of a shared store is written as 'postgresql:SERVERS?store=NAME', such as "
                    + "'postgresql:service=ledger?store=iso'.")
        }
        let start = text.index(text.startIndex, offsetBy: Self.scheme.count)
        let servers = String(text[start..<mark.lowerBound])
        var store = String(text[mark.upperBound...])
        let isWaived = store.hasSuffix(Self.waiver)
        if isWaived { store.removeLast(Self.waiver.count) }
        try self.init(
            // A place with two slashes is one of libpq's own.
            servers: servers.hasPrefix("//") ? Self.scheme + servers : servers, store: store,
            protection: isWaived ? .waived : .required)
    }

    /// What a file keeps: the service, but never a host.
    package var text: String {
        let service = servers.service.map { "service=\($0)" } ?? ""
        let waiver = protection == .waived ? Self.waiver : ""
        return "\(Self.scheme)\(service)\(Self.mark)\(store)\(waiver)"
    }

    private static let scheme = "postgresql:"
    private static let mark = "?store="
    private static let waiver = "&unprotected=allowed"

    /// How a node reaches its journal there.
    ///
    /// - Parameter limits: How long to wait for servers.
    /// - Returns: A link for ``StoreOptions/link``.
    package func link(limits: PostgresTerms.Limits = PostgresTerms.Limits()) -> SharedLink {
        SharedLink(
            to: text,
            identify: { try PostgresJournal.identity(terms(Self.nobody, limits)) },
            connect: { link, identity in PostgresJournal(terms(link.node, limits), identity) })
    }

    /// What a node says there.
    func terms(_ node: UUID, _ limits: PostgresTerms.Limits) -> PostgresTerms {
        PostgresTerms(
            servers: servers, store: store, node: node,
            program: ProcessInfo.processInfo.processName, protection: protection,
            limits: limits, clock: StoreOptions.systemClock)
    }

    /// The node of those who only ask which store it is.
    static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
