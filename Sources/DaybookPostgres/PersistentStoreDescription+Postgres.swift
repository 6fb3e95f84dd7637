public import DaybookObjectGraph
import DaybookSnapshotStore
public import Foundation

/// Whether the servers of a shared store must keep every entry in more than one place.
public enum SharedStoreProtection: Sendable, Hashable {
    /// A server without standbys that confirm is refused, with ``StoreError/Code/unprotected``.
    case required
    /// One is accepted: what it alone has is lost with it.
    case waived
}

extension PersistentStoreDescription {
    /// Describes a store that programs on several machines share through PostgreSQL.
    ///
    /// Each machine has a file with a copy of all of it, and reads only there. A save returns once the servers have
    /// its entry in as many places as they are set up for. What others save is brought into the copy, and announced
    /// like what another process saves. The first program that opens a shared store without entries sets its model.
    ///
    /// ```swift
    /// let shared = PersistentStoreDescription(postgres: "service=ledger", store: "iso", cache: url)
    /// ```
    ///
    /// - Parameters:
    ///   - servers: The servers, in libpq's words. Passwords may not stand there: libpq reads them from the file in
    ///     `PGPASSFILE`. The copy keeps the name of a service, and never a host.
    ///   - store: The name of the store on the servers.
    ///   - url: The file with the copy. It is made when there is none, and can be deleted at any time when no
    ///     save is in doubt.
    ///   - configuration: The configuration of the model whose entities the store holds; nil for all.
    ///   - protection: Whether the servers must keep every entry in more than one place.
    public init(
        postgres servers: String, store: String, cache url: URL, configuration: String? = nil,
        protection: SharedStoreProtection = .required
    ) {
        self.init(url: url, configuration: configuration)
        sharing = StoreSharing(Self.link(servers, store, protection))
        remoteChanges = .immediate
    }

    private static func link(
        _ servers: String, _ store: String, _ protection: SharedStoreProtection
    ) -> SharedLink {
        do {
            return try SharedPlace(
                servers: servers, store: store,
                protection: protection == .required ? .required : .waived
            ).link()
        } catch {
            // Opening the store says so.
            return SharedLink(
                to: "", identify: { throw error }, connect: { _, _ in throw error })
        }
    }
}
