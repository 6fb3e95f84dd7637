import CMicroHTTPD
import Foundation

/// Serves requests over HTTP to programs of the same machine, with libmicrohttpd.
///
/// Each connection has a thread of its own, which waits while its request is answered by a task. It knows nothing of
/// ledgers.
final class HTTPServer: Sendable {
    typealias Answer = @Sendable (Request) async -> Response

    /// The port that is served.
    let port: UInt16

    /// Begins to serve a port, or any that is free for 0, until the process ends.
    init(port: UInt16, _ answer: @escaping Answer) throws {
        let handler = Unmanaged.passRetained(Handler(answer)).toOpaque()
        guard let daemon = ledger_server_start(port, handle, handler, complete) else {
            throw ServerError(
                description: "Port \(port) cannot be served: \(String(cString: strerror(errno))).")
        }
        self.port = ledger_server_port(daemon)
    }
}

/// What libmicrohttpd gives back with each request.
private final class Handler: Sendable {
    let answer: HTTPServer.Answer

    init(_ answer: @escaping HTTPServer.Answer) {
        self.answer = answer
    }
}

/// The body of a request, while it comes in. Only the thread of its connection has it.
private final class IncomingBody {
    static let lengthMaximum = 64 << 10
    var bytes = Data()
}

/// Called for each request: first with its heading, then with each part of its body, and when it is complete.
private func handle(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ path: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _ part: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let path, let method, let count, let kept else {
        return .NO
    }
    guard let known = kept.pointee else {
        if let refusal = refusal(ofBodyIn: values(.HEADER_KIND, of: connection)) {
            return send(refusal.response, to: connection)
        }
        kept.pointee = Unmanaged.passRetained(IncomingBody()).toOpaque()
        return .YES
    }
    let body = Unmanaged<IncomingBody>.fromOpaque(known).takeUnretainedValue()
    if let part, count.pointee > 0 {
        // Whatever the heading said.
        guard body.bytes.count + count.pointee <= IncomingBody.lengthMaximum else { return .NO }
        body.bytes.append(Data(bytes: part, count: count.pointee))
        count.pointee = 0
        return .YES
    }
    let request = Request(
        method: String(cString: method), path: String(cString: path),
        query: values(.GET_ARGUMENT_KIND, of: connection),
        headers: values(.HEADER_KIND, of: connection), body: body.bytes)
    let handler = Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue()
    let response = Awaited<Response>()
    response.begin { await handler.answer(request) }
    return response.wait(until: .distantFuture).map { send($0, to: connection) } ?? .NO
}

/// Why a body is not even read: it is too long, or does not say how long it is.
private func refusal(ofBodyIn headers: [String: String]) -> Refusal? {
    if headers["transfer-encoding"] != nil {
        return Refusal(status: 411, reason: "Say how long the body is: 'Content-Length'.")
    }
    guard let length = headers["content-length"] else { return nil }
    if Int(length).map({ $0 <= IncomingBody.lengthMaximum }) == true { return nil }
    return Refusal(
        status: 413, reason: "A body has at most \(IncomingBody.lengthMaximum) bytes.")
}

/// The headings or arguments of a request, by their names; those of headings in lower case, and together what stands in
/// several of one name.
private func values(_ kind: MHD_ValueKind, of connection: OpaquePointer) -> [String: String] {
    var values: [String: String] = [:]
    withUnsafeMutablePointer(to: &values) {
        _ = MHD_get_connection_values(connection, kind, add, $0)
    }
    return values
}

private func add(
    _ values: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let values, let name else { return .YES }
    let known = values.assumingMemoryBound(to: [String: String].self)
    let key = String(cString: name)
    let text = value.map { String(cString: $0) } ?? ""
    if kind == .HEADER_KIND {
        let before = known.pointee[key.lowercased()]
        known.pointee[key.lowercased()] = before.map { "\($0), \(text)" } ?? text
    } else {
        known.pointee[key] = text
    }
    return .YES
}

/// Called when a request is over, however it ended.
private func complete(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    guard let known = kept?.pointee else { return }
    Unmanaged<IncomingBody>.fromOpaque(known).release()
    kept?.pointee = nil
}

// MARK: - Sending

private func send(_ response: Response, to connection: OpaquePointer) -> MHD_Result {
    let (made, type): (OpaquePointer?, String)
    switch response.body {
    case .json(let data):
        var bytes = [UInt8](data)
        made = MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        type = "application/json"
    case .events(let events):
        let reader = Unmanaged.passRetained(EventReader(events)).toOpaque()
        made = MHD_create_response_from_callback(.max, 64 << 10, readEvents, reader, endEvents)
        type = "text/event-stream"
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    MHD_add_response_header(made, "Content-Type", type)
    MHD_add_response_header(made, "Cache-Control", "no-store")
    for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
    return MHD_queue_response(connection, response.status, made)
}

private func readEvents(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int
) -> Int {
    guard let context, let buffer else { return ledger_server_end() }
    let bytes = Unmanaged<EventReader>.fromOpaque(context).takeUnretainedValue().next(atMost: count)
    guard !bytes.isEmpty else { return ledger_server_end() }
    UnsafeMutableRawPointer(buffer).copyMemory(from: bytes, byteCount: bytes.count)
    return bytes.count
}

private func endEvents(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventReader>.fromOpaque(context).takeRetainedValue().end()
}
