import DaybookPQ
import DaybookPostgres
import DaybookTestSupport
import Foundation

/// Three servers for the tests of this process, one of whom leads, with the schema: those of `Tools/cluster`.
/// They end with the process, however that ends.
///
/// Which server leads changes; tests that use it run one after the other.
final class PostgresCluster: Sendable {
    private let folder: String
    private let port: Int
    private let supervisor: ChildLine

    /// The one cluster of all tests, started by the first that asks.
    static let shared: Result<PostgresCluster, any Error> = Result { try PostgresCluster() }

    private init() throws {
        (folder, port, supervisor) = try Self.start()
        let place = description(of: [0], as: "ledger_owner")
        let owner = try ServerDescription(place)
        try PostgresSchema.install(
            on: PostgresConnection(to: owner.places()[0], of: owner, until: limit), until: limit)
    }

    /// Starts servers; once more when somebody else has taken a port meanwhile.
    private static func start() throws -> (String, Int, ChildLine) {
        var told = ""
        for _ in 0..<4 {
            let port = min(try PostgresServer.freePort(), 65_000)
            let supervisor = try ChildLine(script: script, arguments: [tool.path, String(port)])
            if let folder = try supervisor.nextLine() { return (folder, port, supervisor) }
            told = supervisor.complaints
        }
        throw Failed(description: "The cluster does not start: \(told)")
    }

    private static let tool = Fixture.folder.deletingLastPathComponent()
        .appending(path: "Tools/cluster")

    private static let script = """
        set -eu
        folder=$(mktemp -d /tmp/daybook-cluster.XXXXXX)
        chmod 755 "$folder"
        ended() {
            [ ! -e "$folder/state.json" ] || "$1" --folder "$folder" down >&2 || true
            rm -rf "$folder"
        }
        trap 'ended "$1"' EXIT
        trap '' INT HUP TERM
        "$1" --folder "$folder" up --unsynced --port "$2" >&2
        echo "$folder"
        cat >/dev/null
        """

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: - Servers

    /// Runs a command of `Tools/cluster`.
    func run(_ arguments: String...) throws {
        _ = try Self.answer(of: Self.tool.path, ["--folder", folder] + arguments)
    }

    /// The server that leads, as far as the cluster has said.
    var leader: Int {
        get throws { try state.leader }
    }

    /// The servers that do not lead.
    var others: [Int] {
        get throws { try (0..<3).filter { try $0 != leader } }
    }

    /// The port of a server.
    func port(of server: Int) -> Int { port + server }

    /// Starts all servers that are down and has them follow the leader.
    func mend() throws {
        try run("heal")
        if !isRunning(try leader) { try run("start", String(try leader)) }
        for server in try others { try run("rejoin", String(server)) }
    }

    /// Runs commands on one server as its operator, who waits for no standby.
    ///
    /// - Returns: What they answer.
    @discardableResult
    func administer(_ server: Int, _ script: String, in database: String = "ledger") throws
        -> String
    {
        let psql = [
            "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", folder + "/servers", "-p",
            String(port + server), "-U", "postgres", "-d", database, "-c",
            "SET synchronous_commit = local", "-c", script,
        ]
        let isRoot = getuid() == 0
        return try Self.answer(
            of: "/usr/bin/env", (isRoot ? ["runuser", "-u", "postgres", "--"] : []) + psql)
    }

    /// A description of some servers for a login, in the order in which they are to be tried.
    func description(
        of servers: [Int], as login: String, in database: String = "ledger"
    ) -> String {
        let hosts = servers.map { _ in "127.0.0.1" }.joined(separator: ",")
        let ports = servers.map { String(port + $0) }.joined(separator: ",")
        return "host=\(hosts) port=\(ports) user=\(login) dbname=\(database) sslmode=verify-full "
            + "sslrootcert=\(folder)/ca.crt passfile=\(folder)/passwords"
    }

    private func isRunning(_ server: Int) -> Bool {
        do {
            return try administer(server, "SELECT 1") == "1"
        } catch {
            return false
        }
    }

    private struct State: Decodable {
        let leader: Int
    }

    private var state: State {
        get throws {
            let file = URL(fileURLWithPath: folder + "/state.json")
            return try JSONDecoder().decode(State.self, from: Data(contentsOf: file))
        }
    }

    private static func answer(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // Both say little, so that neither fills its pipe.
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(
                description: "\(arguments): \(String(decoding: complaints, as: UTF8.self))")
        }
        return String(decoding: answer, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
