import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Runs of entries, and the policies for values that later entries have touched.
struct UndoPolicyTests {
    @Test func `one entry undoes several together`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Ada")
        let run = SequenceNumber(3)...SequenceNumber(4)

        let result = try shop.store.commit(try shop.store.undoRequest(of: run, author: "Eve"))

        let entry = try shop.store.entry(try #require(result.sequence))
        #expect(try shop.title() == "a")
        #expect(entry.header.undoes == run)
        #expect(entry.header.kind == .undo)
        #expect(entry.header.author == "Eve")
    }

    @Test func `the form of an entry alone shows that it undoes several`() throws {
        let one = EntryHeader(kind: .undo, undoes: SequenceNumber(7)...SequenceNumber(7))
        let several = EntryHeader(kind: .undo, undoes: SequenceNumber(7)...SequenceNumber(300))

        let bytes = EntryPayload.bytes(one, [])
        let more = EntryPayload.bytes(several, [])

        #expect(bytes == [1, 3, 0, 0, 0, 0, 0, 7, 0])
        #expect(more[0] == 2)
        #expect(try EntryPayload(bytes).header == one)
        #expect(try EntryPayload(more).header == several)
        for end in more.indices.dropFirst() {
            #expect(throws: DecodingFailure.self) { try EntryPayload(Array(more[..<end])) }
        }
    }

