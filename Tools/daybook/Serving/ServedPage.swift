import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import Foundation
import Synchronization

/// Whether the serving ends, for whatever reason; the threads of connections ask. The server waits for them.
final class ServingEnd: Sendable {
    private let flag = Atomic(false)

    /// Whether it does.
    var isThere: Bool { flag.load(ordering: .acquiring) }

    /// From now on it does.
    func begin() { flag.store(true, ordering: .releasing) }
}

/// What is served of a store, and to whom.
///
/// The address has a token that only those know to whom it is told. A page of another site cannot read what is served
/// (it does not know the token, and is of another origin), nor can a name that leads to this machine be given out for it.
struct ServedPage: Sendable {
    let store: Store
    /// The part of the address that is not to be guessed.
    let token: String
    /// How many of the newest entries the page has.
    let entries: Int
    let confidentiality: Confidentiality
    /// What is on its way.
    let kept = BytesForClients()
    /// What ends all streams of events.
    let ending = ServingEnd()

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - port: The port that it came to.
    /// - Returns: The page, its events, or why not.
    func answer(_ request: HTTPRequest, port: UInt16) -> HTTPResponse {
        guard let host = request.headers["host"], Self.hosts(at: port).contains(host) else {
            return HTTPResponse(
                status: 421, "This is not the address that 'daybook serve' has printed.")
        }
        if let origin = request.headers["origin"], origin != "http://\(host)" {
            return HTTPResponse(status: 403, "Pages of other origins are not answered.")
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, isToken(parts[1]) else { return .missing }
        guard request.method == "GET" || request.method == "HEAD" else {
            var refusal = HTTPResponse(status: 405, "Nothing can be written here.")
            refusal.headers = [("Allow", "GET, HEAD")]
            return refusal
        }
        var response: HTTPResponse
        if parts[2].isEmpty {
            response = page()
        } else if parts[2].hasPrefix(Self.eventsPrefix), request.method == "GET",
            let number = UInt64(parts[2].dropFirst(Self.eventsPrefix.count))
        {
            // A client that comes again says what it has had last.
            let last = request.headers["last-event-id"].flatMap { UInt64($0) } ?? number
            response = HTTPResponse(.events(EventStream(self, after: SequenceNumber(last))))
        } else {
            return .missing
        }
        response.headers += Self.headers
        return response
    }

    /// What clients call this machine. The port that HTTP has by itself is left out by them.
    private static func hosts(at port: UInt16) -> [String] {
        let names = ["127.0.0.1", "localhost"]
        return names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// Whether a part of a path is the token. Takes the same time however much of it is right.
    private func isToken(_ part: Substring) -> Bool {
        let (given, wanted) = (Array(part.utf8), Array(token.utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// What the address of the events after an entry ends with, before the number of the entry.
    private static let eventsPrefix = "after-"

    /// Nothing is kept, told to others, shown inside of other pages, or taken for something else.
    private static let headers = [
        ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ]

    private func page() -> HTTPResponse {
        do {
            let end = try store.end()
            let page = try kept.bytes(of: .page, at: end.head, end.rewinds) {
                (try bytes(beginningBelow: end.head), end.head)
            }
            guard let page else {
                var refusal = HTTPResponse(
                    status: 503, "Other clients have not taken their pages yet. Ask again later.")
                refusal.headers = [("Retry-After", "5")]
                return refusal
            }
            return HTTPResponse(.page(page, type: "text/html; charset=utf-8"))
        } catch {
            return HTTPResponse(status: 500, Self.sentence(error))
        }
    }

    private func bytes(beginningBelow head: SequenceNumber) throws -> [UInt8] {
        var export = export()
        let first = head.rawValue > UInt64(entries) ? head.rawValue - UInt64(entries) + 1 : 1
        // Up to what is the last entry by then: events go on after the one that the page calls its last.
        export.filter.range = SequenceNumber(first)...SequenceNumber(.max)
        export.options.isLive = true
        var bytes: [UInt8] = []
        try export.write(HTMLFormat()) { bytes += $0 }
        return bytes
    }

    /// What is wrong, in one line, as the command says it.
    static func sentence(_ error: any Error) -> String {
        let message = "The store cannot be read: \(ToolError(error).message)"
        return message.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// How many bytes of events are read at once; one of a long entry may have more.
    private static let eventBytesTogether = 1 << 20

    /// Entries of a range as events, from its first one on.
    ///
    /// - Parameters:
    ///   - sequence: The entry before the range.
    ///   - last: The last entry of the range.
    ///   - rewinds: How often the journal had been cut off.
    /// - Returns: The events of some of them; nil while clients keep too much else.
    /// - Throws: `StoreError` when an entry cannot be read.
    func events(
        after sequence: SequenceNumber, through last: SequenceNumber, _ rewinds: UInt64
    ) throws -> KeptBytes? {
        try kept.bytes(of: .events, at: sequence, rewinds) {
            try events(after: sequence, through: last)
        }
    }

    private func events(
        after sequence: SequenceNumber, through last: SequenceNumber
    ) throws -> (bytes: [UInt8], reached: SequenceNumber) {
        var export = export()
        export.filter.range = sequence.next...last
        var bytes: [UInt8] = []
        var reached = sequence
        do {
            try export.write(EventFormat(), progress: { reached = $0 }) { event in
                guard bytes.count < Self.eventBytesTogether || event.isEmpty else {
                    throw EnoughEvents()
                }
                bytes += event
            }
        } catch is EnoughEvents {
            // The others are read when these have been sent.
        }
        return (bytes, reached)
    }

    private struct EnoughEvents: Error {}

    private func export() -> AuditExport {
        var export = AuditExport(of: AuditReader(store))
        export.confidentiality = confidentiality
        return export
    }
}

extension HTTPResponse {
    fileprivate static var missing: HTTPResponse {
        HTTPResponse(status: 404, "There is nothing here. Take the whole address that was printed.")
    }
}
