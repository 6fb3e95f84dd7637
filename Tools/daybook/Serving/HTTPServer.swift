// The room of the page that is served: HTTP, who may ask, the page, and the events that keep it new.

import CDaybookHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A request, as far as anything depends on it.
struct HTTPRequest: Sendable {
    let method: String
    let path: String
    /// By their names in lower case.
    let headers: [String: String]
}

/// What is answered.
struct HTTPResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8], type: String)
        /// Bytes that several clients may be taking.
        case page(KeptBytes, type: String)
        /// Events for as long as the client listens.
        case events(EventStream)
    }

    var status: UInt32 = 200
    let body: Body
    var headers: [(String, String)] = []

    /// A status with a sentence.
    init(status: UInt32, _ sentence: String) {
        self.status = status
        body = .bytes(Array((sentence + "\n").utf8), type: "text/plain; charset=utf-8")
    }

    init(_ body: Body) {
        self.body = body
    }
}

/// Serves requests over HTTP to this machine alone, with libmicrohttpd. Each connection has a thread of its own.
///
/// It knows nothing of stores.
final class HTTPServer {
    typealias Answer = @Sendable (HTTPRequest) -> HTTPResponse

    /// How many connections there are at a time.
    private static let connectionsMaximum: UInt32 = 256
    /// How long a client may be silent that has not asked yet, in seconds: it keeps others out.
    private static let patienceForRequests: UInt32 = 5
    /// How long one may take nothing of its answer, in seconds.
    fileprivate static let patience: UInt32 = 60

    /// The port that is served.
    let port: UInt16
    private let daemon: OpaquePointer
    private let handler: Unmanaged<Handler>

    /// Begins to serve a port, or any that is free for 0.
    ///
    /// - Parameters:
    ///   - port: The port on the loopback interface.
    ///   - answer: Answers a request, on any thread.
    /// - Throws: ``ToolError`` when the port cannot be had.
    init(port: UInt16, _ answer: @escaping Answer) throws {
        handler = Unmanaged.passRetained(Handler(answer))
        errno = 0
        guard
            let daemon = daybook_http_start(
                port, Self.connectionsMaximum, Self.patienceForRequests, handle, handler.toOpaque())
        else {
            let number = errno
            handler.release()
            throw ToolError.system(
                port == 0 ? "No port can be served" : "Port \(port) cannot be served", number)
        }
        self.daemon = daemon
        self.port = daybook_http_port(daemon)
    }

    /// Ends every connection, once its thread has noticed, and gives the port back.
    func stop() {
        MHD_stop_daemon(daemon)
        handler.release()
    }
}

/// What libmicrohttpd gives back with each request.
private final class Handler: Sendable {
    let answer: HTTPServer.Answer

    init(_ answer: @escaping HTTPServer.Answer) {
        self.answer = answer
    }
}

/// Called for each request: when its heading has come, and when all of it has.
private func handle(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ path: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>?,
    _ kept: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let path, let method, let count, let kept,
        // Nothing that is asked for has a body.
        count.pointee == 0
    else { return .NO }
    let headers = headers(of: connection)
    if kept.pointee == nil {
        // A body is not even read.
        if headers["transfer-encoding"] != nil || headers["content-length", default: "0"] != "0" {
            return send(HTTPResponse(status: 413, "Nothing is taken here."), to: connection)
        }
        // An answer may be given only when all of the request has come.
        kept.pointee = context
        return .YES
    }
    daybook_http_wait(connection, HTTPServer.patience)
    let request = HTTPRequest(
        method: String(cString: method), path: String(cString: path), headers: headers)
    let handler = Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue()
    return send(handler.answer(request), to: connection)
}

private func headers(of connection: OpaquePointer) -> [String: String] {
    var headers: [String: String] = [:]
    withUnsafeMutablePointer(to: &headers) {
        _ = MHD_get_connection_values(connection, .HEADER_KIND, add, $0)
    }
    return headers
}

private func add(
    _ headers: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let headers, let name else { return .YES }
    let known = headers.assumingMemoryBound(to: [String: String].self)
    let key = String(cString: name).lowercased()
    let text = value.map { String(cString: $0) } ?? ""
    // Two of one name are not like one of them.
    known.pointee[key] = known.pointee[key].map { "\($0), \(text)" } ?? text
    return .YES
}

private func send(_ response: HTTPResponse, to connection: OpaquePointer) -> MHD_Result {
    let (made, type): (OpaquePointer?, String)
    switch response.body {
    case .bytes(var bytes, let kind):
        made = MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        type = kind
    case .page(let page, let kind):
        let kept = Unmanaged.passRetained(page).toOpaque()
        made = MHD_create_response_from_callback(
            UInt64(page.bytes.count), 64 << 10, readPage, kept, endPage)
        type = kind
        if made == nil { endPage(kept) }
    case .events(let stream):
        let kept = Unmanaged.passRetained(stream).toOpaque()
        made = MHD_create_response_from_callback(.max, 64 << 10, readEvents, kept, endEvents)
        type = "text/event-stream"
        if made == nil { endEvents(kept) }
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    MHD_add_response_header(made, "Content-Type", type)
    // A connection that waits for the next request keeps others out.
    MHD_add_response_header(made, "Connection", "close")
    for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
    return MHD_queue_response(connection, response.status, made)
}

private func readPage(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64,
    _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int
) -> Int {
    guard let context, let buffer else { return daybook_http_end() }
    let page = Unmanaged<KeptBytes>.fromOpaque(context).takeUnretainedValue()
    let rest = page.bytes.dropFirst(Int(clamping: position)).prefix(count)
    guard !rest.isEmpty else { return daybook_http_end() }
    rest.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(buffer), count: count)
            .copyMemory(from: $0)
    }
    return rest.count
}

private func endPage(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<KeptBytes>.fromOpaque(context).release()
}

private func readEvents(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ count: Int
) -> Int {
    guard let context, let buffer else { return daybook_http_end() }
    let stream = Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
    let bytes = stream.next(atMost: count)
    guard !bytes.isEmpty else { return daybook_http_end() }
    UnsafeMutableRawPointer(buffer).copyMemory(from: bytes, byteCount: bytes.count)
    return bytes.count
}

private func endEvents(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventStream>.fromOpaque(context).release()
}
