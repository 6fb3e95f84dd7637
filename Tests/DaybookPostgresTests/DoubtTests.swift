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
            let proxy = try FaultyProxy(to: store.server)
            let journal = PostgresJournal(try store.terms(through: proxy), store.identity)
            // From then on the statement is prepared, and its next answer is about entries.
            #expect(try journal.append(before) == .accepted)
            if inTurn { _ = try journal.enter(after: before.after, bytes: 1) }
            // In a turn the answer to COMMIT is what matters: the one before is let through.
            proxy.arm(.cut, .toClient, after: inTurn ? 1 : 0)
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
            let proxy = try FaultyProxy(to: store.server)
            let journal = PostgresJournal(try store.terms(through: proxy), store.identity)
            #expect(try journal.append(all) == .accepted)
            proxy.arm(.cut, .toClient, after: 4)
            return #expect(throws: SharedJournalError.self) {
                try journal.page(after: .start, bytes: 8 << 20)
            }
        }

        #expect(error?.code == .unreachable)
        // At the deadline it would be late.
        #expect((error?.cause as? PostgresError)?.code == .unreachable)
    }
}

extension SharedStore {
    /// The terms of a node that reaches the server through a proxy.
    func terms(through proxy: FaultyProxy) throws -> PostgresTerms {
        PostgresTerms(
            servers: try servers(through: proxy), store: name, node: UUID(), program: "tests",
            protection: .waived,
            limits: .patient, clock: microseconds)
    }
}
