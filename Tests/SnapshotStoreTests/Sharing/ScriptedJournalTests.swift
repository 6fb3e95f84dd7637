import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Synchronization
import Testing

/// The journal that stands for shared ones in tests: it keeps their rules, and fails as it is told.
@Suite struct ScriptedJournalTests {
    private let server = ScriptedServer()

    @Test(arguments: SharedJournalRule.all)
    func `a scripted journal keeps the rules of shared ones`(_ rule: SharedJournalRule) async throws
    {
        try await rule.check { ScriptedServer(numbers: $0) }
    }

    private func node(_ login: String = "ada", _ script: FaultScript = FaultScript())
        -> ScriptedJournal
    {
        ScriptedJournal(server, login: login, script: script)
    }

    private func group(
        after head: SharedHead, token: Int64 = 7, _ payloads: [UInt8]...
    ) -> SharedGroup {
        SharedGroup(after: head, at: server.now(), token: token, payloads: payloads)
    }

    // MARK: - Writing

    @Test func `who is overtaken is behind what came first`() throws {
        let ada = node("ada", FaultScript(appends: [.overtaken { try $0.add([9], login: "ben") }]))
        let first = group(after: .start, [1])

        #expect(try ada.append(first) == .behind)

        #expect(server.entries.map(\.payload) == [[9]])
        #expect(server.entries.map(\.login) == ["ben"])
        #expect(ada.calls == [ScriptedCall(.append(first), .answered(.behind))])
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost, .later], [false, true])
    func `an append in doubt is settled by the same group`(
        _ landing: WriteFault.Landing, _ inTurn: Bool
    ) throws {
        let ada = node("ada", FaultScript(appends: [.inDoubt(landing)]))
        let ben = node("ben")
        let first = group(after: .start, [1], [2])
        if inTurn { _ = try ada.enter(after: .start, bytes: 1) }

        let error = #expect(throws: SharedJournalError.self) { try ada.append(first) }

        #expect(error?.code == .inDoubt)
        #expect(!ada.hasTurn)
        #expect(server.entries.count == (landing == .landed ? 2 : 0))
        #expect(try ada.append(first) == .accepted)
        #expect(ada.land().isEmpty)
        #expect(server.entries.map(\.payload) == [[1], [2]])
        #expect(try ben.append(group(after: first.after, [3])) == .accepted)
    }

    @Test func `an append that lands later than another's has no place any more`() throws {
        let ada = node("ada", FaultScript(appends: [.inDoubt(.later)]))
        let first = group(after: .start, [1])
        #expect(throws: SharedJournalError.self) { try ada.append(first) }

        #expect(try node("ben").append(group(after: .start, [2])) == .accepted)
        ada.land()

        #expect(server.entries.map(\.payload) == [[2]])
        #expect(try ada.append(first) == .behind)
    }

    @Test func `an append that lands later may do so before it is repeated, and does so once`()
        throws
    {
        let ada = node("ada", FaultScript(appends: [.inDoubt(.later)]))
        let first = group(after: .start, [1])
        #expect(throws: SharedJournalError.self) { try ada.append(first) }

        ada.land()
        #expect(server.entries.map(\.payload) == [[1]])
        ada.land()

        #expect(try ada.append(first) == .accepted)
        #expect(server.entries.map(\.payload) == [[1]])
    }

    @Test(arguments: SharedJournalError.Code.allCases)
    func `a call fails with the code of its script, does nothing, and ends its turn`(
        _ code: SharedJournalError.Code
    ) throws {
        let ada = node(
            "ada", FaultScript(appends: [.goesWell, .fails(code)], marks: [.fails(code)]))
        let first = group(after: .start, [1])
        let second = group(after: first.after, [2])
        #expect(try ada.append(first) == .accepted)
        _ = try ada.enter(after: first.after, bytes: 1)

        let errors = [
            #expect(throws: SharedJournalError.self) { try ada.append(second) },
            #expect(throws: SharedJournalError.self) {
                try ada.set(SharedMark(.tag, "a", [], version: 0))
            },
        ]

        #expect(errors.map { $0?.code } == [code, code])
        #expect(server.entries.map(\.payload) == [[1]])
        #expect(try ada.marks(.tag).isEmpty)
        #expect(try node("ben").append(second) == .accepted)
    }

    @Test func `so many calls fail, whatever they are, and the next one goes well`() throws {
        let ada = node()
        ada.fail(next: 3)

        #expect(throws: SharedJournalError.self) { try ada.append(group(after: .start, [1])) }
        #expect(throws: SharedJournalError.self) { try ada.page(after: .start, bytes: 1) }
        #expect(throws: SharedJournalError.self) { try ada.takeNumbers(1) }

        #expect(try ada.marks(.tag).isEmpty)
        #expect(
            ada.calls.map(\.outcome) == [
                .failed(.unreachable), .failed(.unreachable), .failed(.unreachable), .marks(0),
            ])
    }

    @Test func `numbers in doubt are lost, and a mark in doubt is settled by setting it again`()
        throws
    {
        let ada = node("ada", FaultScript(numbers: [.inDoubt(.landed)], marks: [.inDoubt(.landed)]))
        let mark = SharedMark(.value, "a", [1], version: 0)

        let numbers = #expect(throws: SharedJournalError.self) { try ada.takeNumbers(5) }
        let set = #expect(throws: SharedJournalError.self) { try ada.set(mark) }

        #expect(numbers?.code == .unreachable)
        #expect(set?.code == .inDoubt)
        #expect(try ada.takeNumbers(1) == 6..<7)
        #expect(try ada.set(mark) == 1)
    }

    @Test func `a node that is opened again settles what it was in doubt about`() throws {
        let first = group(after: .start, [1])
        let before = node("ada", FaultScript(appends: [.inDoubt(.landed)]))
        #expect(throws: SharedJournalError.self) { try before.append(first) }

        #expect(try node("ada").append(first) == .accepted)
        #expect(try ScriptedJournal(server, login: "ada", node: "other").append(first) == .behind)
    }

    @Test func `a clock that is ahead is followed to the first refusal`() throws {
        let ada = ScriptedJournal(server, login: "ada", ahead: 3_600_000_000)
        let ahead = SharedGroup(after: .start, at: ada.now(), token: 1, payloads: [[1]])

        #expect(try ada.append(ahead) == .behind)

        #expect(ada.now() < server.now())
        let again = SharedGroup(after: .start, at: ada.now(), token: 1, payloads: [[1]])
        #expect(try ada.append(again) == .accepted)
        let made = SharedGroup(
            after: again.after, at: ada.now() + 3_600_000_000, token: 2, payloads: [[2]])
        let error = #expect(throws: SharedJournalError.self) { try ada.append(made) }
        #expect(error?.code == .refused)
    }

    // MARK: - Turns

    @Test func `those who wait have their turns in the order in which they came`() async throws {
        let (server, order) = (server, Heard())
        let first = node("first")
        _ = try first.enter(after: .start, bytes: 1)

        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 1...3 {
                tasks.addTask {
                    try await onThread {
                        let node = ScriptedJournal(server, login: "node \(number)")
                        _ = try node.enter(after: .start, bytes: 1)
                        order.add(SequenceNumber(UInt64(number)))
                        node.leave()
                    }
                }
                try await onThread { server.awaitQueue(of: number) }
            }
            first.leave()
            try await tasks.waitForAll()
        }

        #expect(order.numbers == [1, 2, 3])
        #expect(try node("last").append(group(after: .start, [1])) == .accepted)
    }

    @Test func `who waits fails when the connections end, and a turn is over`() async throws {
        let server = server
        let ada = node("ada")
        _ = try ada.enter(after: .start, bytes: 1)

        async let waiting = onThread {
            #expect(throws: SharedJournalError.self) {
                try ScriptedJournal(server, login: "ben").enter(after: .start, bytes: 1)
            }
        }
        try await onThread { server.awaitQueue(of: 1) }
        server.endConnections()

        #expect(try await waiting?.code == .unreachable)
        let lost = #expect(throws: SharedJournalError.self) {
            try ada.append(group(after: .start, [1]))
        }
        #expect(lost?.code == .inDoubt)
        #expect(server.entries.isEmpty)
        #expect(try ada.append(group(after: .start, [1])) == .accepted)
    }

    @Test func `servers that fail end turns, and go on where they were`() throws {
        let ada = node("ada")
        let first = group(after: .start, [1])
        #expect(try ada.append(first) == .accepted)
        _ = try ada.enter(after: first.after, bytes: 1)

        server.condition = .failing(.unprotected)
        let error = #expect(throws: SharedJournalError.self) {
            try ada.page(after: .start, bytes: 1)
        }
        server.condition = .serving

        #expect(error?.code == .unprotected)
        #expect(!ada.hasTurn)
        #expect(try node("ben").append(group(after: first.after, [2])) == .accepted)
    }

    @Test func `rights that were withdrawn are refused`() throws {
        let ada = node("ada")
        server.withdrawRights(of: "ada")

        let error = #expect(throws: SharedJournalError.self) {
            try ada.page(after: .start, bytes: 1)
        }

        #expect(error?.code == .refused)
        #expect(try node("ben").page(after: .start, bytes: 1).isLast)
    }

    // MARK: - Pages

    @Test(arguments: EntryDamage.allCases)
    func `a damaged entry does not fit the one before it, and is whole the next time`(
        _ damage: EntryDamage
    ) throws {
        try server.add([1], [2], [3])
        let ada = node("ada", FaultScript(pages: [.damaged(at: 1, damage)]))

        #expect(try ada.page(after: server.head, bytes: 1).entries.isEmpty)
        let damaged = try ada.page(after: .start, bytes: 1 << 20)
        let whole = try ada.page(after: .start, bytes: 1 << 20)

        #expect(whole.entries == server.entries)
        #expect(damaged.entries.count == 3)
        #expect(damaged.entries[0] == whole.entries[0])
        let place = damaged.after(.start, index: 0)
        let second = damaged.entries[1]
        let fitting = JournalEntry(after: place, at: second.recordedAt, payload: second.payload)
        #expect(fitting.sequence != second.sequence || fitting.digest != second.digest)
    }

    @Test func `a page that is cut is not the last one`() throws {
        try server.add([1], [2], [3])
        let ada = node("ada", FaultScript(pages: [.cut(to: 2), .fails(.unreachable)]))

        let short = try ada.enter(after: .start, bytes: 1 << 20)
        #expect(short.entries.map(\.payload) == [[1], [2]])
        #expect(!short.isLast)
        #expect(throws: SharedJournalError.self) { try ada.page(after: .start, bytes: 1) }
        #expect(!ada.hasTurn)
    }

    @Test func `a journal whose end was taken off has gone another way`() throws {
        try server.add([1], [2])
        let head = server.head
        server.cut(from: SequenceNumber(2))

        let error = #expect(throws: SharedJournalError.self) {
            try node().page(after: head, bytes: 1)
        }

        #expect(error?.code == .diverged)
        #expect(server.entries.map(\.payload) == [[1]])
    }

    // MARK: - News and scripts

    @Test func `news are told, lost, doubled and held, and a look needs none`() throws {
        let heard = Heard()
        let ada = node("ada", FaultScript(news: [.lost, .doubled, .held]))
        let following = ada.follow { heard.add($0) }
        let ben = node("ben")
        server.awaitNews()
        #expect(heard.numbers == [])

        var expected: [[UInt64]] = []
        for _ in 1...4 {
            try server.add([1])
            ben.announce(server.head)
            server.awaitNews()
            expected.append(heard.numbers)
        }
        ada.tellHeldNews()
        server.awaitNews()
        expected.append(heard.numbers)
        ada.look()
        server.awaitNews()
        expected.append(heard.numbers)

        #expect(
            expected == [[], [2, 2], [2, 2], [2, 2, 4], [2, 2, 4, 3], [2, 2, 4, 3, 4]])
        withExtendedLifetime(following) {}
    }

    @Test func `who follows is told where the journal ends, until it does not follow any more`()
        throws
    {
        let heard = Heard()
        let ada = node()
        try server.add([1], [2])

        var following: (any AnyObject & Sendable)? = ada.follow { heard.add($0) }
        server.awaitNews()
        #expect(following != nil && heard.numbers == [2])
        following = nil
        try server.add([3])
        node("ben").announce(server.head)
        ada.look()
        server.awaitNews()

        #expect(heard.numbers == [2])
    }

    private final class Heard: Sendable {
        private let state = Mutex<[UInt64]>([])

        var numbers: [UInt64] { state.withLock(\.self) }

        func add(_ sequence: SequenceNumber) { state.withLock { $0.append(sequence.rawValue) } }
    }

    @Test func `the same seed makes the same faults, and another seed others`() throws {
        func calls(seed: UInt64) throws -> [ScriptedCall.Outcome] {
            let server = ScriptedServer()
            let script = FaultScript.random(seed: seed) { try $0.add([9]) }
            let ada = ScriptedJournal(server, login: "ada", script: script)
            for _ in 0..<40 {
                let group = SharedGroup(
                    after: server.head, at: server.now(), token: 1, payloads: [[1]])
                do { _ = try ada.append(group) } catch  where error.code == .inDoubt {} catch {
                    #expect(error.code == .unreachable)
                }
                do { _ = try ada.page(after: .start, bytes: 8) } catch {
                    #expect(error.code == .unreachable)
                }
            }
            return ada.calls.map(\.outcome)
        }

        let first = try calls(seed: 1)
        #expect(try calls(seed: 1) == first)
        #expect(try calls(seed: 2) != first)
        for outcome: ScriptedCall.Outcome in [
            .answered(.accepted), .answered(.behind), .failed(.inDoubt), .failed(.unreachable),
        ] {
            #expect(first.contains(outcome))
        }
    }

    @Test func `calls at the same time are noticed`() async throws {
        let (server, ada) = (server, node("ada"))
        _ = try node("ben").page(after: .start, bytes: 1)
        let ben = node("ben")
        _ = try ben.enter(after: .start, bytes: 1)
        #expect(!ada.hasOverlaps && !ben.hasOverlaps)

        async let waiting = onThread { try ada.enter(after: .start, bytes: 1) }
        try await onThread { server.awaitQueue(of: 1) }
        _ = try ada.marks(.tag)
        ben.leave()

        #expect(try await waiting.isLast)
        #expect(ada.hasOverlaps)
    }
}

extension SharedPage {
    /// The place after one of its entries.
    fileprivate func after(_ head: SharedHead, index: Int) -> SharedHead {
        SharedPage(Array(entries.prefix(index + 1)), isLast: false).after(head)
    }
}
