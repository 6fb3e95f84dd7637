import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation

/// `daybook schema`: the tables of shared stores as SQL; `daybook schema --install SERVERS` makes them.
struct SchemaCommand: Command {
    private let servers = Option(
        "--install", "SERVERS", .text,
        "Run the SQL on these servers: 'service=ledger', 'host=a,b dbname=books' or "
            + "'postgresql://a,b/books'.")
    private let owned = Option(
        "--add-store", "SERVERS", .text,
        "Make a shared store on servers that have the schema; needs '--name', '--reader' and '--writer'."
    )
    private let name = Option("--name", "NAME", .text, "The name of the store that is made.")
    private let reader = Option(
        "--reader", "ROLE", .text, "The role whose members may read the store that is made.")
    private let writer = Option(
        "--writer", "ROLE", .text, "The role whose members may also save to it.")
    private let original = Option(
        "--of", "STORE", .path,
        "The store that will be pushed there; a new store if it is left out.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "schema", in: .write,
            summary: "Print or install the tables of shared stores; make a store.",
            discussion: """
                A store that several machines share has its journal in PostgreSQL. Its tables and
                functions stand in a schema 'daybook', which is installed once in a database. The
                login that installs it owns it, and should be one that no program uses.

                SERVERS are described in libpq's words, and of several the one that leads is found.
                Passwords may not stand there: libpq reads them from the file in PGPASSFILE. A server
                that is not on this machine has to prove who it is, unless 'sslmode' says otherwise.

                A shared store is made by the owner, too. It has no entries until a store is pushed
                to it, or 'init --shared' begins it. Logins that are members of its roles may read
                it, or read it and save.
                """,
            arguments: [servers, owned, name, reader, writer, original],
            formats: [],
            examples: [
                .init("daybook schema --install service=ledger-owner", "Install the schema"),
                .init(
                    "daybook schema | psql -1 -v ON_ERROR_STOP=1 service=ledger-owner",
                    "Do so with PostgreSQL's own program"),
                .init(
                    "daybook schema --add-store service=owner --name iso --reader r --writer w",
                    "Make a shared store"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or the server refused."),
                .init(.conflict, "The database has such a schema already; it was left as it is."),
                .init(
                    .unreachable,
                    "No server that leads was reached, or none has confirmed that the schema is there."
                ),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if let owner = arguments[owned] { return try addStore(owner, arguments, console) }
        for option in [arguments[name], arguments[reader], arguments[writer], arguments[original]]
        where option != nil {
            throw ToolError.usage(
                "'--name', '--reader', '--writer' and '--of' go only with '--add-store'.")
        }
        guard let text = arguments[servers] else {
            try console.write(Array(PostgresSchema.text.utf8))
            return .success
        }
        let place = try PostgresSchema.install(on: ServerDescription(text))
        try console.talk("The schema is installed on \(place).")
        return .success
    }

    private func addStore(
        _ owner: String, _ arguments: ParsedArguments, _ console: Console
    ) throws -> ExitCode {
        guard let name = arguments[name], let reader = arguments[reader],
            let writer = arguments[writer], arguments[servers] == nil
        else {
            throw ToolError.usage(
                "'--add-store' needs '--name', '--reader' and '--writer', and goes without "
                    + "'--install'.")
        }
        var identity = StoreIdentity(uuid: UUID(), createdAt: StoreOptions.systemClock())
        var numbers: UInt64 = 1
        if let path = arguments[original] {
            let store = try StoreReading.open(path)
            identity = StoreIdentity(uuid: store.uuid, createdAt: store.createdAt)
            numbers = try store.reservedNumbers()
        }
        let place = try PostgresSchema.addStore(
            name, identity, numbers: numbers, roles: (reader, writer),
            on: ServerDescription(owner))
        try console.talk("The store '\(name)' is made on \(place).")
        return .success
    }
}
