import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB
@testable import DaybookSnapshotStore

/// Saves of nodes that share a journal.
@Suite struct SharedSaveTests {
    let server = ScriptedServer()
    let ada: SharedNode
    let ben: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server)
        ben = try SharedNode.clone("ben", of: server)
    }

    @Test func `a save returns with its entry in the shared journal, and other nodes take it in`()
        throws
    {
        let skill = try ada.add("Sailing")

        try ben.store.pull()

        #expect(try server.head.digest == ada.store.headDigest())
        #expect(try ben.store.headDigest() == ada.store.headDigest())
        #expect(try ben.store.read { try $0.row(skill)?.values } == [.string("Sailing")])
        #expect(try ben.tables() == ada.tables())
        #expect(try ben.store.verify().findings.isEmpty)
    }

    @Test func `a node that is behind takes in what is missing, and saves on top of it`() throws {
        for number in 1...3 { try ada.add("Ada's \(number)") }

        try ben.add("Ben's")
        try ada.store.pull()

        #expect(try ben.titles() == ["Ada's 1", "Ada's 2", "Ada's 3", "Ben's"])
        #expect(try ada.titles() == ben.titles())
        #expect(try ada.tables() == ben.tables())
        #expect(server.entries.map(\.login) == ["ada", "ada", "ada", "ada", "ben"])
    }

    @Test func `a save goes well when the clock of its machine was set forward`() throws {
        try ada.add("Sailing")
        try ada.journal.setClockForward(by: 15_000_000)

        try ada.add("Rowing")
        try ada.add("Swimming")

        #expect(server.entries.count == 4)
        #expect(server.entries.allSatisfy { $0.recordedAt < server.now() })
        try ben.store.pull()
        #expect(try ben.titles() == ["Rowing", "Sailing", "Swimming"])
    }

    @Test func `what two nodes have changed is a conflict, as of two contexts`() throws {
        let skill = try ada.add("Sailing")
        try ben.store.pull()
        let stale = try ben.store.update(
            skill, "title", from: .string("Sailing"), to: .string("Rowing"))
        try ada.rename(skill, to: "Swimming")

        let failure = #expect(throws: StoreError.self) {
            try ben.store.commit(
                SaveRequest(
                    header: EntryHeader(base: SequenceNumber(2)), changes: [stale]))
        }

        #expect(failure?.code == .conflict)
        #expect(failure?.conflicts.map(\.theirs) == [.string("Swimming")])
        #expect(server.head.sequence == SequenceNumber(3))
        #expect(try ben.titles() == ["Swimming"])
    }

    @Test func `a unique value that another node has taken is refused`() throws {
        func person(_ node: SharedNode) throws {
            let person = try node.store.newObject("Person")
            try node.store.commit(
                SaveRequest(changes: [try node.store.insert(person, ["code": .string("A1")])]))
        }
        try person(ada)

        #expect(code { try person(ben) } == .duplicate)
        #expect(server.head.sequence == SequenceNumber(2))
    }

    @Test func `nodes are given numbers that no other has, also after they were closed`() throws {
        var numbers: [UInt64] = []
        for _ in 0..<3 {
            for node in [ada, ben] {
                for _ in 0..<40 { numbers.append(try node.store.allocateObjectNumber()) }
                try node.close()
            }
        }

        #expect(Set(numbers).count == 240)
        // What was left of a block was not lost.
        let taken = try ada.journal.calls.filter {
            if case .takeNumbers = $0.request { true } else { false }
        }
        #expect(taken.isEmpty)
    }

    @Test func `a copy of a closed file gives out none of the numbers that the file has kept`()
        throws
    {
        _ = try ada.store.allocateObjectNumber()
        try ada.close()
        let copy = ada.path + ".copy"
        try FileManager.default.copyItem(atPath: ada.path, toPath: copy)
        let other = try TestStore.open(at: copy, options: ada.options())

        let theirs = try (0..<3).map { _ in try other.allocateObjectNumber() }
        try other.close()
        let own = try (0..<3).map { _ in try ada.store.allocateObjectNumber() }

        #expect(Set(theirs).isDisjoint(with: own))
    }

    /// A machine that begins with an image of another one's disk has a file that looks the same.
    @Test(arguments: [true, false])
    func `numbers that were kept in an earlier run of the system are for want of servers only`(
        _ areReached: Bool
    ) throws {
        _ = try ada.store.allocateObjectNumber()
        try ada.close()
        let alone = try TestStore.open(at: ada.path, options: ada.options(linked: false))
        let blocks = try alone.writing { [meta = alone.parts.tables.meta] transaction in
            let kept = try #require(try StoreMetadata.sharedNumbers(meta, in: transaction))
            try StoreMetadata.setSharedNumbers(
                KeptNumbers(kept.blocks, of: kept.file, in: "an earlier run"), meta,
                in: transaction)
            return kept.blocks
        }
        try alone.close()
        if !areReached { server.condition = .failing(.unreachable) }

        let numbers = try (0..<3).map { _ in try ada.store.allocateObjectNumber() }

        for number in numbers {
            #expect(blocks.contains { $0.contains(number) } != areReached)
        }
    }

    @Test func `a file that is pushed later gives no numbers twice`() throws {
        let server = ScriptedServer()
        let eva = try SharedNode.first("eva", of: server)
        try eva.close()
        let store = try TestStore.open(at: eva.path, options: eva.options(linked: false))
        try store.unlink()
        let known = Set(try (0..<5_000).map { _ in try store.allocateObjectNumber() })

        try store.push(to: eva.link())
        try store.close()
        let fay = try SharedNode.clone("fay", of: server)
        let numbers = try [eva, fay].map { try $0.store.allocateObjectNumber() }

        #expect(known.isDisjoint(with: numbers))
        #expect(Set(numbers).count == 2)
    }

    @Test func `a file that is put back does not give out numbers that were given out since`()
        throws
    {
        _ = try ada.store.allocateObjectNumber()
        try ada.close()
        let kept = try Data(contentsOf: URL(fileURLWithPath: ada.path))
        let known = Set(try (0..<2).map { try ada.add("Later \($0)").number })
        try ada.close()
        // In place: it is the same file to the system.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: ada.path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: kept)
        try file.close()

        let numbers = try (0..<3).map { _ in try ada.store.allocateObjectNumber() }

        #expect(known.isDisjoint(with: numbers))
        #expect(try ada.titles() == ["Later 0", "Later 1"])
    }

    @Test func `more numbers are taken before the last ones are given out`() throws {
        let store = try ada.store
        for _ in 0..<StoreLayout.numberBlockSize - 10 { _ = try store.allocateObjectNumber() }
        try ada.add("With few left")
        // What was asked for before is done.
        store.ahead?.end()
        server.condition = .failing(.unreachable)

        for _ in 0..<100 { _ = try store.allocateObjectNumber() }
    }

    @Test func `many threads of two nodes lose no save and double none`() async throws {
        let nodes = [ada, ben]
        let saved = try await onThreads(6) { thread in
            try (0..<8).map { number in
                let title = "\(thread).\(number)"
                try nodes[thread % 2].add(title)
                return title
            }
        }
        for node in nodes { try node.store.pull() }

        let expected = saved.flatMap(\.self).sorted()
        #expect(expected.count == 48)
        #expect(try ada.titles() == expected)
        #expect(try ben.titles() == expected)
        #expect(try ada.tables() == ben.tables())
        #expect(server.head.sequence == SequenceNumber(49))
        #expect(try !ada.journal.hasOverlaps)
        #expect(try !ben.journal.hasOverlaps)
    }

    @Test func `a node that was overtaken queues up, and then nobody overtakes it`() throws {
        try ada.close(
            andReopenWith: FaultScript(
                appends: Array(
                    repeating: .overtaken { server in
                        // The server refuses while a node has its turn.
                        try server.add(
                            SharedNode.foreignEntry("quick", after: server.head.sequence))
                    }, count: 2)))

        try ada.add("Sailing")

        #expect(server.entries.map(\.login) == ["ada", "somebody else", "ada"])
        #expect(try !ada.journal.hasTurn)
    }

    @Test func `news that come while a node queues up do not cost it its turn`() async throws {
        _ = try ben.journal.enter(after: server.head, bytes: 1)
        let writer = try ada.store.openEnvironment().core.writer

        async let saved = onThread { [ada] in try ada.add("Sailing") }
        try await onThread { [server] in server.awaitQueue(of: 1) }
        async let pulled: Void = onThread { [ada] in try ada.store.pull() }
        try await onThread { [ben] in
            while writer.waitingCount < 1 { sched_yield() }
            try ben.journal.leave()
        }

        _ = try await saved
        try await pulled
        let calls = try ada.journal.calls
        #expect(!calls.contains { $0.request == .leave })
        let entering = try #require(
            calls.lastIndex { if case .enter = $0.request { true } else { false } })
        let next = try #require(calls[(entering + 1)...].first)
        #expect(next.outcome == .answered(.accepted))
        #expect(try ada.titles() == ["Sailing"])
    }

    @Test func `a model that one node sets is taken in by the others`() throws {
        let skill = try ada.add("Sailing")
        try ada.close()
        var model = ManagedObjectModel.sample
        model.entities[3].attributes.append(AttributeDescription(name: "level", type: .int64))
        var options = ada.options()
        options.migration = .automatic
        let newer = try TestStore.open(at: ada.path, model: model, options: options)
        try newer.commit(
            SaveRequest(
                header: EntryHeader(base: try newer.head()),
                changes: [newer.update(skill, "level", from: .null, to: .int(3))]))
        let digest = try newer.headDigest()
        let tables = try newer.projectionDigest()
        try newer.close()

        try ben.store.pull()

        #expect(try ben.store.headDigest() == digest)
        #expect(try ben.tables() == tables)
        #expect(try ben.store.verify().findings.isEmpty)
    }
}
