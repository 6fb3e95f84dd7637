import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// `daybook stats STORE`: counts and sizes.
struct StatsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "stats", in: .read, summary: "Count entries, objects, bytes and pages.",
            arguments: [store],
            examples: [.init("daybook stats iso.daybook", "Sizes at a glance")],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let statistics = try store.statistics()
        if console.format == .text {
            try print(statistics, of: store, on: console)
        } else {
            try console.print(Self.document(statistics, of: store))
        }
        return .success
    }

    private func print(
        _ statistics: StoreStatistics, of store: Store, on console: Console
    ) throws {
        func line(_ name: String, _ text: String) throws {
            let title = name + String(repeating: " ", count: 12 - name.count)
            try console.print(console.palette(title, .faint) + text)
        }
        try line("store", DisplayText.escaped(store.path))
        try line("identifier", store.uuid.uuidString)
        try line("created", EntryText.time(store.createdAt))
        try line("entries", String(statistics.entries.rawValue))
        try line("digest", statistics.headDigest.hexadecimal)
        let total = statistics.objects.values.reduce(0, +)
        let objects = statistics.objects.sorted { $0.key < $1.key }
        let list = objects.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        try line("objects", total == 0 ? "0" : "\(total): \(list)")
        try line("file", "\(statistics.fileSize) bytes")
        try line(
            "pages",
            "\(statistics.pagesUsed) used, \(statistics.pagesFree) free, "
                + "\(statistics.pageSize) bytes each")
        try line("readers", String(statistics.readers))
        try console.print()
        var table = TextTable([
            .init("table"), .init("records", .trailing), .init("bytes", .trailing),
        ])
        for entry in statistics.tables {
            table.append([
                .init(entry.name), .init(String(entry.records)), .init(String(entry.bytes)),
            ])
        }
        try console.print(table)
    }

    private static func document(_ statistics: StoreStatistics, of store: Store) -> JSONText {
        let objects = statistics.objects.sorted { $0.key < $1.key }
        return [
            "store": .string(store.path),
            "identifier": .string(store.uuid.uuidString),
            "created": .string(DateText.text(microseconds: store.createdAt)),
            "entries": .unsigned(statistics.entries.rawValue),
            "digest": .string(statistics.headDigest.hexadecimal),
            "objects": .object(objects.map { .init($0.key, .integer(Int64($0.value))) }),
            "fileBytes": .integer(Int64(statistics.fileSize)),
            "mapBytes": .integer(Int64(statistics.mapSize)),
            "pageBytes": .integer(Int64(statistics.pageSize)),
            "pagesUsed": .integer(Int64(statistics.pagesUsed)),
            "pagesFree": .integer(Int64(statistics.pagesFree)),
            "readers": .integer(Int64(statistics.readers)),
            "tables": .array(
                statistics.tables.map { table in
                    [
                        "name": .string(table.name), "records": .integer(Int64(table.records)),
                        "bytes": .integer(Int64(table.bytes)),
                    ]
                }),
        ]
    }
}