    @Test(arguments: [[2, 3, 0, 0, 0, 0, 0, 7, 7, 0], [2, 3, 0, 0, 0, 0, 0, 0, 7, 0], [3]])
    func `an invalid run of entries cannot be read`(bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try EntryPayload(bytes) }
    }

    @Test func `the first entry cannot be undone in a run either`() throws {
        let shop = try Shop()

        let error = #expect(throws: StoreError.self) {
            try shop.store.undoPlan(of: SequenceNumber(1)...SequenceNumber(2))
        }

        #expect(error?.code == .undoBlocked)
        #expect(error?.message == "Entry 1 sets the model and cannot be undone.")
    }

    @Test func `a refusal carries every obstacle as data`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Grace")

        let plan = try shop.store.undoPlan(of: SequenceNumber(3)...SequenceNumber(3))

        let obstacle = try #require(plan.refusal?.obstacles.first)
        #expect(plan.refusal?.obstacles.count == 1)
        #expect(obstacle.entry == SequenceNumber(4))
        #expect(obstacle.author == "Grace")
        #expect(obstacle.date != nil)
        #expect(obstacle.object == shop.skill)
        #expect(obstacle.propertyName == "title")
        #expect(obstacle.description.hasPrefix("Entry 4 by Grace at "))
        #expect(obstacle.description.hasSuffix(" changed 'title' of Skill/1."))
        #expect(try shop.title() == "c")
    }

    @Test func `keeping later changes leaves them out and undoes the rest`() throws {
        let shop = try Shop()
        let other = try shop.store.newObject("Skill")
        try shop.store.commit(
            SaveRequest(changes: [
                shop.store.update(shop.skill, "title", from: .string("a"), to: .string("b")),
                shop.store.insert(other, ["title": .string("new")]),
            ]))
        try shop.rename("c", by: "Grace", from: "b")

        let plan = try shop.store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: .keepLater)
        try shop.store.commit(try plan.permitted())

        #expect(plan.obstacles.map(\.propertyName) == ["title"])
        #expect(try shop.title() == "c")
        #expect(try shop.store.world()[other] == nil)
    }

    @Test(arguments: [UndoPolicy.keepLater, .refuse])
    func `an undo with nothing left to do is refused`(policy: UndoPolicy) throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Grace", from: "b")

        let plan = try shop.store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: policy)

        #expect(plan.refusal?.code == .undoBlocked)
        #expect(plan.refusal?.obstacles.count == 1)
    }

    @Test func `overwriting puts the old value over a later one`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Grace", from: "b")

        let plan = try shop.store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: .overwrite)
        try shop.store.commit(try plan.permitted())

        #expect(plan.obstacles.isEmpty)
        #expect(try shop.title() == "a")
    }

    @Test func `overwriting clears the references to deleted objects`() throws {
        let shop = try Shop()
        let (company, person) = try shop.employ()

        let plan = try shop.store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: .overwrite)
        try shop.store.commit(try plan.permitted())

        let world = try shop.store.world()
        #expect(world[company] == nil)
        #expect(world[person]?.values.compactMap(\.reference) == [])
    }

    @Test func `keeping later changes keeps what later entries refer to`() throws {
        let shop = try Shop()
        let (company, _) = try shop.employ()

        let plan = try shop.store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: .keepLater)

        #expect(plan.refusal?.code == .undoBlocked)
        #expect(plan.refusal?.obstacles.first?.propertyName == "employer")
        #expect(try shop.store.world()[company] != nil)
    }

    @Test func `settling visits each of a long chain of objects only a few times`() throws {
        let shop = try Shop()
        let store = shop.store
        var people: [ObjectID] = []
        for _ in 0..<5_000 { people.append(try store.newObject("Person")) }
        let others = try (0..<3).map { _ in try store.newObject("Skill") }
        // Each refers to the one before, so keeping the last keeps them all, from the end on.
        let chain = zip(people, [nil] + people.map(Optional.some)).map { person, friend in
            store.insert(person, ["friend": friend.map { .object($0) } ?? .null])
        }
        let skills = others.map { store.insert($0, ["title": .string("x")]) }
        try store.commit(SaveRequest(changes: chain + skills))
        let fan = try store.newObject("Person")
        try store.commit(
            SaveRequest(changes: [store.insert(fan, ["friend": .object(people[4_999])])]))

        var plan = GraphRepair(store.parts, .keepLater)
        for object in people + others { plan.want(nil, for: object) }
        try store.reading { try plan.settle(in: $0) }

        #expect(Set(plan.wanted.keys) == Set(others))
        #expect(plan.obstacles.count == 5_000)
        #expect(plan.visitCount <= 2 * (people.count + others.count), "\(plan.visitCount)")
    }

    @Test func `a unique value that was taken since stays where it is`() throws {
        let shop = try Shop()
        let store = shop.store
        let (first, second) = (try store.newObject("Company"), try store.newObject("Company"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(first, ["code": .string("x"), "name": .string("n")])
            ]))
        try store.commit(
            SaveRequest(changes: [
                store.update(first, "code", from: .string("x"), to: .null)
            ]))
        try store.commit(SaveRequest(changes: [store.insert(second, ["code": .string("x")])]))
        let run = SequenceNumber(4)...SequenceNumber(4)

        let refusal = try store.undoPlan(of: run).refusal
        let overwritten = try store.undoPlan(of: run, policy: .overwrite).refusal

        #expect(refusal?.obstacles.first?.propertyName == "code")
        #expect(refusal?.obstacles.first?.entry == SequenceNumber(5))
        #expect(overwritten?.obstacles.first?.propertyName == "code")
    }

    @Test func `a reference to an object that was deleted since is left out`() throws {
        let shop = try Shop()
        let store = shop.store
        let (company, person) = try shop.employ()
        try store.commit(
            SaveRequest(
                changes: [
                    store.update(person, "employer", from: .object(company), to: .null),
                    store.update(person, "age", from: .null, to: .int(3)),
                ].merged))
        try store.commit(SaveRequest(changes: [try store.delete(company)]))

        let run = SequenceNumber(5)...SequenceNumber(5)
        let refusal = try store.undoPlan(of: run).refusal
        let plan = try store.undoPlan(of: run, policy: .keepLater)
        try store.commit(try plan.permitted())

        #expect(refusal?.obstacles.map(\.entry) == [SequenceNumber(6)])
        #expect(plan.obstacles.map(\.propertyName) == ["employer"])
        let state = try #require(try store.world()[person])
        #expect(state.values.compactMap(\.reference) == [])
        #expect(!state.values.contains(.int(3)))
    }

    @Test func `an object that can have only one holder is taken from the later one or left to it`()
        throws
    {
        let house = try House()
        let store = house.store
        let other = try store.newObject("House")
        let keeper = Value.object(house.owner)
        try store.commit(
            SaveRequest(changes: [
                store.insert(other), store.update(house.house, "keeper", from: .null, to: keeper),
            ]))
        try store.commit(
            SaveRequest(changes: [store.update(house.house, "keeper", from: keeper, to: .null)]))
        try store.commit(
            SaveRequest(changes: [store.update(other, "keeper", from: .null, to: keeper)]))
        let run = SequenceNumber(4)...SequenceNumber(4)
        let property = store.property("keeper", of: other)

        let strict = try store.undoPlan(of: run).refusal
        let kept = try store.undoPlan(of: run, policy: .keepLater).refusal
        try store.commit(try store.undoRequest(of: run, policy: .overwrite))

        let line = " gave Owner/3 to House/5, which is needed by 'keeper' of House/1."
        #expect(strict?.details.count == 1)
        #expect(strict?.details.first?.hasPrefix("Entry 5 at ") == true)
        #expect(strict?.details.first?.hasSuffix(line) == true)
        #expect(kept?.obstacles == strict?.obstacles)
        #expect(try store.read { try $0.value(of: property, in: house.house) } == keeper)
        #expect(try store.read { try $0.value(of: property, in: other) } == .null)
    }

    @Test func `overwriting keeps an object that another must refer to`() throws {
        let house = try House()
        let store = house.store
        let (other, room) = (try store.newObject("House"), try store.newObject("Room"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(other),
                store.update(house.house, "number", from: .int(7), to: .int(8)),
            ]))
        try store.commit(SaveRequest(changes: [store.insert(room, ["house": .object(other)])]))

        let plan = try store.undoPlan(
            of: SequenceNumber(3)...SequenceNumber(3), policy: .overwrite)
        try store.commit(try plan.permitted())

        #expect(plan.obstacles.map(\.propertyName) == ["house"])
        #expect(try store.world()[other] != nil)
        let number = store.property("number", of: house.house)
        #expect(try store.read { try $0.value(of: number, in: house.house) } == .int(7))
    }

    @Test func `undoing what has already been undone names the entry that did it`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.store.commit(try shop.store.undoRequest(of: SequenceNumber(3)))

        let error = #expect(throws: StoreError.self) {
            try shop.store.undoRequest(of: SequenceNumber(3))
        }

        #expect(error?.code == .undoBlocked)
        #expect(error?.message.contains("by entry 4") == true)
    }

    @Test func `undoing a run that has already been undone says so in the plural`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Ada")
        let run = SequenceNumber(3)...SequenceNumber(4)
        try shop.store.commit(try shop.store.undoRequest(of: run))

        let error = #expect(throws: StoreError.self) { try shop.store.undoRequest(of: run) }

        #expect(
            error?.message
                == "Entries 3 to 4 have been undone already, by entry 5. Undo that entry to redo "
                + "them.")
    }

    @Test func `a partial undo does not count for what it left out`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Grace", from: "b")
        // Claims to undo entry 4, but does something else.
        let header = EntryHeader(kind: .undo, undoes: SequenceNumber(4)...SequenceNumber(4))
        try shop.store.commit(
            SaveRequest(
                header: header,
                changes: [
                    shop.store.update(shop.skill, "title", from: .string("c"), to: .string("z"))
                ]))

        let plan = try shop.store.undoPlan(of: SequenceNumber(3)...SequenceNumber(3))

        #expect(plan.refusal?.obstacles.map(\.entry) == [SequenceNumber(4), SequenceNumber(5)])
    }

    @Test func `a redo of a redo is found through everything in between`() throws {
        let shop = try Shop()
        let run = SequenceNumber(3)...SequenceNumber(3)
        try shop.rename("b", by: "Ada")
        #expect(try shop.store.standingUndo(of: run) == nil)
        try shop.store.commit(try shop.store.undoRequest(of: run))
        #expect(try shop.store.standingUndo(of: run) == SequenceNumber(4))
        try shop.store.commit(try shop.store.undoRequest(of: SequenceNumber(4)))
        #expect(try shop.store.standingUndo(of: run) == nil)
        try shop.store.commit(try shop.store.undoRequest(of: SequenceNumber(5)))

        let plan = try shop.store.redoPlan(of: run)
        try shop.store.commit(try plan.permitted())

        #expect(plan.request.header.undoes == SequenceNumber(4)...SequenceNumber(4))
        #expect(try shop.title() == "b")
    }

    @Test func `an undo works after a restart`() throws {
        let shop = try Shop()
        try shop.rename("b", by: "Ada")
        try shop.rename("c", by: "Ada")
        try shop.store.close()
        let store = try TestStore.open(at: shop.temporary.path)

        try store.commit(try store.undoRequest(of: SequenceNumber(3)...SequenceNumber(4)))

        #expect(try store.world()[shop.skill]?.values == [.string("a")])
        try store.close()
    }
}

