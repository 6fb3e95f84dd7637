import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import Synchronization

/// `daybook serve STORE`: the audit report as a page that goes on with new entries.
struct ServeCommand: Command {
    private static let entriesServed = 10_000

    private let store = Positional("STORE", .path, "The store to serve.")
    private let port = Option(
        "--port", short: "-p", "N", .port, "The port, or 0 for one that is free, as without it.")
    private let limit = Option(
        "--last", "N", .count, "Begin with the last N entries; 10,000 without it.")
    private let secrecy = Option<Secrecy>(
        "--confidential", "WHAT", .oneOf,
        "What to do with confidential values: omit (the default) or show.")

    /// The treatment of confidential values.
    enum Secrecy: String, CaseIterable, Sendable {
        case omit
        case show
    }

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "serve", in: .read,
            summary: "Show the report in a browser, live, until it is interrupted.",
            discussion: """
                The page is the one that 'daybook export --format html' writes; new entries
                appear in it as they are saved, by any program. It is served on this machine
                alone, at an address that has a secret in it and is printed: who knows the
                address can read what the page shows. Nothing can be written there. It also ends
                when the store is taken away or another one put in its place.
                """,
            arguments: [store, port, limit, secrecy],
            examples: [
                .init("daybook serve iso.daybook", "Print an address to open in a browser")
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or the port is taken."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        try Interruption.watch()
        let page = ServedPage(
            store: store, token: Self.token(), entries: arguments[limit] ?? Self.entriesServed,
            confidentiality: Confidentiality(arguments[secrecy] == .show ? .show : .omit))
        let known = KnownPort()
        let server = try HTTPServer(port: arguments[port] ?? 0) { request in
            page.answer(request, port: known.number.load(ordering: .acquiring))
        }
        known.number.store(server.port, ordering: .releasing)
        defer {
            page.ending.begin()
            server.stop()
        }
        try console.print("http://127.0.0.1:\(server.port)/\(page.token)/")
        try console.flush()
        let saves = try SaveWait(for: store)
        while true {
            switch saves.wait() {
            case .saved: try store.checkIsInPlace()
            case .interrupted: return .success
            case .outputClosed: throw OutputClosed()
            }
        }
    }

    /// The port, once it is known. No request comes before: nobody knows the address.
    private final class KnownPort: Sendable {
        let number = Atomic<UInt16>(0)
    }

    /// 128 bits that nobody can guess, in hexadecimal.
    private static func token() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let part = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }.joined()
    }
}
