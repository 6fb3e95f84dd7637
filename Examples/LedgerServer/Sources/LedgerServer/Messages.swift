import Foundation

/// What a client asks for.
struct Request: Sendable {
    let method: String
    let path: String
    /// The arguments of the address.
    let query: [String: String]
    /// The headings, by their names in lower case.
    let headers: [String: String]
    let body: Data
}

/// What it gets.
struct Response: Sendable {
    enum Body: Sendable {
        case json(Data)
        /// Events, each as soon as there is one (`text/event-stream`).
        case events(any AsyncSequence<String, any Error> & Sendable)
    }

    var status: UInt32 = 200
    var headers: [String: String] = [:]
    let body: Body

    /// A value as JSON.
    static func json(_ value: some Encodable, status: UInt32 = 200) throws -> Response {
        Response(status: status, body: .json(try encoded(value) + Data("\n".utf8)))
    }

    /// A value as JSON in one line.
    static func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}

/// Why a request is not granted.
struct Refusal: Error {
    let status: UInt32
    let reason: String
    var headers: [String: String] = [:]

    /// The answer to whoever has asked.
    var response: Response {
        do {
            var response = try Response.json(["error": reason], status: status)
            response.headers = headers
            return response
        } catch {
            report(error)
            return Response(status: 500, body: .json(Data("{}\n".utf8)))
        }
    }
}

struct ServerError: Error, CustomStringConvertible {
    let description: String
}

/// Tells whoever runs the server of an error. Clients are not told what goes wrong inside.
func report(_ error: any Error) {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
}
