import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook cursors STORE`: how far readers have come.
struct CursorsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read, or to change.")
    private let name = OptionalPositional("NAME", .cursor, "The cursor; all of them when left out.")
    private let place = OptionalPositional(
        "SEQ|TIME", .moment, "Put the cursor after this entry; 0 is before the first.")
    private let isDeleted = Flag("--delete", short: "-d", "Forget the cursor.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "cursors", in: .read, summary: "List the cursors of a store, set one or delete one.",
            discussion: """
                A cursor keeps how far somebody has read: 'tail --cursor' and 'export --resume' make
                and move them. They are no part of the journal, so setting one appends no entry.
                """,
            arguments: [store, name, place, isDeleted],
            examples: [
                .init("daybook cursors iso.daybook", "Who has read how far"),
                .init("daybook cursors iso.daybook mailer head", "Leave out what there is by now"),
                .init("daybook cursors iso.daybook mailer --delete", "Forget a cursor"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such cursor or entry."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if arguments[isDeleted] || arguments[place] != nil {
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
        guard !arguments[isDeleted] || arguments[place] == nil else {
            throw ToolError.usage("A cursor is either set or deleted.")
        }
        let store = try Store.open(at: arguments[store])
        guard let moment = arguments[place] else {
            let cursor = try cursor(named: name, of: store)
            let document = try json(of: cursor, in: store)
            try store.setCursor(name, to: nil)
            guard console.format == .text else { return try console.print(document) }
            return try console.print(
                "The cursor '\(DisplayText.escaped(name))', after entry \(cursor.sequence), is "
                    + "deleted.")
        }
        try store.setCursor(name, to: try StoreReading.place(of: moment, in: store))
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
                    isLost ? .init("of another journal; set it anew", .removed) : "",
                ])
            }
        }
        try listing.close()
        guard console.format == .text else { return }
        if table.isEmpty {
            try console.talk("There are no cursors.")
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

    /// How many entries a reader has not read yet; nil when what was read is no longer there.
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

    /// Whether the entry that a cursor stands after is no longer the one that was read.
    private func isLost(_ cursor: StoreCursor, in store: Store) throws -> Bool {
        do {
            _ = try store.position(ofCursor: cursor.name)
            return false
        } catch let error as StoreError where error.code == .generation {
            return true
        }
    }
}
