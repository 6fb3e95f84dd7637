import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct UndoTests {
    @Test(arguments: [21, 22, 23, 24] as [UInt64])
    func `undoing all entries backwards leads through every state to nothing`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 30)
        let store = history.store

        for number in stride(from: history.reference.head.rawValue, through: 2, by: -1) {
            let result = try store.commit(try store.undoRequest(of: SequenceNumber(number)))
            try #require(result.sequence != nil, "seed \(seed), entry \(number)")
            let expected = history.reference.world(at: SequenceNumber(number - 1))
            #expect(try store.world() == expected, "seed \(seed), entry \(number)")
        }
        #expect(try store.world().isEmpty)
    }

    @Test(arguments: [25, 26, 27] as [UInt64])
    func `an undo is the state without the entry, or is refused and changes nothing`(
        seed: UInt64
    ) throws {
        var history = try RandomHistory(seed: seed, entries: 30)
        let store = history.store
        var undone = 0
        var blocked = 0

        for _ in 0..<60 {
            let last = Int(try store.head().rawValue)
            let sequence = SequenceNumber(UInt64(history.random.number(in: 2...last)))
            let before = try store.world()
            let entry = try store.entry(sequence)
            do {
                try store.commit(try store.undoRequest(of: sequence))
                undone += 1
                let after = try store.world()
                for change in entry.changes {
                    #expect(
                        change.isUndone(in: after[change.object], store.schema),
                        "seed \(seed), entry \(sequence)")
                }
            } catch let error as StoreError {
                #expect(error.code == .undoBlocked || error.code == .duplicate)
                let isDone = error.message.contains("has been undone already, by entry ")
                #expect(error.code != .undoBlocked || !error.details.isEmpty || isDone)
                #expect(try store.world() == before, "seed \(seed), entry \(sequence)")
                blocked += 1
            }
        }
        #expect(undone > 0)
        #expect(blocked > 0)
    }

    @Test func `many objects that were changed and changed back can be read as of every entry`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let count = 1_500
        let skills = try (0..<count).map { _ in try store.newObject("Skill") }
        func title(_ letter: Character, _ index: Int) -> Value {
            .string(String(repeating: letter, count: 1 + index % 30))
        }
        func save(_ range: Range<Int>, _ old: Character, _ new: Character) throws {
            let changes = range.map {
                store.update(skills[$0], "title", from: title(old, $0), to: title(new, $0))
            }
            try store.commit(SaveRequest(changes: changes))
        }
        try store.commit(
            SaveRequest(
                changes: skills.enumerated().map {
                    store.insert($1, ["title": title("a", $0)])
                }))

        try save(0..<count, "a", "b")
        try store.commit(try store.undoRequest(of: try store.head()))
        try save(100..<1_300, "a", "c")
        try store.commit(try store.undoRequest(of: try store.head()))

        let letters: [Character] = ["a", "b", "a", "c", "a"]
        for (passed, letter) in letters.enumerated() {
            try store.read(at: SequenceNumber(UInt64(2 + passed))) { snapshot in
                for (index, skill) in skills.enumerated() {
                    let isChanged = letter != "c" || (100..<1_300).contains(index)
                    let expected = title(isChanged ? letter : "a", index)
                    let title = try snapshot.value(
                        of: store.property("title", of: skill), in: skill)
                    #expect(title == expected, "\(skill) as of entry \(2 + passed)")
                }
            }
        }
        try store.close()
        let report = try Store.verify(path: temporary.path)
        #expect(report.isSound, "\(report.findings) \(report.gaps)")
    }

    @Test func `undoing an undo brings back what was undone`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("a")])]))
        let edited = try store.commit(
            SaveRequest(changes: [
                store.update(skill, "title", from: .string("a"), to: .string("b"))
            ]))
        let sequence = try #require(edited.sequence)
        let undo = try store.commit(try store.undoRequest(of: sequence))

        try store.commit(try store.undoRequest(of: try #require(undo.sequence)))

        #expect(try store.world()[skill]?.values == [.string("b")])
    }

    @Test func `a blocked undo names entry, author, property and object`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("a")])]))
        try store.commit(
            SaveRequest(changes: [
                store.update(skill, "title", from: .string("a"), to: .string("b"))
            ]))
        try store.commit(
            SaveRequest(
                header: EntryHeader(author: "Grace"),
                changes: [store.update(skill, "title", from: .string("b"), to: .string("a"))]))

        let error = #expect(throws: StoreError.self) {
            try store.undoRequest(of: SequenceNumber(3))
        }

        #expect(error?.code == .undoBlocked)
        let line = try #require(error?.details.first)
        #expect(line.hasPrefix("Entry 4 by Grace at 2023-11-14T"))
        #expect(line.hasSuffix("Z changed 'title' of Skill/1."))
    }

    @Test func `the insert of an object that others refer to cannot be undone`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let company = try store.newObject("Company")
        let person = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(company)]))
        try store.commit(
            SaveRequest(changes: [store.insert(person, ["employer": .object(company)])]))

        let error = #expect(throws: StoreError.self) {
            try store.undoRequest(of: SequenceNumber(2))
        }

        #expect(error?.code == .undoBlocked)
    }

    @Test func `the model entry cannot be undone`() throws {
        let temporary = try TemporaryStore()

        let error = #expect(throws: StoreError.self) {
            try temporary.store.undoRequest(of: SequenceNumber(1))
        }

        #expect(error?.code == .undoBlocked)
    }
}

extension Change {
    /// Whether the effect of this change is absent from a state.
    func isUndone(in state: ObjectState?, _ schema: Schema) -> Bool {
        switch kind {
        case .insert: return state == nil
        case .delete(let values, _): return state?.values == values
        case .update(let edits, let members):
            guard let state, let entity = schema.entity(object.entity) else { return false }
            return edits.allSatisfy { edit in
                entity.property(edit.property)?.slot.map { state.values[$0] } == edit.old
            }
                && members.allSatisfy { edit in
                    let current = state.members[edit.property] ?? [:]
                    return edit.removed.allSatisfy { current[$0.object] == $0.order }
                        && edit.added.allSatisfy { current[$0.object] != $0.order }
                }
        }
    }
}
