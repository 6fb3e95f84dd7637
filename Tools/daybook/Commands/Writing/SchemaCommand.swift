import DaybookPQ
import DaybookPostgres

/// `daybook schema`: the tables of shared stores as SQL; `daybook schema --install SERVERS` makes them.
struct SchemaCommand: Command {
    private let servers = Option(
        "--install", "SERVERS", .text,
        "Run the SQL on these servers: 'service=ledger', 'host=a,b dbname=books' or "
            + "'postgresql://a,b/books'.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "schema", in: .write,
            summary: "Print or install the tables of shared stores, as SQL.",
            discussion: """
                A store that several machines share has its journal in PostgreSQL. Its tables and
                functions stand in a schema 'daybook', which is installed once in a database. The
                login that installs it owns it, and should be one that no program uses.

                SERVERS are described in libpq's words, and of several the one that leads is found.
                Passwords may not stand there: libpq reads them from the file in PGPASSFILE. A server
                that is not on this machine has to prove who it is, unless 'sslmode' says otherwise.
                """,
            arguments: [servers],
            formats: [],
            examples: [
                .init("daybook schema --install service=ledger-owner", "Install the schema"),
                .init(
                    "daybook schema | psql -1 -v ON_ERROR_STOP=1 service=ledger-owner",
                    "Do so with PostgreSQL's own program"),
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
        guard let text = arguments[servers] else {
            try console.write(Array(PostgresSchema.text.utf8))
            return .success
        }
        let place = try PostgresSchema.install(on: ServerDescription(text))
        try console.talk("The schema is installed on \(place).")
        return .success
    }
}