/// A skill called "a", and a few ways to change things around it.
private struct Shop {
    let temporary: TemporaryStore
    let skill: ObjectID

    var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore()
        skill = try temporary.store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("a")])]))
    }

    func title() throws -> String? {
        guard case .string(let text)? = try store.world()[skill]?.values.first else { return nil }
        return text
    }

    func rename(_ title: String, by author: String, from old: String? = nil) throws {
        let before = try old ?? self.title() ?? ""
        try store.commit(
            SaveRequest(
                header: EntryHeader(author: author),
                changes: [
                    store.update(skill, "title", from: .string(before), to: .string(title))
                ]))
    }

    /// Entry 3 makes a company, entry 4 gives it a person.
    func employ() throws -> (company: ObjectID, person: ObjectID) {
        let company = try store.newObject("Company")
        let person = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(company)]))
        try store.commit(
            SaveRequest(changes: [store.insert(person, ["employer": .object(company)])]))
        return (company, person)
    }
}

extension [Change] {
    /// The updates of one object as one change.
    fileprivate var merged: [Change] {
        guard let object = first?.object else { return self }
        let edits = flatMap { change -> [Edit] in
            guard case .update(let edits, _) = change.kind else { return [] }
            return edits
        }
        return [
            Change(
                object: object,
                kind: .update(edits: edits.sorted { $0.property < $1.property }, members: []))
        ]
    }
}
