import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook cursors STORE`: the positions of readers.
struct CursorsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read, or to change.")
    private let name = OptionalPositional("NAME", .cursor, "The cursor; all by default.")
    private let position = OptionalPositional(
        "SEQ|TIME", .moment, "Put the cursor after this entry; 0 is before the first.")
    private let isDeleted = Flag("--delete", short: "-d", "Forget the cursor.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "cursors", in: .read, summary: "List the cursors of a store, set one or delete one.",
            discussion: """
                A cursor keeps the position of a reader: 'tail --cursor' and 'export --resume'
                make and move them. They are not part of the journal, so setting one appends no
                entry.
                """,
            arguments: [store, name, position, isDeleted],
            examples: [
                .init("daybook cursors iso.daybook", "The positions of all readers"),
                .init("daybook cursors iso.daybook mailer head", "Skip the existing entries"),
                .init("daybook cursors iso.daybook mailer --delete", "Forget a cursor"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such cursor or entry."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if arguments[isDeleted] || arguments[position] != nil {
            try change(arguments, console)
        } else {
            let store = try StoreReading.open(arguments[store])
            try list(arguments[name], of: store, console)
        }
        return .success
    }

    private func change(_ arguments: ParsedArguments, _ console: Console) throws {
        guard let name = arguments[name] else {
            throw ToolError.usage("'--delete' needs the name of a cursor.")
        }
        guard !arguments[isDeleted] || arguments[position] == nil else {
            throw ToolError.usage("A cursor is either set or deleted.")
        }
        let store = try StoreWriting.open(arguments[store], console)
        guard let moment = arguments[position] else {
            let cursor = try cursor(named: name, of: store)
            let document = try json(of: cursor, in: store)
            try store.setCursor(name, to: nil)
            guard console.format == .text else { return try console.print(document) }
            return try console.print(
                "The cursor '\(DisplayText.escaped(name))', after entry \(cursor.sequence), is "
                    + "deleted.")
        }
        try store.setCursor(name, to: try StoreReading.sequence(of: moment, in: store))
        try list(name, of: store, console)
    }

    private func list(_ name: String?, of store: Store, _ console: Console) throws {
        let cursors = try name.map { [try cursor(named: $0, of: store)] } ?? store.cursors()
        var listing = Listing(console)
        var table = TextTable([
            .init("cursor"), .init("entry", .trailing), .init("behind", .trailing), .init("state"),
        ])
        for cursor in cursors {
            let behind = try lag(of: cursor, in: store)
            let isLost = behind == nil
            try listing.append(try json(of: cursor, in: store)) {
                table.append([
                    .init(cursor.name, .name), .init(String(cursor.sequence.rawValue)),
                    .init(behind.map { String($0) } ?? "?"),
                    isLost ? .init("belongs to another journal; set it again", .removed) : "",
                ])
            }
        }
        try listing.close()
        guard console.format == .text else { return }
        if table.isEmpty {
            try console.remark("There are no cursors.")
        } else {
            try console.print(table)
        }
    }

    private func json(of cursor: StoreCursor, in store: Store) throws -> JSONText {
        let behind = try lag(of: cursor, in: store)
        return [
            "name": .string(cursor.name), "sequence": .unsigned(cursor.sequence.rawValue),
            "digest": .string(cursor.digest.hexadecimal),
            "behind": behind.map { .unsigned($0) } ?? .null, "lost": .bool(behind == nil),
        ]
    }

    /// The number of entries that a reader has not read yet; nil if the entry it read last is gone.
    private func lag(of cursor: StoreCursor, in store: Store) throws -> UInt64? {
        let head = try store.head()
        return try isLost(cursor, in: store) ? nil : head.rawValue - cursor.sequence.rawValue
    }

    private func cursor(named name: String, of store: Store) throws -> StoreCursor {
        let cursors = try store.cursors()
        if let cursor = cursors.first(where: { $0.name == name }) { return cursor }
        let clause = Suggestion.clause(for: name, among: cursors.map(\.name))
        throw ToolError.usage("There is no cursor '\(name)'\(clause)")
    }

    /// Whether the entry at the cursor is no longer the one that was read.
    private func isLost(_ cursor: StoreCursor, in store: Store) throws -> Bool {
        do {
            _ = try store.position(ofCursor: cursor.name)
            return false
        } catch let error as StoreError where error.code == .generation {
            return true
        }
    }
}
