import DaybookTestSupport
import Foundation
import Testing

/// `daybook schema`, without a server. Installing on servers is tested beside them.
@Suite struct SchemaCommandTests {
    @Test func `schema prints the files of the library, in their order`() throws {
        let folder = Fixture.folder.deletingLastPathComponent()
            .appending(path: "Sources/CDaybookPostgresFiles/schema")
        let files = try ["tables", "rights", "appending", "keeping"].map {
            try String(contentsOf: folder.appending(path: "\($0).sql"), encoding: .utf8)
        }

        let result = try Tool.run(["schema"])

        #expect(result.status == 0)
        #expect(result.talk.isEmpty)
        #expect(result.text == files.joined(separator: "\n"))
    }

    @Test(arguments: [
        "host=localhost password=hunter2", "postgresql://ada:hunter2@localhost/books",
    ])
    func `a password in the description is refused and not repeated`(servers: String) throws {
        let result = try Tool.run(["schema", "--install", servers])

        #expect(result.status == 2)
        #expect(result.talk.contains("contains 'password'"))
        #expect(result.talk.contains("PGPASSFILE"))
        #expect(!result.talk.contains("hunter2"))
    }

    @Test func `servers that cannot be reached or are not known are told apart`() throws {
        let folder = try ScratchFolder()
        let service = try folder.makeFile("services")
        try Data("[other]\nhost=localhost\n".utf8).write(to: service)
        let environment = ["PGSERVICEFILE": service.path, "PGSYSCONFDIR": folder.url.path]

        let unknown = try Tool.run(
            ["schema", "--install", "service=ledger"], environment: environment)
        #expect(unknown.status == 2)
        #expect(unknown.talk.contains("\"ledger\""))

        // A folder without the socket of a server.
        let gone = try Tool.run(["schema", "--install", "host=\(folder.url.path) dbname=books"])
        #expect(gone.status == 6)
        #expect(gone.talk.hasPrefix("error: "))
        #expect(gone.talk.contains(folder.url.path))
        #expect(gone.talk.split(separator: "\n").count == 1)
    }

    @Test func `the schema is installed on the leader of three servers, once, by its owner`() throws
    {
        let cluster = Fixture.folder.deletingLastPathComponent().appending(path: "Tools/cluster")

        let result = try Tool.shell(
            """
            folder=$(mktemp -d /tmp/daybook-cluster.XXXXXX)
            chmod 755 "$folder"
            cluster() { "$CLUSTER" --folder "$folder" "$@"; }
            trap 'cluster down; rm -rf "$folder"' EXIT
            # The ports may be somebody else's; connections are given others.
            for attempt in 1 2 3 4; do
                settings=$(cluster up --unsynced --port $((10000 + RANDOM % 22000))) && break
            done
            eval "$settings"
            install() { "$DAYBOOK" schema --install "service=$1" 2>"$folder/talk"; echo "$?"; }
            install ledger; cat "$folder/talk"
            install ledger-owner; cat "$folder/talk"
            cluster failover >/dev/null
            install ledger-owner; cat "$folder/talk"
            psql -XAtq service=ledger -c "SELECT usename, ssl, count(*) FROM pg_stat_ssl
                JOIN pg_stat_activity USING (pid), pg_namespace
                WHERE pid = pg_backend_pid() AND nspname = 'daybook' GROUP BY 1, 2"
            """, environment: ["CLUSTER": cluster.path])

        let lines = result.lines.map { $0.replacing(/127\.0\.0\.1:\d+/, with: "SERVER") }
        #expect(
            lines == [
                "2",
                "error: SERVER: permission denied for database ledger (SQLSTATE 42501)",
                "0", "The schema is installed on SERVER.",
                "5", "error: SERVER: schema \"daybook\" already exists (SQLSTATE 42P06)",
                "ledger|t|1",
            ], "\(result.talk)")
    }

    @Test func `the command is the only one that links libpq, the library does not`() throws {
        func libraries(of program: String) throws -> String {
            let path = Tool.url.deletingLastPathComponent().appending(path: program).path
            let result = try Tool.shell("ldd '\(path)'")
            #expect(result.status == 0)
            return result.text
        }

        #expect(try libraries(of: "daybook").contains("libpq.so"))
        let demonstration = try libraries(of: "daybook-demo")
        #expect(demonstration.contains("liblmdb.so"))
        #expect(!demonstration.contains("libpq"))
    }
}
