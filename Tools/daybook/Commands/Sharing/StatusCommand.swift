import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// `daybook status STORE`: how a copy stands to its shared store.
struct StatusCommand: Command {
    private let store = Positional("STORE", .path, "The copy.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "status", in: .read, summary: "Say how this machine's copy stands to its shared store.",
            discussion: """
                The servers are asked, and the copy is brought up if they answer.
                """,
            arguments: [store],
            examples: [.init("daybook status iso.daybook", "Look whether saves will pass")],
            endings: [
                .init(
                    .success,
                    "The servers answer, and the copy has everything; or it is a store of its own."),
                .init(.usage), .init(.unreadable),
                .init(.conflict, "The copy has gone another way, or the next entry does not fit."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        guard let file = try SharedStores.file(path) else {
            try say([("store", path), ("shared", "no")], console)
            return .success
        }
        let store = try SharedStores.isOffline ? StoreReading.open(path) : SharedStores.open(path)
        defer { store.closeQuietly() }
        var lines = [
            ("store", path), ("shared", file.place), ("node", file.node.uuidString),
            ("entries", "\(try store.head())"),
        ]
        let code: ExitCode
        switch store.condition {
        case nil:
            (code, lines) = (.success, lines + [("servers", "not asked")])
        case .connected:
            (code, lines) = (.success, lines + [("servers", "reached")])
        case .offline(let since, let error):
            lines += [
                ("servers", "not reached"), ("since", DateText.text(microseconds: since)),
                ("reason", error.message),
            ]
            code = .unreachable
        case .stopped(let error):
            lines += [("servers", "reached"), ("stopped", error.message)]
            code = .conflict
        }
        try say(lines, console)
        return code
    }

    private func say(_ lines: [(name: String, text: String)], _ console: Console) throws {
        guard console.format == .text else {
            return try console.print(
                .object(lines.map { .init($0.name, .string($0.text)) }) as JSONText)
        }
        for (name, text) in lines {
            let title = name + String(repeating: " ", count: 10 - name.count)
            try console.print(console.palette(title, .faint) + DisplayText.escaped(text))
        }
    }
}
