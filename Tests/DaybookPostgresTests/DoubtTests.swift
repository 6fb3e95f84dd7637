import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Connections that end between an append and its answer.
@Suite struct DoubtTests {
    @Test(arguments: [false, true])
    func `an append whose answer is lost lands once when it is repeated`(_ inTurn: Bool)
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let before = group(after: .start, [8], [9])
        let first = group(after: before.after, [1], [2])

        try await onThread {
            let proxy = try CuttingProxy(to: store.server)
            let journal = PostgresJournal(try store.terms(through: proxy), store.identity)
            // From then on the statement is prepared, and its next answer is about entries.
            #expect(try journal.append(before) == .accepted)
            if inTurn { _ = try journal.enter(after: before.after, bytes: 1) }
            // In a turn the answer to COMMIT is what matters: the one before is let through.
            proxy.holdAnswers(after: inTurn ? 1 : 0)
            let error = #expect(throws: SharedJournalError.self) { try journal.append(first) }
            #expect(error?.code == .inDoubt)
            let landed = try store.number(
                "SELECT count(*) FROM daybook.entry WHERE token = \(first.token)")
            #expect(landed == 2)
            #expect(try journal.retried(first) == .accepted)
            let page = try journal.page(after: before.after, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1], [2]])
            #expect(page.entries[0].token == first.token)
        }
    }
}

extension DoubtTests {
    @Test func `a page whose connection ends in the middle is not waited for`() async throws {
        let store = try await onThread { try SharedStore() }
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let all = group(after: .start, bytes, bytes, bytes, bytes)

        let error = try await onThread {
            let proxy = try CuttingProxy(to: store.server)
            let journal = PostgresJournal(try store.terms(through: proxy), store.identity)
            #expect(try journal.append(all) == .accepted)
            proxy.holdAnswers(after: 4)
            return #expect(throws: SharedJournalError.self) {
                try journal.page(after: .start, bytes: 8 << 20)
            }
        }

        #expect(error?.code == .unreachable)
        // At the deadline it would be late.
        #expect((error?.cause as? PostgresError)?.code == .unreachable)
    }
}

/// Passes bytes on to a server, until it is told to end connections in place of the server's answer.
final class CuttingProxy: Sendable {
    let port: Int
    private let server: Int
    private let listening: Int32
    /// How many answers pass yet; nil for all.
    private let passing = Mutex<Int?>(nil)

    init(to server: PostgresServer) throws {
        self.server = server.port
        let (file, port) = try listeningSocket()
        (listening, self.port) = (file, port)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { [self] in pass(client) }
            }
        }
    }

    /// The next answer is not passed on, or one after so many: its connection ends, and later ones work.
    func holdAnswers(after count: Int = 0) { passing.withLock { $0 = count } }

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
            for (from, to) in [(0, upstream), (1, client)] where files[from].revents != 0 {
                let count = read(files[from].fd, &buffer, buffer.count)
                guard count > 0 else { return }
                if from == 1 && !passes() { return }
                var written = 0
                while written < count {
                    let more = buffer[written..<count].withUnsafeBytes {
                        send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard more > 0 else { return }
                    written += more
                }
            }
        }
    }

    /// Whether an answer passes; the one that does not is the last that is held.
    private func passes() -> Bool {
        passing.withLock { passing in
            guard let left = passing else { return true }
            passing = left == 0 ? nil : left - 1
            return left > 0
        }
    }
}

extension SharedStore {
    /// The terms of a node that reaches the server through a proxy.
    func terms(through proxy: CuttingProxy) throws -> PostgresTerms {
        PostgresTerms(
            servers: try ServerDescription(
                "host=127.0.0.1 port=\(proxy.port) user=\(name) dbname=postgres sslmode=disable "
                    + "gssencmode=disable"),
            store: name, node: UUID(), program: "tests", protection: .waived,
            limits: .patient, clock: microseconds)
    }
}
