import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct ValidationTests {
    @Test func `every value that does not fit is named, and nothing is saved`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let person = try store.newObject("Person")

        let error = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [
                    store.insert(skill),
                    store.insert(
                        person,
                        ["age": .int(1 << 40), "name": .int(1), "employer": .object(skill)]),
                ]))
        }

        #expect(error?.code == .validation)
        #expect(error?.details.count == 4, "\(error?.details ?? [])")
        #expect(try store.head() == SequenceNumber(1))
    }

    @Test(arguments: [0, 1 << 48, .max] as [UInt64])
    func `a number that no store gives out is refused`(number: UInt64) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let entity = try store.newObject("Skill").entity

        let error = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [store.insert(ObjectID(entity: entity, number: number))]))
        }

        #expect(error?.code == .validation)
        #expect(error?.message.contains("between 1 and 281474976710655") == true)
        #expect(try store.head() == SequenceNumber(1))
    }

    @Test func `an entry that edits a property twice is corrupt, and nothing is folded`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("a")])]))
        let first = store.update(skill, "title", from: .string("a"), to: .string("b"))
        guard case .update(let edits, _) = first.kind else { return }
        let again = edits.map { Edit(property: $0.property, old: $0.new, new: .string("c")) }
        let change = Change(object: skill, kind: .update(edits: edits + again, members: []))
        // After a long note, the edits are at offsets beyond the row.
        let header = EntryHeader(note: String(repeating: "n", count: 4_000))
        let payload = EntryPayload.bytes(header, [change])
        let parts = store.parts
        try store.writing {
            _ = try parts.journal.append(payload: payload, recordedAt: 1 << 50, in: $0)
        }

        let error = #expect(throws: StoreError.self) { try store.rebuild() }

        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("'title'") == true, "\(error?.message ?? "")")
    }

    @Test func `a unique value is refused when another object has it, in the store or the entry`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let people = try (0..<4).map { _ in try store.newObject("Person") }
        let company = try store.newObject("Company")
        try store.commit(SaveRequest(changes: [store.insert(people[0], ["code": .string("a")])]))

        // The attribute is inherited, so an object of a sister entity collides, too.
        let inStore = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [store.insert(company, ["code": .string("a")])]))
        }
        let inEntry = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [
                    store.insert(people[1], ["code": .string("b")]),
                    store.insert(people[2], ["code": .string("b")]),
                ]))
        }

        #expect(inStore?.code == .duplicate)
        #expect(inEntry?.code == .duplicate)
        #expect(try store.head() == SequenceNumber(2))
    }

    @Test func `two objects may swap unique values in one entry, and a deleted one frees its own`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let people = try (0..<4).map { _ in try store.newObject("Person") }
        try store.commit(
            SaveRequest(changes: [
                store.insert(people[0], ["code": .string("a")]),
                store.insert(people[1], ["code": .string("b")]),
                store.insert(people[2], ["code": .string("c")]),
            ]))

        try store.commit(
            SaveRequest(changes: [
                store.update(people[0], "code", from: .string("a"), to: .string("b")),
                store.update(people[1], "code", from: .string("b"), to: .string("a")),
                try store.delete(people[2]),
                store.insert(people[3], ["code": .string("c")]),
            ]))

        let codes = try store.read { snapshot in
            try [0, 1, 3].map {
                try snapshot.value(of: store.property("code", of: people[$0]), in: people[$0])
            }
        }
        #expect(codes == [.string("b"), .string("a"), .string("c")])
    }

    @Test func `any number of objects may have no unique value`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let people = try (0..<2).map { _ in try store.newObject("Person") }

        let result = try store.commit(SaveRequest(changes: people.map { store.insert($0) }))

        #expect(result.sequence != nil)
    }

    @Test func `values longer than a key can hold are distinguished`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let people = try (0..<3).map { _ in try store.newObject("Person") }
        let long = String(repeating: "x", count: 5_000)
        try store.commit(
            SaveRequest(changes: [
                store.insert(people[0], ["code": .string(long + "a")]),
                store.insert(people[1], ["code": .string(long + "b")]),
            ]))

        let error = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [store.insert(people[2], ["code": .string(long + "b")])]))
        }

        #expect(error?.code == .duplicate)
    }
}
