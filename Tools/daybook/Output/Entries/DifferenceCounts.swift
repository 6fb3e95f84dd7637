import DaybookObjectModel

/// The number of differences between two states of a store.
enum DifferenceCounts {
    /// Prints how many objects of each entity were inserted, updated and deleted.
    static func print(
        _ changes: [Change], in schema: Schema, on console: Console
    ) throws {
        var counts: [EntityNumber: [Int]] = [:]
        for change in changes {
            counts[change.object.entity, default: [0, 0, 0]][change.kind.column] += 1
        }
        let rows = counts.sorted { $0.key < $1.key }.map { number, counts in
            (name: schema.entity(number)?.name ?? "?\(number.rawValue)", counts: counts)
        }
        guard console.format == .text else { return try list(rows, on: console) }
        var table = TextTable([
            .init("entity"), .init("inserted", .trailing), .init("updated", .trailing),
            .init("deleted", .trailing),
        ])
        for row in rows {
            table.append([TextTable.Cell(row.name)] + row.counts.map { .init(String($0)) })
        }
        if !table.isEmpty { try console.print(table) }
    }

    private static func list(_ rows: [(name: String, counts: [Int])], on console: Console) throws {
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
