internal import CDaybookPQ
internal import Foundation

/// Where the servers are and how they are reached, in libpq's own words: `service=ledger`,
/// `host=a,b dbname=books` or `postgresql://a,b/books`.
///
/// Secrets come from where libpq finds them, such as a password file or a certificate, and never stand
/// in the text, because texts end up in files, logs and lists of processes.
package struct ServerDescription: Sendable, Hashable {
    /// The text, without a secret.
    package let text: String
    /// What it says, by libpq's keywords.
    private let said: [String: String]

    /// Reads a description.
    ///
    /// - Parameter text: In either of libpq's forms.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/description`` when it cannot be read, or
    ///   contains a password. The message does not repeat any of it.
    package init(_ text: String) throws(PostgresError) {
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &fault) else {
            // libpq's message repeats a part of the text, which may be a piece of a secret.
            PQfreemem(fault)
            throw PostgresError(
                .description,
                "The description of the servers cannot be read: libpq expects 'keyword=value …' or "
                    + "'postgresql://…'.")
        }
        defer { PQconninfoFree(options) }
        let said = Self.values(options)
        for secret in ["password", "sslpassword"] where said[secret] != nil {
            throw PostgresError(
                .description,
                "The description of the servers contains '\(secret)', which may not stand there. Write "
                    + "passwords into libpq's password file (see PGPASSFILE), or use a certificate."
            )
        }
        if said["replication"] != nil {
            throw PostgresError(
                .description, "The description of the servers asks for a connection of replication."
            )
        }
        self.text = text
        self.said = said
    }

    /// The name of the service that says where the servers are; nil when the text does not name one.
    package var service: String? { said["service"] }

    /// The servers, in the order in which they are tried.
    ///
    /// The service file and the variables of the environment are read each time, so a server that was
    /// added there is found by the next attempt.
    ///
    /// - Returns: At least one.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/description`` when the service is not known,
    ///   or the lists of hosts and ports do not fit each other.
    package func places() throws(PostgresError) -> [ServerPlace] {
        let options = try resolved()
        let names = Self.list(options["host"])
        let addresses = Self.list(options["hostaddr"])
        let ports = Self.list(options["port"])
        let count = max(names.count, addresses.count, 1)
        for list in [names, addresses, ports] where list.count > 1 && list.count != count {
            throw PostgresError(
                .description, "The description of the servers has lists of different lengths.")
        }
        let mode = options["sslmode"]
        return (0..<count).map { index in
            func item(_ list: [String]) -> String {
                list.count == 1 ? list[0] : index < list.count ? list[index] : ""
            }
            return ServerPlace(
                host: item(names), address: item(addresses), port: item(ports), mode: mode)
        }
    }

    /// What libpq is told for one server.
    ///
    /// - Parameters:
    ///   - place: One of ``places()``.
    ///   - found: The addresses of its host, where libpq must not look for them; they are tried in order.
    /// - Returns: Keywords and values.
    func options(for place: ServerPlace, at found: [String] = []) -> [String: String] {
        var options = said
        options["host"] = place.host
        options["hostaddr"] = place.address
        if !found.isEmpty {
            // The name stays: certificates and password files have it.
            options["host"] = Array(repeating: place.host, count: found.count).joined(
                separator: ",")
            options["hostaddr"] = found.joined(separator: ",")
        }
        options["port"] = place.port
        options["sslmode"] = place.mode
        // Whether a server is the right one is found out by writing, which tells more.
        options["target_session_attrs"] = "any"
        options["client_encoding"] = "UTF8"
        options["fallback_application_name"] = "daybook"
        return options
    }

    /// All that libpq would use: the text, the service file, the environment and its defaults.
    private func resolved() throws(PostgresError) -> [String: String] {
        // Only a connection reads the service file. This one is refused by libpq's own checks, before it
        // looks for any host.
        var options = said
        options["target_session_attrs"] = "none of libpq's"
        let handle = withStrings(of: options) { PQconnectStartParams($0, $1, 0) }
        defer { PQfinish(handle) }
        guard let found = PQconninfo(handle) else { throw PostgresError(of: handle) }
        defer { PQconninfoFree(found) }
        let values = Self.values(found)
        guard values["port"] != nil else {
            throw PostgresError(.description, PostgresError(of: handle).message)
        }
        return values
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String:
        String]
    {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, value.pointee != 0 {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return values
    }

    private static func list(_ text: String?) -> [String] {
        guard let text else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }
}

/// One server of a description.
package struct ServerPlace: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let address: String
    let port: String
    /// How the server proves who it is: libpq's `sslmode`.
    package let mode: String

    init(host: String, address: String, port: String, mode: String?) {
        self.host = host
        self.address = address
        self.port = port.isEmpty ? "5432" : port
        // libpq's own default takes whatever comes, so it counts as nothing said.
        let isSaid = mode != nil && mode != "prefer"
        self.mode =
            if isSaid, let mode { mode } else if Self.isLocal(host, address) { "prefer" } else {
                "verify-full"
            }
    }

    /// Whether it is a server of this machine.
    private static func isLocal(_ host: String, _ address: String) -> Bool {
        let place = address.isEmpty ? host : address
        if place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") { return true }
        // A name may begin like an address.
        var bytes = in_addr()
        let isAddress = inet_pton(AF_INET, place, &bytes) == 1
        return place == "localhost" || place == "::1" || isAddress && place.hasPrefix("127.")
    }

    /// The host and its port, for messages.
    package var description: String {
        let name = host.isEmpty ? address : host
        return "\(name.isEmpty ? "this machine" : name):\(port)"
    }
}

/// Hands over keywords and values as libpq takes them, each list with a null at its end.
func withStrings<R>(
    of options: [String: String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> R
) -> R {
    let pairs = options.sorted { $0.key < $1.key }
    let keywords = pairs.map { strdup($0.key) }
    let values = pairs.map { strdup($0.value) }
    defer { for string in keywords + values { free(string) } }
    let constant = { (list: [UnsafeMutablePointer<CChar>?]) in
        list.map { UnsafePointer($0) } + [nil]
    }
    return body(constant(keywords), constant(values))
}
