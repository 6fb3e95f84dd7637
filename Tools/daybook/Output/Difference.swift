import JournalLog
import ObjectModel
import SnapshotStore

/// What two states of a store differ in.
enum Difference {
    /// The net change of each object on the way from one state to another, sorted by object.
    ///
    /// The entries between the two are added up: insert and delete come to nothing, A to B and back
    /// to nothing either. What remains is what differs.
    static func changes(
        from older: SequenceNumber, to newer: SequenceNumber, in store: Store,
        where isWanted: (ObjectID) -> Bool
    ) throws -> [Change] {
        let first = min(older, newer).next
        let last = max(older, newer)
        guard first <= last else { return [] }
        var sum = ChangeSet()
        try store.entries(from: first, through: last) { entry in
            for var change in entry.changes where isWanted(change.object) {
                guard let entity = store.schema.entity(change.object.entity) else { continue }
                // Why something happened is told by the log; here only states are compared.
                change.cause = nil
                try sum.append(change, of: entity)
            }
            return .proceed
        }
        let net = sum.ordered.map { older <= newer ? $0 : $0.inverse }
        return net.sorted { $0.object < $1.object }
    }

    /// Prints how many objects of each entity were inserted, updated and deleted.
    static func printCounts(
        of changes: [Change], in schema: Schema, on console: Console
    ) throws {
        var counts: [EntityNumber: [Int]] = [:]
        for change in changes {
            counts[change.object.entity, default: [0, 0, 0]][change.kind.column] += 1
        }
        let rows = counts.sorted { $0.key < $1.key }.map { number, counts in
            (name: schema.entity(number)?.name ?? "?\(number.rawValue)", counts: counts)
        }
        guard console.format == .text else { return try print(rows, on: console) }
        var table = TextTable([
            .init("entity"), .init("inserted", .trailing), .init("updated", .trailing),
            .init("deleted", .trailing),
        ])
        for row in rows {
            table.append([TextTable.Cell(row.name)] + row.counts.map { .init(String($0)) })
        }
        if !table.isEmpty { try console.print(table) }
    }

    private static func print(_ rows: [(name: String, counts: [Int])], on console: Console) throws {
        var listing = Listing(console)
        for row in rows {
            let counts = row.counts.map { JSONText.integer(Int64($0)) }
            try listing.append(
                [
                    "entity": .string(row.name), "inserted": counts[0], "updated": counts[1],
                    "deleted": counts[2],
                ]
            ) {}
        }
        try listing.close()
    }
}

extension Change.Kind {
    fileprivate var column: Int {
        switch self {
        case .insert: 0
        case .update: 1
        case .delete: 2
        }
    }
}
