import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// A program that pretends to be a server of PostgreSQL with a shared store, and answers some of what it is asked as a
/// test wants.
final class PretendServer: Sendable {
    /// What is answered to a statement of some name, or to a command that begins with a word.
    enum Reply: Sendable {
        /// Messages, up to the one that says that the server is ready.
        case messages([UInt8])
        /// The same for ever.
        case endless([UInt8])
    }

    /// Which store it says it has.
    static let identity = StoreIdentity(uuid: UUID(), createdAt: 1_700_000_000_000_000)

    let port: Int
    private let listening: Int32
    private let replies: [String: Reply]

    /// Answers as a server would, but for some replies.
    ///
    /// - Parameters:
    ///   - replies: The replies.
    ///   - greeting: Messages with which a connection begins, besides those that have to come.
    /// - Throws: `POSIXError` when no port is free.
    init(_ replies: [String: Reply], greeting: [UInt8] = []) throws {
        self.replies = replies.merging(Self.usual) { mine, _ in mine }
        (listening, port) = try listeningSocket()
        Thread.detachNewThread { [listening, replies = self.replies] in
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0 else { break }
                Thread.detachNewThread { Conversation(client, replies, greeting).hold() }
            }
            close(listening)
        }
    }

    deinit { shutdown(listening, Int32(SHUT_RDWR)) }

    /// What it is reached by.
    func description() throws -> ServerDescription {
        try ServerDescription(
            "host=127.0.0.1 port=\(port) user=nobody dbname=none sslmode=disable gssencmode=disable"
        )
    }

    /// A connection to it.
    func connection() throws -> PostgresConnection {
        let description = try description()
        return try PostgresConnection(
            to: description.places()[0], of: description, until: .now + .seconds(20))
    }

    /// The journal of the store that it says it has.
    func journal() throws -> PostgresJournal {
        PostgresJournal(
            PostgresTerms(
                servers: try description(), store: "pretended", node: UUID(), program: "tests",
                protection: .waived, limits: .patient, clock: microseconds), Self.identity)
    }

    private static let usual: [String: Reply] = [
        "daybook_find": .rows([
            [Wire.int4(1), identity.uuid.bytes, Wire.int8(identity.createdAt)]
        ]),
        "daybook_register": .rows([[Wire.int4(1), Wire.int8(microseconds())]]),
        "daybook_writers": .rows([[Wire.int4(1), Array("somebody".utf8)]]),
    ]
}

extension PretendServer.Reply {
    /// Rows of a statement in binary form, and the end of the answer.
    static func rows(_ rows: [[[UInt8]?]]) -> Self {
        let columns = rows.first?.count ?? 1
        return .messages(
            Wire.description(columns) + rows.flatMap(Wire.row) + Wire.complete + Wire.ready)
    }

    /// Rows of a binary COPY, and the end of the answer.
    static func copy(_ rows: [[[UInt8]?]]) -> Self {
        let head: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let pieces: [[UInt8]] = [head] + rows.map(Wire.fields) + [[0xFF, 0xFF]]
        let messages: [[UInt8]] =
            [Wire.message("H", [1, 0, 0])] + pieces.map { Wire.message("d", $0) }
            + [Wire.message("c", []), Wire.complete, Wire.ready]
        return .messages(Array(messages.joined()))
    }
}

/// Messages as servers send them.
enum Wire {
    static let complete = message("C", Array("SELECT 1".utf8) + [0])
    static let ready = message("Z", [UInt8(ascii: "I")])

    static func message(_ kind: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
        [UInt8(ascii: kind)] + int4(Int32(body.count) + 4) + body
    }

    /// A description of columns without names; `format` 1 for the binary one.
    static func description(_ columns: Int, format: Int16 = 1) -> [UInt8] {
        let parts: [[UInt8]] = [
            [0], int4(0), int2(0), int4(20), int2(8), int4(-1), int2(format),
        ]
        let column = Array(parts.joined())
        return message(
            "T", int2(Int16(columns)) + Array(repeating: column, count: columns).joined())
    }

    static func row(_ fields: [[UInt8]?]) -> [UInt8] { message("D", self.fields(fields)) }

    static func fields(_ fields: [[UInt8]?]) -> [UInt8] {
        int2(Int16(fields.count))
            + fields.flatMap { field in
                guard let field else { return int4(-1) }
                return int4(Int32(field.count)) + field
            }
    }

    static func int2(_ value: Int16) -> [UInt8] { bytes(value.bigEndian) }
    static func int4(_ value: Int32) -> [UInt8] { bytes(value.bigEndian) }
    static func int8(_ value: Int64) -> [UInt8] { bytes(value.bigEndian) }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

/// One connection, as long as the client has it.
private struct Conversation {
    private let client: Int32
    private let replies: [String: PretendServer.Reply]
    private let greeting: [UInt8]

    init(_ client: Int32, _ replies: [String: PretendServer.Reply], _ greeting: [UInt8]) {
        self.client = client
        self.replies = replies
        self.greeting = greeting
    }

    func hold() {
        defer { close(client) }
        guard let length = integer(), receive(length - 4) != nil else { return }
        let parameter = Array("server_version\u{0}15.0\u{0}".utf8)
        let beginning =
            Wire.message("R", Wire.int4(0)) + Wire.message("S", parameter)
            + Wire.message("K", Wire.int4(1) + Wire.int4(1)) + greeting + Wire.ready
        guard send(beginning) else { return }
        var asked: String?
        while let kind = receive(1)?.first, let length = integer(), let body = receive(length - 4) {
            switch UInt8(kind) {
            case UInt8(ascii: "P"): asked = nil
            case UInt8(ascii: "B"): asked = text(body.drop { $0 != 0 }.dropFirst())
            case UInt8(ascii: "S"):
                let begin = Wire.message(asked == nil ? "1" : "2", [])
                guard send(begin), answer(asked) else { return }
            case UInt8(ascii: "Q"): guard answer(text(body[...])) else { return }
            case UInt8(ascii: "X"): return
            default: break
            }
        }
    }

    private func answer(_ asked: String?) -> Bool {
        let reply = asked.flatMap { asked in replies.first { asked.hasPrefix($0.key) }?.value }
        switch reply {
        case .messages(let bytes): return send(bytes)
        case .endless(let bytes):
            let many = Array(Array(repeating: bytes, count: 100).joined())
            while send(many) {}
            return false
        case nil: return send((asked == nil ? [] : Wire.complete) + Wire.ready)
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private func integer() -> Int? {
        receive(4)?.reduce(0) { $0 << 8 | Int($1) }
    }

    private func receive(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: max(count, 0))
        var received = 0
        while received < count {
            let more = bytes[received...].withUnsafeMutableBytes {
                read(client, $0.baseAddress, $0.count)
            }
            guard more > 0 else { return nil }
            received += more
        }
        return bytes
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let more = bytes[sent...].withUnsafeBytes {
                Foundation.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }
}
