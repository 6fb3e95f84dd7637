import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// `daybook projections STORE`: what programs have folded out of the journal.
struct ProjectionsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read, or to change.")
    private let name = OptionalPositional(
        "NAME", .cursor, "The projection whose keys and values to print; lists all by default.")
    private let limit = Option(
        "--limit", short: "-n", "N", .count, "Print at most so many keys.")
    private let isDeleted = Flag(
        "--delete", short: "-d",
        "Remove the projection; a program that still folds it begins again.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "projections", in: .read,
            summary: "List or print what programs have folded out of the journal.",
            discussion: """
                A projection is what a program's own fold makes of the entries: keys and values
                that the program keeps in the store, with how far it has come. The command
                reads them without the program, and cannot fold. They are derived from the
                journal and are no part of it, so removing one appends no entry.
                """,
            arguments: [store, name, limit, isDeleted],
            examples: [
                .init("daybook projections shop.daybook", "All projections, and how far they are"),
                .init("daybook projections shop.daybook balances", "The keys and values of one"),
                .init("daybook projections shop.daybook balances --delete", "Remove one"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such projection."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if arguments[isDeleted] {
            try delete(arguments, console)
            return .success
        }
        let store = try StoreReading.open(arguments[store])
        if let name = arguments[name] {
            try show(name, atMost: arguments[limit], of: store, console)
        } else {
            guard arguments[limit] == nil else {
                throw ToolError.usage("'--limit' needs the name of a projection.")
            }
            try list(store, console)
        }
        return .success
    }

    private func delete(_ arguments: ParsedArguments, _ console: Console) throws {
        guard let name = arguments[name] else {
            throw ToolError.usage("'--delete' needs the name of a projection.")
        }
        guard arguments[limit] == nil else {
            throw ToolError.usage("A projection is either printed or deleted.")
        }
        let store = try StoreWriting.open(arguments[store], console)
        // Of one whose deletion was cut off.
        try store.removeDiscardedStates()
        let kept = try projection(named: name, of: store)
        let document = try json(of: kept, in: store)
        try store.removeState(named: name)
        guard console.format == .text else { return try console.print(document) }
        try console.print("The projection '\(DisplayText.escaped(name))' is deleted.")
    }

    // MARK: - The list

    private func list(_ store: Store, _ console: Console) throws {
        var listing = Listing(console)
        var table = TextTable([
            .init("projection"), .init("version", .trailing), .init("entry", .trailing),
            .init("behind", .trailing), .init("keys", .trailing), .init("bytes", .trailing),
            .init("state"),
        ])
        for kept in try store.states() {
            let current = kept.current
            let behind = try lag(of: current, in: store)
            try listing.append(try json(of: kept, in: store)) {
                table.append([
                    .init(kept.name, .name), .init(String(current.version)),
                    .init(String(current.place.sequence.rawValue)), .init(String(behind)),
                    .init(String(current.keyCount)), .init(String(current.byteCount)),
                    kept.successor.map {
                        .init("version \($0.version) is being built, at entry \($0.place.sequence)")
                    } ?? "",
                ])
            }
        }
        try listing.close()
        guard console.format == .text else { return }
        if table.isEmpty {
            try console.remark("There are no projections.")
        } else {
            try console.print(table)
        }
    }

    private func json(of kept: FoldedState, in store: Store) throws -> JSONText {
        .object(
            [.init("name", .string(kept.name))] + (try members(of: kept.current, in: store)) + [
                .init(
                    "successor",
                    try kept.successor.map { .object(try members(of: $0, in: store)) } ?? .null)
            ])
    }

    private func members(
        of state: StateGeneration, in store: Store
    ) throws -> [JSONText.Member] {
        [
            .init("version", .integer(Int64(state.version))),
            .init("sequence", .unsigned(state.place.sequence.rawValue)),
            .init("digest", .string(state.place.digest.hexadecimal)),
            .init("behind", .unsigned(try lag(of: state, in: store))),
            .init("keyForm", .string(state.form.description)),
            .init("keys", .integer(Int64(state.keyCount))),
            .init("bytes", .integer(Int64(state.byteCount))),
        ]
    }

    /// The number of entries that have not been folded yet.
    private func lag(of state: StateGeneration, in store: Store) throws -> UInt64 {
        let (head, reached) = (try store.head(), state.place.sequence)
        return head > reached ? head.rawValue - reached.rawValue : 0
    }

    private func projection(named name: String, of store: Store) throws -> FoldedState {
        let projections = try store.states()
        if let found = projections.first(where: { $0.name == name }) { return found }
        let clause = Suggestion.clause(for: name, among: projections.map(\.name))
        throw ToolError.usage("There is no projection '\(name)'\(clause)")
    }

    // MARK: - One of them

    private func show(
        _ name: String, atMost limit: Int?, of store: Store, _ console: Console
    ) throws {
        let kept = try projection(named: name, of: store)
        var printing = StatePrinting(kept.current, in: store, console)
        var last = kept.current
        var next: [UInt8]? = []
        while let start = next {
            // A page at a time, so that a stopped reader does not make the file grow.
            let page = try store.readState(of: name) { reader in
                guard let state = reader.generation else {
                    throw ToolError.usage("The projection '\(name)' was removed meanwhile.")
                }
                last = state
                return try printing.page(of: reader, from: start, atMost: limit)
            }
            next = page.next
            for record in page.records { try printing.print(record) }
        }
        try printing.close()
        if last != kept.current {
            try console.warn(
                "The projection moved from entry \(kept.current.place.sequence) to entry "
                    + "\(last.place.sequence) while it was printed.")
        }
    }
}

/// Prints the keys and values of a state, a page after the other.
private struct StatePrinting {
    typealias Record = (key: [UInt8], value: Data)

    private let state: StateGeneration
    private let store: Store
    private let console: Console
    private var listing: Listing

    init(_ state: StateGeneration, in store: Store, _ console: Console) {
        self.state = state
        self.store = store
        self.console = console
        listing = Listing(console)
    }

    /// The records from a key on, and the key to go on with; nil at the end.
    func page(
        of reader: borrowing StateReader, from start: [UInt8], atMost limit: Int?
    ) throws -> (records: [Record], next: [UInt8]?) {
        let rest = limit.map { $0 - listing.count } ?? .max
        var records: [Record] = []
        var next: [UInt8]?
        var bytes = 0
        guard rest > 0 else { return (records, next) }
        try reader.walk(from: start, to: nil) { key, value in
            if records.count == Self.recordsTogether || bytes >= Self.bytesTogether {
                next = key
                return .stop
            }
            records.append((key, value))
            bytes += value.count
            return records.count == rest ? .stop : .proceed
        }
        return (records, next)
    }

    mutating func print(_ record: Record) throws {
        let key = state.form.text(of: record.key, in: store.schema)
        let value = try Self.value(of: record.value)
        let console = console
        try listing.append(["key": .string(key), "value": .number(value)]) {
            try console.print("\(console.palette(DisplayText.escaped(key), .name))  \(value)")
        }
    }

    func close() throws {
        try listing.close()
        guard console.format == .text, listing.count == 0 else { return }
        try console.remark("There are no keys.")
    }

    /// JSON with hidden characters written out.
    private static func value(of bytes: Data) throws -> String {
        do {
            return try JSONValue(parsing: Array(bytes)).text
        } catch {
            throw StoreError(.corrupt, "A value of the projection is no JSON: \(error)")
        }
    }

    private static let recordsTogether = 1024
    private static let bytesTogether = 1 << 20
}
