import DaybookPQ
import DaybookTestSupport
import Foundation
import Synchronization

/// Passes bytes on between programs and a server, until something happens to one piece of them: what one side has sent
/// and the proxy has read at once. libpq and PostgreSQL send a message, or a row of them, in one piece.
final class FaultyProxy: Sendable {
    enum Direction: CaseIterable, Sendable { case toServer, toClient }

    /// What happens to a piece.
    enum Fault: CaseIterable, Sendable {
        /// Its connection ends in its place.
        case cut
        /// Its connection ends after the first half of it.
        case half
        /// It comes when the side that sent it or waits for it has given up, and nobody hears what it is answered.
        case late
        /// It comes a byte at a time.
        case trickle
    }

    let port: Int
    private let server: Int
    private let listening: Int32
    private let state = Mutex(State())

    private struct State {
        /// How many pieces have passed so far.
        var pieces: [Direction: Int] = [.toServer: 0, .toClient: 0]
        var plan: (fault: Fault, direction: Direction, piece: Int)?
        /// What decides to which pieces something happens; nil for none.
        var chance: SeededGenerator?
    }

    init(to server: PostgresServer) throws {
        self.server = server.port
        (listening, port) = try listeningSocket()
        Thread.detachNewThread { [listening, weak self] in
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0 else { break }
                Thread.detachNewThread { [weak self] in
                    guard let self else { return _ = close(client) }
                    pass(client)
                }
            }
            close(listening)
        }
    }

    // Whoever waits for connections closes the socket: its number may be another one's as soon as it is closed.
    deinit { shutdown(listening, Int32(SHUT_RDWR)) }

    /// Has something happen to one of the next pieces, once.
    ///
    /// - Parameters:
    ///   - fault: What happens.
    ///   - direction: To whom the piece is sent.
    ///   - count: How many pieces pass before it.
    func arm(_ fault: Fault, _ direction: Direction, after count: Int = 0) {
        state.withLock { $0.plan = (fault, direction, $0.pieces[direction, default: 0] + count) }
    }

    /// Has something happen to one of thirty pieces, from now on.
    ///
    /// - Parameter seed: What decides to which; nil for none any more.
    func disturb(by seed: UInt64?) {
        state.withLock { $0.chance = seed.map(SeededGenerator.init) }
    }

    /// Whether nothing has happened yet.
    var isArmed: Bool { state.withLock { $0.plan != nil } }

    private func pass(_ client: Int32) {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(client)
            close(upstream)
        }
        guard atLoopback(port: server, { connect(upstream, $0, $1) }) == 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var files = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&files, 2, -1) > 0 else { return }
            for (index, direction) in [Direction.toServer, .toClient].enumerated()
            where files[index].revents != 0 {
                let from = files[index].fd
                let to = files[1 - index].fd
                let count = read(from, &buffer, buffer.count)
                guard count > 0 else { return }
                let piece = buffer[..<count]
                switch fault(direction) {
                case nil: guard send(piece, to: to) else { return }
                case .cut: return
                case .half:
                    _ = send(piece.prefix(count / 2), to: to)
                    return
                case .late:
                    waitForEnd(of: client)
                    _ = send(piece, to: to)
                    return
                case .trickle:
                    for byte in piece { guard send([byte], to: to) else { return } }
                }
            }
        }
    }

    /// What happens to the next piece.
    private func fault(_ direction: Direction) -> Fault? {
        state.withLock { state in
            let piece = state.pieces[direction, default: 0]
            state.pieces[direction] = piece + 1
            if var chance = state.chance {
                defer { state.chance = chance }
                guard Int.random(in: 0..<30, using: &chance) == 0 else { return nil }
                return Fault.allCases.randomElement(using: &chance)
            }
            guard let plan = state.plan, plan.direction == direction, plan.piece == piece else {
                return nil
            }
            state.plan = nil
            return plan.fault
        }
    }

    /// Waits until a client has given up. What it sends meanwhile is dropped.
    private func waitForEnd(of client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while read(client, &buffer, buffer.count) > 0 {}
    }

    private func send<Bytes: Collection<UInt8>>(_ bytes: Bytes, to file: Int32) -> Bool {
        let bytes = Array(bytes)
        var written = 0
        while written < bytes.count {
            let more = bytes[written...].withUnsafeBytes {
                Foundation.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return false }
            written += more
        }
        return true
    }
}

extension SharedStore {
    /// How a program reaches the server through a proxy.
    func servers(through proxy: FaultyProxy) throws -> ServerDescription {
        try ServerDescription(
            "host=127.0.0.1 port=\(proxy.port) user=\(name) dbname=postgres sslmode=disable "
                + "gssencmode=disable")
    }
}
