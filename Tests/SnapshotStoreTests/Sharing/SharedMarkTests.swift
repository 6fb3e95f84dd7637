import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// What nodes of a shared store keep beside the journal: tags, values and cursors.
@Suite struct SharedMarkTests {
    let server = ScriptedServer()
    let ada: SharedNode
    let ben: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server)
        ben = try SharedNode.clone("ben", of: server)
    }

    @Test func `a tag that one node sets or deletes is set or deleted on the others`() throws {
        try ada.add("Sailing")
        let tag = try ada.store.setTag("audited", author: "ada", note: "All of it")

        try ben.store.pull()
        #expect(try ben.store.tags() == [tag])

        try ben.store.removeTag(named: "audited")
        try ada.store.pull()
        #expect(try ada.store.tags().isEmpty)
    }

    @Test func `a name that another node has given is taken, and can be given anew`() throws {
        try ada.add("Sailing")
        try ada.store.setTag("audited", note: "Ada's")

        let refusal = #expect(throws: StoreError.self) {
            try ben.store.setTag("audited", note: "Ben's")
        }
        #expect(refusal?.code == .tagName)
        #expect(try ben.store.tags().map(\.note) == ["Ada's"])

        try ben.store.setTag("audited", note: "Ben's", existing: .replace)
        try ada.store.pull()
        #expect(try ada.store.tags().map(\.note) == ["Ben's"])
    }

    @Test func `a tag is set on all nodes or on none`() throws {
        let skill = try ada.add("Sailing")
        server.condition = .failing(.unreachable)

        let failure = #expect(throws: StoreError.self) { try ada.store.setTag("audited") }

        #expect(failure?.code == .unreachable)
        #expect(try ada.store.tags().isEmpty)
        server.condition = .serving
        try ada.rename(skill, to: "Rowing")
        try ada.store.setTag("audited")
        try ben.store.pull()
        #expect(try ben.store.tags().map(\.sequence) == [SequenceNumber(3)])
    }

    @Test func `a tag of an entry that is missing comes with the entry`() throws {
        try ada.add("Sailing")
        try ada.store.setTag("audited")

        try ben.store.exchangeMarks()
        #expect(try ben.store.tags().isEmpty)

        try ben.store.pull()
        #expect(try ben.store.tags().map(\.name) == ["audited"])
        #expect(try ben.store.verify().findings.isEmpty)
    }

    @Test func `values and cursors go to other nodes, and come back to a node that is made anew`()
        throws
    {
        try ada.add("Sailing")
        try ada.store.setUserValues(["owner": .string("Ada"), "size": .int(3)])
        try ada.store.setCursor("mail", to: SequenceNumber(2))
        try ada.store.exchangeMarks()

        try ben.store.pull()
        #expect(try ben.store.userValues() == ["owner": .string("Ada"), "size": .int(3)])
        #expect(try ben.store.position(ofCursor: "mail") == SequenceNumber(2))

        try ben.store.setUserValues(["owner": .string("Ben")])
        try ben.store.exchangeMarks()
        let eva = try SharedNode.clone("eva", of: server)
        #expect(try eva.store.userValues() == ["owner": .string("Ben")])
        #expect(try eva.store.position(ofCursor: "mail") == SequenceNumber(2))
    }

    @Test func `of a cursor that two nodes have moved the further place stands`() throws {
        for number in 1...4 { try ada.add("\(number)") }
        try ada.store.setCursor("mail", to: SequenceNumber(2))
        try ada.store.exchangeMarks()
        try ben.store.pull()

        try ada.store.setCursor("mail", to: SequenceNumber(5))
        try ben.store.setCursor("mail", to: SequenceNumber(3))
        try ada.store.exchangeMarks()
        try ben.store.exchangeMarks()
        try ada.store.exchangeMarks()

        #expect(try ada.store.position(ofCursor: "mail") == SequenceNumber(5))
        #expect(try ben.store.position(ofCursor: "mail") == SequenceNumber(5))
    }

    /// What was done up to the further place would be done again.
    @Test(arguments: [false, true])
    func `a cursor does not go back when the servers lose its last move`(_ hasMoved: Bool) throws {
        for number in 1...4 { try ada.add("\(number)") }
        var moves: [SharedMark] = []
        for place in [2, 3, 5] as [UInt64] {
            try ada.store.setCursor("mail", to: SequenceNumber(place))
            try ada.store.exchangeMarks()
            moves.append(try #require(try ada.journal.marks(.cursor).first))
        }
        try ben.store.pull()

        // Another node may have moved it from there meanwhile.
        let version = hasMoved ? moves[2].version : moves[1].version
        server.setBack(SharedMark(.cursor, "mail", moves[1].body, version: version))
        try ben.store.pull()
        #expect(try ben.store.position(ofCursor: "mail") == SequenceNumber(5))
        try ada.store.pull()

        #expect(try ada.store.position(ofCursor: "mail") == SequenceNumber(5))
        #expect(try ada.journal.marks(.cursor).first?.body == moves[2].body)
    }

    @Test func `a cursor that a node has set back on purpose goes back on all`() throws {
        for number in 1...4 { try ada.add("\(number)") }
        try ada.store.setCursor("mail", to: SequenceNumber(5))
        try ada.store.exchangeMarks()
        try ben.store.pull()

        try ada.store.setCursor("mail", to: SequenceNumber(2))
        try ada.store.exchangeMarks()
        try ben.store.pull()

        #expect(try ben.store.position(ofCursor: "mail") == SequenceNumber(2))
    }

    @Test func `a mark that the servers refuse stays in the file, and holds up no other`() throws {
        server.unwritableNames = ["größe"]
        let values: [String: Value] = [
            "größe": .int(3), "a\u{0}": .int(4), "owner": .string("Ada"), "zone": .string("UTC"),
        ]
        try ada.store.setUserValues(values)
        try ada.store.setCursor("größe", to: SequenceNumber(1))

        try ada.store.exchangeMarks()
        try ada.store.pull()
        try ben.store.pull()

        #expect(try ada.store.userValues() == values)
        #expect(try ada.store.position(ofCursor: "größe") == SequenceNumber(1))
        #expect(try ben.store.userValues() == ["owner": .string("Ada"), "zone": .string("UTC")])
        server.unwritableNames = []
        try ada.store.exchangeMarks()
        try ben.store.pull()
        #expect(try ben.store.userValues()["größe"] == .int(3))
        #expect(try ben.store.position(ofCursor: "größe") == SequenceNumber(1))
    }

    @Test func `a tag that the servers refuse is set nowhere`() throws {
        server.unwritableNames = ["geprüft"]
        try ada.add("Sailing")

        let refusal = #expect(throws: StoreError.self) { try ada.store.setTag("geprüft") }

        #expect(refusal?.code == .permission)
        #expect(try ada.store.tags().isEmpty)
        try ada.store.setTag("audited")
        try ben.store.pull()
        #expect(try ben.store.tags().map(\.name) == ["audited"])
    }

    @Test func `what was sent before a connection is lost is not sent again`() throws {
        let store = try ada.store
        server.condition = .failing(.unreachable)
        try store.setUserValues(["a": .int(1), "b": .int(2), "c": .int(3)])
        var sent: [String] = []
        let losing = MarkServer(
            all: { _ in [] },
            set: { mark in
                guard sent.count < 2 else { throw StoreError(.unreachable, "It is gone.") }
                sent.append(mark.name)
                return 1
            })

        #expect(throws: StoreError.self) { try store.exchangeMarks(with: losing) }

        let known = try store.reading { [meta = store.parts.tables.meta] in
            try StoreMetadata.knownMarks(meta, in: $0)
        }
        #expect(known.keys.map(\.name).sorted() == ["a", "b"])
    }

    @Test func `what a file keeps goes up with it, and stays when it is taken away`() throws {
        let server = ScriptedServer()
        let eva = try SharedNode.first("eva", of: server)
        try eva.add("Sailing")
        try eva.store.setTag("audited")
        try eva.close()

        let store = try TestStore.open(at: eva.path, options: eva.options(linked: false))
        try store.unlink()
        #expect(try store.tags().map(\.name) == ["audited"])
        try store.setTag("later")
        try store.push(to: eva.link())
        try store.close()

        let fay = try SharedNode.clone("fay", of: server)
        #expect(try fay.store.tags().map(\.name) == ["audited", "later"])
    }

    @Test func `a file is closed when closing it returns, whatever was being sent`() throws {
        try ada.add("Sailing")
        for sequence in 0..<200 {
            let store = try ada.store
            try store.setCursor("mail", to: SequenceNumber(rawValue: UInt64(sequence % 3)))
            try ada.close()
            // Refused while it is open in this process.
            #expect(try PageCheck.run(path: ada.path).isEmpty)
        }
    }

    /// The changes of marks that may fail while answers are lost, and leave others to be made.
    private func attempt(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError
            where [.unreachable, .inDoubt, .noSuchTag, .tagName].contains(error.code)
        {
            return
        }
    }

    @Test(arguments: 1...16)
    func `after any moves and lost answers, nodes that exchange what they have agree`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let nodes = [ada, ben, try SharedNode.clone("eva", of: server)]
        for (number, node) in nodes.enumerated() where seed.isMultiple(of: 2) {
            let faults = FaultScript.random(seed: seed * 16 + UInt64(number))
            try node.close(andReopenWith: FaultScript(marks: faults.marks))
        }
        for step in 1...40 {
            guard let node = nodes.randomElement(using: &random),
                let name = ["a", "b", "c"].randomElement(using: &random)
            else { continue }
            let head = try node.store.head().rawValue
            let place = SequenceNumber(rawValue: .random(in: 0...head, using: &random))
            try attempt {
                switch Int.random(in: 0..<7, using: &random) {
                case 0: try node.add("\(step)")
                case 1: try node.store.setTag(name, existing: .replace)
                case 2: try node.store.removeTag(named: name)
                case 3: try node.store.setUserValues([name: .int(Int64(step))])
                case 4: try node.store.setCursor(name, to: place)
                case 5: try node.store.setCursor(name, to: nil)
                default: try node.store.pull()
                }
            }
        }
        for node in nodes { try node.close() }
        // What one sends in the first round the others have in the second.
        for _ in 0..<2 { for node in nodes { try node.store.pull() } }

        for node in nodes.dropFirst() {
            #expect(try node.store.tags() == ada.store.tags(), "seed \(seed)")
            #expect(try node.store.userValues() == ada.store.userValues(), "seed \(seed)")
            #expect(try node.store.cursors() == ada.store.cursors(), "seed \(seed)")
        }
    }
}
