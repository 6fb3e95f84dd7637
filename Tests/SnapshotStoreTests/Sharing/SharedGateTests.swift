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

    // MARK: - Doubts

    @Test func `a doubt about what nobody can save again keeps nothing from coming`() async throws {
        let store = try ada.store
        store.followSharedJournal()
        try ada.journal.script = FaultScript(appends: [.inDoubt(.lost)])
        let payload = try SharedNode.foreignEntry("Doubt", after: server.head.sequence)
        let code = try failure {
            try store.writing { [parts = store.parts] transaction in
                var draft = EntryDraft(
                    parts, after: try LastCommitState.current(parts, in: transaction))
                try draft.fold(payload, in: transaction)
                _ = try draft.append(
                    recordedAt: .max / 2, occurredAt: nil, in: transaction)
            }
        }.code
        #expect(code == .inDoubt)

        try ben.add("Rowing")
        await withCheckedContinuation { done in server.tell { done.resume() } }
        store.ahead?.end()

        #expect(try ada.titles() == ["Rowing"])
    }

    @Test func `a doubt in whose place the node has saved keeps nothing from coming`() async throws
    {
        let store = try ada.store
        store.followSharedJournal()
        try ada.journal.script = FaultScript(appends: [.inDoubt(.later)])
        let error = try failure { try ada.add("Doubt") }
        #expect(error.code == .inDoubt)
        try ada.add("In its place")

        try ben.add("Rowing")
        await withCheckedContinuation { done in server.tell { done.resume() } }
        store.ahead?.end()

        #expect(try ada.titles() == ["In its place", "Rowing"])
        try ada.journal.land()
        #expect(try store.settle(#require(error.doubt)) == nil)
        #expect(try ada.titles() == ["In its place", "Rowing"])
    }

    @Test func `what saves in doubt would have answered is kept as long as somebody may ask`()
        throws
    {
        let gate = try gate(of: ada)
        func saveInDoubt() throws -> StoreError {
            try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
            let error = try failure { try ada.add("Doubt") }
            #expect(error.code == .inDoubt)
            try ada.store.pull()
            return error
        }
        let held = try saveInDoubt()
        let heldToo = try saveInDoubt()
        #expect(gate.state.withLock(\.results.count) == 2)
        #expect(try ada.store.settle(#require(held.doubt)) != nil)
        #expect(try ada.store.settle(#require(heldToo.doubt)) != nil)
        withExtendedLifetime((held, heldToo)) {}
    }

    @Test func `what saves in doubt would have answered is forgotten with their errors`() throws {
        let gate = try gate(of: ada)
        for _ in 0..<3 {
            try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
            #expect(code { try ada.add("Doubt") } == .inDoubt)
            try ada.store.pull()
        }

        #expect(gate.state.withLock(\.results.count) == 1)
        #expect(try ada.titles() == ["Doubt", "Doubt", "Doubt"])
    }

    // MARK: - Beginning

    /// A link whose first journal that appends loses an answer.
    private func losingLink(
        to server: ScriptedServer, _ landing: WriteFault.Landing, patience: Duration
    ) -> SharedLink {
        var link = SharedLink(
            to: "scripted", identify: { server.identity },
            connect: { _, _ in
                let isBegun = server.head.sequence > .zero
                return ScriptedJournal(
                    server, login: "eva",
                    script: FaultScript(appends: isBegun ? [] : [.inDoubt(landing)]))
            })
        link.saveTimeout = patience
        return link
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost])
    func `a shared store whose first answer was lost is begun by the next attempt`(
        _ landing: WriteFault.Landing
    ) throws {
        let server = ScriptedServer()
        let folder = try TemporaryDirectory()
        let path = folder.path("eva.daybook")
        let version = try ModelVersion(first: .sample)
        func make(patience: Duration) throws {
            try Store.makeCopy(
                of: losingLink(to: server, landing, patience: patience), at: path,
                version: version, options: .counting())
        }

        #expect(code { try make(patience: .zero) } == .inDoubt)
        #expect(!FileManager.default.fileExists(atPath: path))
        try make(patience: .seconds(60))

        #expect(server.head.sequence == SequenceNumber(1))
        var options = StoreOptions.counting()
        options.link = losingLink(to: server, landing, patience: .zero)
        let store = try TestStore.open(at: path, options: options)
        #expect(try store.headDigest() == server.head.digest)
        try store.close()
    }
}
