// The room of real servers: PostgreSQL on this machine, for the tests of one process, and the stores of tests there.

package import DaybookPQ
package import DaybookPostgres
package import Foundation

/// A server of PostgreSQL for the tests of this process, with the schema. It ends with the process, however
/// that ends, and its folder goes with it.
package final class PostgresServer: Sendable {
    /// The folder of its socket.
    package let folder: String
    /// Where it listens, beside its socket.
    package let port: Int
    private let supervisor: ChildLine

    /// The one server of all tests, started by the first that asks.
    package static let shared: Result<PostgresServer, any Error> = Result { try PostgresServer() }

    /// Starts one.
    ///
    /// - Parameter standbys: Those of whom one has to confirm what it writes, if any.
    /// - Throws: An error when it does not start.
    package init(standbys: String = "") throws {
        (port, supervisor, folder) = try Self.start(standbys)
        let owner = try connection(as: "postgres")
        try PostgresSchema.install(on: owner, until: .now + .seconds(20))
    }

    /// Starts a server; once more when somebody else has taken the port meanwhile.
    private static func start(_ standbys: String) throws -> (Int, ChildLine, String) {
        var told = ""
        for _ in 0..<4 {
            let port = try freePort()
            let supervisor = try ChildLine(script: script, arguments: [String(port), standbys])
            if let folder = try supervisor.nextLine() { return (port, supervisor, folder) }
            told = supervisor.complaints
        }
        throw NotStarted(description: "The server does not start: \(told)")
    }

    private struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// A description of the server for a login, by the socket. The owner waits for no standby.
    package func description(as login: String) throws -> ServerDescription {
        let waiting = login == "postgres" ? "options='-c synchronous_commit=local'" : ""
        return try ServerDescription(
            "host=\(folder) port=\(port) user=\(login) dbname=postgres \(waiting)")
    }

    /// A connection of a login.
    package func connection(as login: String) throws -> PostgresConnection {
        let description = try description(as: login)
        return try PostgresConnection(
            to: description.places()[0], of: description, until: .now + .seconds(20))
    }

    /// Runs commands as the owner of everything.
    package func administer(_ script: String) throws {
        try connection(as: "postgres").run(script: script, until: .now + .seconds(20))
    }

    /// A port that nobody uses now.
    ///
    /// It is below those that the system gives to connections, where a server that is down for a while would find its
    /// port taken.
    package static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 10_000..<32_000)
            guard let (file, _) = try? listeningSocket(port: port) else { continue }
            close(file)
            return port
        }
        throw POSIXError(.EADDRINUSE)
    }

    /// Prints the folder when the server answers; ends it when its standard input ends, which it does with
    /// this process. PostgreSQL refuses to run as root.
    private static let script = """
        set -eu
        initdb=$(ls /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
        programs=$(dirname "$initdb")
        folder=$(mktemp -d /tmp/daybook-postgres.XXXXXX)
        as=; [ "$(id -u)" -ne 0 ] || { as="runuser -u postgres --"; chown postgres: "$folder"; }
        cd "$folder"
        ended() { $as "$programs/pg_ctl" -D "$folder/data" -m immediate stop >&2 || true; rm -rf "$folder"; }
        trap ended EXIT
        trap '' INT HUP TERM
        $as "$programs/initdb" -N -D "$folder/data" --auth=trust -U postgres -E UTF8 --locale=C >&2
        cat >>"$folder/data/postgresql.conf" <<END
        listen_addresses = '127.0.0.1'
        port = $1
        unix_socket_directories = '$folder'
        fsync = off
        synchronous_standby_names = '$2'
        max_connections = 1000
        END
        $as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start >&2
        echo "$folder"
        cat >/dev/null
        """
}

/// A socket of this machine that takes connections, and its port; 0 for any.
package func listeningSocket(port: Int = 0) throws -> (file: Int32, port: Int) {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // What is left of connections to a server that was there before is no server.
    var isReused: Int32 = 1
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
    var bound = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    guard atLoopback(port: port, { bind(file, $0, $1) }) == 0, listen(file, 16) == 0 else {
        close(file)
        throw POSIXError(.EADDRINUSE)
    }
    let status = withUnsafeMutablePointer(to: &bound) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
    }
    guard status == 0 else { throw POSIXError(.EADDRINUSE) }
    return (file, Int(UInt16(bigEndian: bound.sin_port)))
}

/// Calls `body` with the address of a port of this machine.
package func atLoopback(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

extension PostgresTerms.Limits {
    /// For machines that do much else.
    package static var patient: Self {
        var limits = Self()
        limits.connecting = .seconds(20)
        limits.answering = .seconds(60)
        limits.appending = .seconds(60)
        return limits
    }
}
