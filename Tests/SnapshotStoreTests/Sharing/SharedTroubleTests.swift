import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB
@testable import DaybookSnapshotStore

/// What becomes of saves and files when the shared journal is not reached, answers are lost, or it holds what does
/// not fit.
@Suite struct SharedTroubleTests {
    let server = ScriptedServer()
    let ada: SharedNode
    let ben: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server)
        ben = try SharedNode.clone("ben", of: server)
    }

    private func failure(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    @Test func `without servers saves are refused, and reading goes on`() throws {
        try ada.add("Sailing")
        server.condition = .failing(.unreachable)

        let error = failure { try ada.add("Rowing") }

        #expect(error?.code == .unreachable)
        #expect(try ada.titles() == ["Sailing"])
        guard case .offline(_, let reason) = try ada.store.condition else {
            Issue.record("The store does not say that nobody is reached.")
            return
        }
        #expect(reason.code == .unreachable)
        server.condition = .serving
        try ada.add("Rowing")
        #expect(try ada.titles() == ["Rowing", "Sailing"])
        guard case .connected(_, let behind) = try ada.store.condition else {
            Issue.record("The store does not say that somebody is reached.")
            return
        }
        #expect(behind == 0)
    }

    @Test func `a save that is longer than the journal takes is refused, and none of its group`()
        async throws
    {
        let environment = try ada.store.openEnvironment()
        let writer = environment.core.writer
        let lengths = [1_000, 10, 20]
        // One after the other, so that nobody waits for numbers meanwhile.
        let requests = try lengths.map { length in
            let skill = try ada.store.newObject("Skill")
            let title = Value.string(String(repeating: "s", count: length))
            return SaveRequest(changes: [try ada.store.insert(skill, ["title": title])])
        }
        try ada.journal.entryBytesMaximum = 500
        let (isHeld, isFree) = (Flag(), Flag())

        let refusals: [StoreError.Code?] = try await withThrowingTaskGroup(
            of: StoreError.Code?.self
        ) { group in
            group.addTask {
                try await onThread {
                    try environment.write { _ in
                        isHeld.set()
                        while !isFree.isSet, writer.waitingCount < lengths.count {
                            sched_yield()
                        }
                        isFree.set()
                    }
                    return nil
                }
            }
            for request in requests {
                group.addTask { [ada] in
                    try await onThread {
                        while !isHeld.isSet { sched_yield() }
                        return code { _ = try ada.store.commit(request) }
                    }
                }
            }
            var refusals: [StoreError.Code?] = []
            for try await refusal in group { refusals.append(refusal) }
            return refusals
        }

        #expect(refusals.compactMap(\.self) == [StoreError.Code.tooLarge])
        #expect(try ada.titles().map(\.count) == [10, 20])
        let appends = try ada.journal.calls.filter {
            if case .append = $0.request { true } else { false }
        }
        #expect(appends.allSatisfy { $0.outcome == .answered(.accepted) })
    }

    @Test func `a file is opened and read without servers`() throws {
        try ada.add("Sailing")
        try ada.close()
        server.condition = .failing(.unreachable)

        #expect(try ada.titles() == ["Sailing"])
        #expect(failure { try ada.store.pull() }?.code == .unreachable)
    }

    /// Saves while the answer of the servers is lost.
    private func saveInDoubt(_ landing: WriteFault.Landing) throws -> (SaveDoubt, ObjectID) {
        let skill = try ada.store.newObject("Skill")
        try ada.journal.script = FaultScript(appends: [.inDoubt(landing)])
        let error = failure {
            try ada.store.commit(
                SaveRequest(changes: [try ada.store.insert(skill, ["title": .string("Doubt")])]))
        }
        #expect(error?.code == .inDoubt)
        #expect(try ada.titles().isEmpty)
        return (try #require(error?.doubt), skill)
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost])
    func `a save in doubt that nobody makes again keeps nothing from coming`(
        _ landing: WriteFault.Landing
    ) async throws {
        let store = try ada.store
        store.followSharedJournal()
        _ = try saveInDoubt(landing)

        if landing == .landed { try ben.store.pull() }
        try ben.add("Rowing")
        await withCheckedContinuation { done in server.tell { done.resume() } }
        // What was asked for before is done.
        store.ahead?.end()

        #expect(try ada.titles() == (landing == .landed ? ["Doubt", "Rowing"] : ["Rowing"]))
        guard case .connected(_, let behind)? = store.sharing?.condition else {
            Issue.record("The node is not connected.")
            return
        }
        #expect(behind == 0)
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost, .later])
    func `a save in doubt is there once when it has been settled`(_ landing: WriteFault.Landing)
        throws
    {
        let (doubt, skill) = try saveInDoubt(landing)

        let result = try ada.store.settle(doubt)
        try ada.journal.land()

        #expect(result?.sequence == SequenceNumber(2))
        #expect(result?.changes.map(\.object) == [skill])
        #expect(try ada.titles() == ["Doubt"])
        #expect(server.head.sequence == SequenceNumber(2))
        try ben.store.pull()
        #expect(try ben.tables() == ada.tables())
    }

    @Test func `a save in doubt in whose place another entry stands has saved nothing`() throws {
        let (doubt, _) = try saveInDoubt(.later)
        try ben.add("Quicker")

        let result = try ada.store.settle(doubt)
        try ada.journal.land()

        #expect(result == nil)
        #expect(try ada.titles() == ["Quicker"])
        #expect(server.head.sequence == SequenceNumber(2))
    }

    @Test func `what was saved after a doubt stands in its place, or behind it`() throws {
        let (lost, _) = try saveInDoubt(.lost)
        try ada.add("After a lost one")
        #expect(try ada.store.settle(lost) == nil)
        #expect(try ada.titles() == ["After a lost one"])

        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        let error = failure { try ada.add("Landed") }
        try ada.add("After one that landed")
        let doubt = try #require(error?.doubt)
        #expect(try ada.store.settle(doubt) != nil)
        #expect(try ada.titles() == ["After a lost one", "After one that landed", "Landed"])
    }

    @Test func `a save in doubt is settled while another node has its turn`() async throws {
        let (doubt, _) = try saveInDoubt(.landed)
        _ = try ben.journal.enter(after: server.head, bytes: 1)

        async let settled = onThread { [ada] in try ada.store.settle(doubt) }
        try await onThread { [server, ben] in
            server.awaitQueue(of: 1)
            try ben.journal.leave()
        }

        #expect(try await settled != nil)
        #expect(try ada.titles() == ["Doubt"])
    }

    @Test func `a save whose answer was lost is not made twice while another node has its turn`()
        async throws
    {
        let patient = try SharedNode.clone("patient", of: server, patience: .seconds(60))
        try patient.journal.script = FaultScript(appends: [
            .inDoubt(.landed),
            .overtaken { [ben] server in _ = try ben.journal.enter(after: server.head, bytes: 1) },
        ])

        async let saved: Void = onThread { try patient.add("Once") }
        try await onThread { [server, ben] in
            server.awaitQueue(of: 1)
            try ben.journal.leave()
        }

        try await saved
        #expect(try patient.titles() == ["Once"])
        #expect(server.head.sequence == SequenceNumber(2))
    }

    @Test func `what was accepted before a node was killed is there when its file is opened`()
        throws
    {
        _ = try saveInDoubt(.landed)

        try ada.close()

        #expect(try ada.titles() == ["Doubt"])
    }

    @Test
    func `an entry that does not fit stops every node before it, until the owner cuts it off`()
        throws
    {
        try ada.add("Sailing")
        try server.add([1, 2, 3], login: "mallory")
        let unknown = Change(
            object: ObjectID(entity: EntityNumber(rawValue: 99), number: 1),
            kind: .insert(values: [], members: []))
        try server.add(EntryPayload.bytes(EntryHeader(), [unknown]), login: "mallory")

        for node in [ada, ben] {
            let error = failure { try node.store.pull() }
            #expect(error?.code == .quarantined)
            #expect(error?.message.contains("Entry 3") == true)
            #expect(error?.message.contains("'mallory'") == true)
            #expect(try node.titles() == ["Sailing"])
            #expect(failure { try node.add("Rowing") }?.code == .quarantined)
        }

        server.cut(from: SequenceNumber(4))
        #expect(failure { try ada.store.pull() }?.code == .quarantined)
        server.cut(from: SequenceNumber(3))
        try ada.store.pull()
        try ada.add("Rowing")
        try ben.store.pull()
        #expect(try ben.titles() == ["Rowing", "Sailing"])
    }

    @Test(arguments: EntryDamage.allCases)
    func `an entry whose bytes were changed on the way is not taken in`(_ damage: EntryDamage)
        throws
    {
        try ben.close()
        try ada.add("Sailing")
        try ada.add("Rowing")
        try ben.close(andReopenWith: FaultScript(pages: [.damaged(at: 1, damage)]))

        #expect(try ben.titles() == ["Sailing"])
        guard case .stopped(let error) = try ben.store.condition else {
            Issue.record("The store does not say that it has stopped.")
            return
        }
        #expect(error.code == .quarantined)
        try ben.store.pull()
        #expect(try ben.titles() == ["Rowing", "Sailing"])
    }

    @Test func `pages that are cut short, or fail, are asked for again`() throws {
        try ben.close()
        for number in 1...9 { try ada.add("\(number)") }
        try ben.close(
            andReopenWith: FaultScript(pages: [.cut(to: 1), .cut(to: 2), .fails(.unreachable)]))

        #expect(try ben.titles().count == 3)
        try ben.store.pull()
        #expect(try ben.tables() == ada.tables())
    }

    @Test func `what was read ahead of an entry that does not fit is not taken in`() throws {
        try ben.close()
        try ada.add("Sailing")
        try ada.add("Rowing")
        try server.add([1, 2, 3], login: "mallory")
        try server.add(SharedNode.foreignEntry("Read ahead", after: server.head.sequence))
        try ben.close(
            andReopenWith: FaultScript(pages: [.cut(to: 1), .cut(to: 1), .cut(to: 1), .cut(to: 1)]))

        #expect(try ben.titles() == ["Rowing", "Sailing"])
        guard case .stopped(let error) = try ben.store.condition else {
            Issue.record("The store does not say that it has stopped.")
            return
        }
        #expect(error.code == .quarantined)
        #expect(error.message.contains("Entry 4"))

        server.cut(from: SequenceNumber(4))
        try ada.add("Diving")
        try ben.store.pull()
        #expect(try ben.titles() == ["Diving", "Rowing", "Sailing"])
        #expect(try ben.tables() == ada.tables())
        #expect(try ben.store.verify().findings.isEmpty)
    }

    @Test func `a file that has gone another way is told so, and cut back takes it along again`()
        throws
    {
        try ben.close()
        try ada.add("Sailing")
        try ada.add("Rowing")
        server.cut(from: SequenceNumber(3))
        try ben.add("Swimming")

        let error = failure { try ada.store.pull() }
        #expect(error?.code == .diverged)
        #expect(failure { try ada.add("Diving") }?.code == .diverged)
        #expect(try ada.titles() == ["Rowing", "Sailing"])

        let common = try ada.store.commonHead(with: ada.journal)
        #expect(common.sequence == SequenceNumber(2))
        try ada.store.cutBack(to: common.sequence)
        #expect(try ada.titles() == ["Sailing"])
        try ada.store.pull()
        #expect(try ada.titles() == ["Sailing", "Swimming"])
        #expect(try ada.tables() == ben.tables())
        #expect(try ada.store.verify().findings.isEmpty)
        try ada.add("Diving")
    }

    @Test func `a file that was cut back far hears of the entries that come then`() throws {
        try ben.close()
        for title in ["Sailing", "Rowing", "Diving", "Gliding"] { try ada.add(title) }
        server.cut(from: SequenceNumber(3))
        try ben.add("Swimming")
        #expect(failure { try ada.store.pull() }?.code == .diverged)
        try ada.store.cutBack(to: SequenceNumber(2))
        try ada.store.pull()
        #expect(try ada.store.head() == SequenceNumber(3))
        #expect(try ada.store.sharing?.mayLack(SequenceNumber(4)) == true)

        try ben.add("Climbing")
        try ada.store.pull()

        #expect(try ada.titles() == ["Climbing", "Sailing", "Swimming"])
        guard case .connected(let head, let behind)? = try ada.store.sharing?.condition else {
            Issue.record("The node is not connected.")
            return
        }
        #expect(head == SequenceNumber(4))
        #expect(behind == 0)
    }

    @Test func `a linked file that is opened without its link takes no save, until it is unlinked`()
        throws
    {
        let skill = try ada.add("Sailing")
        try ada.close()
        let alone = try TestStore.open(at: ada.path, options: ada.options(linked: false))
        func add() throws -> ObjectID {
            let skill = try alone.newObject("Skill")
            try alone.commit(
                SaveRequest(changes: [alone.insert(skill, ["title": .string("Alone")])]))
            return skill
        }

        #expect(failure { _ = try add() }?.code == .unreachable)
        #expect(try alone.head() == SequenceNumber(2))
        try alone.unlink()
        let added = try add()

        #expect(added != skill)
        #expect(try alone.head() == SequenceNumber(3))
        #expect(server.head.sequence == SequenceNumber(2))
        try alone.close()
        #expect(failure { _ = try ada.store }?.code == .unreachable)
    }

    /// Unlinks the file of a node as another program does, which knows nothing of those that have it open.
    private func unlinkElsewhere(_ node: SharedNode) throws {
        let meta = try node.store.parts.tables.meta
        try node.store.openEnvironment().write {
            try StoreMetadata.remove(StoreMetadata.Name.link, meta, in: $0)
        }
    }

    @Test func `a file that another program has unlinked gives and takes nothing more`() throws {
        try ada.add("Sailing")
        try unlinkElsewhere(ada)
        try ben.add("Rowing")
        try ben.store.setTag("audited")

        #expect(failure { try ada.store.pull() }?.code == .unreachable)
        #expect(failure { try ada.add("Alone") }?.code == .unreachable)
        #expect(failure { try ada.store.exchangeMarks() }?.code == .unreachable)

        #expect(try ada.titles() == ["Sailing"])
        #expect(try ada.store.tags().isEmpty)
        #expect(server.head.sequence == SequenceNumber(3))
        try ada.close()
        let alone = try TestStore.open(at: ada.path, options: ada.options(linked: false))
        let skill = try alone.newObject("Skill")
        try alone.commit(
            SaveRequest(changes: [alone.insert(skill, ["title": .string("Alone")])]))
        #expect(try alone.head() == SequenceNumber(3))
        #expect(server.head.sequence == SequenceNumber(3))
        try alone.close()
    }

    @Test func `a file is not unlinked while this process has it open with its link`() throws {
        try ada.add("Sailing")
        let alone = try TestStore.open(at: ada.path, options: ada.options(linked: false))

        #expect(failure { try alone.unlink() }?.code == .busy)

        try ada.add("Rowing")
        #expect(server.head.sequence == SequenceNumber(3))
        try alone.close()
    }

    @Test func `a file that is linked elsewhere is not opened`() throws {
        try ada.close()
        var options = ada.options()
        options.link = SharedLink(
            to: "elsewhere", identify: { throw SharedJournalError(.unreachable, "") },
            connect: { _, _ in throw SharedJournalError(.unreachable, "") })

        let error = failure { _ = try TestStore.open(at: ada.path, options: options) }

        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("'scripted'") == true)
    }

    @Test func `of two first nodes one sets the model, and the other begins with it`() throws {
        let server = ScriptedServer()
        let ada = try SharedNode.first("ada", of: server)
        let ben = try SharedNode.first("ben", of: server)

        try ben.add("Sailing")
        try ada.store.pull()

        #expect(try ada.titles() == ["Sailing"])
        #expect(server.entries.map(\.login) == ["ada", "ben"])
    }
}

/// Something that one thread does and others wait for.
private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock(\.self) }

    func set() { value.withLock { $0 = true } }
}
