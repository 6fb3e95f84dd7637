import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB
@testable import DaybookSnapshotStore

/// How saves of a node wait for their turn, and what the node remembers of those that are in doubt.
@Suite struct SharedGateTests {
    let server = ScriptedServer()
    let ada: SharedNode
    let ben: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server)
        ben = try SharedNode.clone("ben", of: server)
    }

    /// What somebody else appends who is quicker.
    private var overtaking: WriteFault {
        .overtaken { try $0.add(SharedNode.foreignEntry("quick", after: $0.head.sequence)) }
    }

    private func gate(of node: SharedNode) throws -> JournalGate {
        try #require(node.store.sharing)
    }

    private func failure(_ body: () throws -> Void) throws -> StoreError {
        try #require(#expect(throws: StoreError.self) { try body() })
    }

    // MARK: - Turns

    /// Another one may have the turn, and wait for the file.
    @Test func `a node that waits for its turn keeps no process from writing to its file`()
        async throws
    {
        try ada.journal.script = FaultScript(appends: [overtaking])
        try ada.add("Sailing")
        // From now on it queues up at once.
        _ = try ben.journal.enter(after: server.head, bytes: 1)
        let file = try ada.store.openEnvironment().core.pair

        async let saved = onThread { [ada] in try ada.add("Rowing") }
        let theirs = try ben.journal
        let isHeld = try await onThread { [server] in
            server.awaitQueue(of: 1)
            defer { theirs.leave() }
            return file.writing.isHeld
        }

        _ = try await saved
        #expect(!isHeld)
        #expect(try ada.titles() == ["Rowing", "Sailing", "quick"])
        #expect(try !ada.journal.hasTurn)
    }

    @Test func `a save that was overtaken goes on trying when a page does not come`() throws {
        let patient = try SharedNode.clone("patient", of: server, patience: .seconds(60))
        try patient.journal.script = FaultScript(
            appends: [overtaking],
            pages: [.fails(.unreachable), .goesWell, .fails(.unreachable)])

        try patient.add("Sailing")

        #expect(try patient.titles() == ["Sailing", "quick"])
    }

    private struct NoRoom: Error {}

    @Test func `what was accepted and could not be written is brought in with the next news`()
        throws
    {
        try ada.add("Sailing")
        let gate = try gate(of: ada)
        let head = server.head.sequence
        #expect(!gate.mayLack(head))

        #expect(throws: NoRoom.self) { try gate.catchUp { _ in throw NoRoom() } }

        #expect(gate.mayLack(head))
        try ada.store.pull()
        #expect(!gate.mayLack(head))
    }
}
