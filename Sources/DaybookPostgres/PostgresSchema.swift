// Stores that are shared through PostgreSQL: the tables on its servers, and the journal in them. This module
// knows what is asked of a shared journal, and nothing of the file beside it.

internal import CDaybookPostgresFiles
package import DaybookPQ
package import DaybookSnapshotStore
internal import Foundation

/// The tables and functions that shared stores have on a server.
package enum PostgresSchema {
    /// All of it as SQL. Whoever runs it owns it, and should be a login that no program uses.
    package static let text = String(cString: postgres_schema())

    /// Runs the SQL on a server that does not have the schema.
    ///
    /// - Parameters:
    ///   - connection: A connection of the owner to be.
    ///   - deadline: When to give up.
    /// - Throws: ``PostgresError``; nothing was installed then.
    package static func install(
        on connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        try connection.run(script: "BEGIN;\n\(text)\nCOMMIT;", until: deadline)
    }

    /// Makes a store without entries.
    ///
    /// - Parameters:
    ///   - name: Its name, alone on the server.
    ///   - identity: Which store it is.
    ///   - numbers: The least object number that has not been given yet.
    ///   - roles: The roles whose members may read, and may read and write.
    ///   - connection: A connection of the owner.
    ///   - deadline: When to give up.
    /// - Throws: ``PostgresError``, also when there is a store of that name or identity, or a role is
    ///   missing; nothing was made then, unless the connection was lost.
    package static func addStore(
        _ name: String, _ identity: StoreIdentity, numbers: UInt64,
        roles: (reader: String, writer: String),
        on connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let statement = PostgresStatement(
            "daybook_add_store", "SELECT daybook.add_store($1, $2, $3, $4, $5::text, $6::text)")
        _ = try connection.run(
            statement,
            [
                .text(name), .uuid(identity.uuid.sixteenBytes), .int8(identity.createdAt),
                .int8(Int64(clamping: numbers)), .text(roles.reader), .text(roles.writer),
            ], until: deadline)
    }
}

extension UUID {
    /// The bytes in order.
    var sixteenBytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// The identifier with these bytes; nil when there are not sixteen.
    init?(sixteenBytes bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
