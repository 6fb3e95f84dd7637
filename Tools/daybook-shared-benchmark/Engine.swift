import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation

/// The peer: a loop over the function of the servers that appends an entry, on a connection of libpq, with entries that
/// were made before. It keeps no file and checks nothing: no node can be faster.
final class Engine {
    private let connection: PostgresConnection
    private let store: Int32
    private let writer: Int32
    private var last = Digest.zero
    private var sequence = SequenceNumber.zero

    /// A connection to a store without entries.
    init(store name: String) throws {
        let servers = try ServerDescription("service=ledger")
        guard let leader = try servers.places().first else { throw NoServer() }
        connection = try PostgresConnection(to: leader, of: servers, until: Self.deadline)
        let stores = try connection.run(
            PostgresStatement("engine_store", "SELECT store FROM daybook.store WHERE name = $1"),
            [.text(name)], until: Self.deadline)
        guard let row = stores.first else { throw NoServer() }
        store = Int32(try row.integer(0))
        let node = withUnsafeBytes(of: UUID().uuid) { Array($0) }
        let writers = try connection.run(
            PostgresStatement(
                "engine_register", "SELECT writer FROM daybook.register($1, $2, 'engine')"),
            [.int4(store), .uuid(node)], until: Self.deadline)
        guard let row = writers.first else { throw NoServer() }
        writer = Int32(try row.integer(0))
    }

    /// Entries of the length that a save of one object has.
    func makeEntries(_ count: Int) -> [JournalEntry] {
        let start = StoreOptions.systemClock()
        return (0..<count).map { number in
            let entry = JournalEntry(
                sequence: sequence.next, recordedAt: start, previous: last,
                payload: Array("\(number)".utf8)
                    + [UInt8](repeating: 7, count: Contact.payloadLength))
            (sequence, last) = (entry.sequence, entry.digest)
            return entry
        }
    }

    /// Appends entries one by one.
    func append(_ entries: [JournalEntry]) throws {
        for entry in entries {
            let rows = try connection.run(
                Self.append,
                [
                    .int4(store), .int8(Int64(entry.sequence.rawValue) - 1),
                    .bytes(entry.previous.bytes), .int4(writer),
                    .int8(Int64(entry.sequence.rawValue)),
                    .int8(entry.recordedAt), .bytes(entry.digest.bytes), .bytes(entry.payload),
                    .int4(0), .boolean(false),
                ], until: Self.deadline)
            guard try rows.first?.integer(0) == -1 else { throw NoServer() }
        }
    }

    private static var deadline: ContinuousClock.Instant { .now + .seconds(30) }
    private static let append = PostgresStatement(
        "engine_append", "SELECT daybook.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
}

/// No server takes entries, or not this one.
struct NoServer: Error, CustomStringConvertible {
    var description: String {
        "The servers do not take entries. Start them with 'Tools/cluster up'."
    }
}

/// A shared store for one measurement, without entries.
struct FreshStore {
    let name: String

    init() throws {
        name = "benchmark-\(UUID().uuidString)"
        let identity = StoreIdentity(uuid: UUID(), createdAt: StoreOptions.systemClock())
        _ = try PostgresSchema.addStore(
            name, identity, numbers: 1, roles: ("ledger_readers", "ledger_writers"),
            on: try ServerDescription("service=ledger-owner"))
    }
}
