import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Saves that laws forbid, whoever makes them.
@Suite struct LawCheckTests {
    private static func staff(_ laws: LawDescription...) -> EntityDescription {
        var person = entity(
            "Person",
            [
                attribute("name"), attribute("salary", .decimal), attribute("state"),
                attribute("level", .int64),
            ], to: [relationship("boss", "Person")])
        person.laws = laws
        return person
    }

    private static let falls = LawDescription(
        "Salaries fall with a note", "salary NEVER DECREASED UNLESS NOTE")
    private static let kept = LawDescription(
        "What was sent is kept", "NEVER DELETED WHERE state == 'sent'")
    private static let sent = LawDescription(
        "Sent stays sent", "ONCE state == 'sent' ALWAYS UNLESS AUTHOR IN {'ada'}")

    private func person(
        _ store: Store, _ entity: String = "Person", salary: Int = 5000, state: String = "new"
    ) throws -> ObjectID {
        try store.add(
            entity,
            [
                "name": .string("Ada"), "salary": .decimal(Decimal(salary)),
                "state": .string(state),
            ])
    }

    private func fall(_ store: Store, _ object: ObjectID, to salary: Int = 4000) throws -> Change {
        store.update(
            object, "salary", from: try store.value("salary", of: object),
            to: .decimal(Decimal(salary)))
    }

    private func expectRefusal(
        _ store: Store, _ request: SaveRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StoreError {
        let (head, digest) = (try store.head(), try store.projectionDigest())
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
            try store.commit(request)
        }
        #expect(error?.code == .law, sourceLocation: sourceLocation)
        #expect(try store.head() == head, sourceLocation: sourceLocation)
        #expect(try store.projectionDigest() == digest, sourceLocation: sourceLocation)
        return try #require(error)
    }

    @Test(arguments: [AttributeType.double, .decimal])
    func `no number goes down by way of not a number`(type: AttributeType) throws {
        var gauge = entity("Gauge", [attribute("rate", type)])
        func number(_ value: Double) -> Value {
            type == .double ? .double(value) : .decimal(value.isNaN ? .nan : Decimal(value))
        }
        gauge.laws = [LawDescription("Rates rise", "rate NEVER DECREASED")]
        let evolving = try Evolving(gauge)
        let store = evolving.store
        let one = try store.add("Gauge", ["rate": number(5)])
        func edit(to new: Double) throws -> SaveRequest {
            let old = try store.value("rate", of: one)
            return SaveRequest(changes: [store.update(one, "rate", from: old, to: number(new))])
        }

        _ = try expectRefusal(store, edit(to: .nan))
        _ = try expectRefusal(store, edit(to: 4))
        try store.commit(edit(to: 6))

        let free = try store.add("Gauge", ["rate": number(.nan)])
        let away = store.update(free, "rate", from: number(.nan), to: number(1))
        _ = try expectRefusal(store, SaveRequest(changes: [away]))
    }

    @Test func `a law whose pattern takes too long refuses the save, and says which law it is`()
        throws
    {
        let rule = "salary NEVER CHANGED WHERE name MATCHES '(a+)+b(?<=c)'"
        let evolving = try Evolving(Self.staff(LawDescription("Names", rule)))
        let store = evolving.store
        let long = try store.add(
            "Person",
            [
                "name": .string(String(repeating: "a", count: 60)), "salary": .decimal(1),
                "state": .string("new"),
            ])

        let error = try expectRefusal(
            store, SaveRequest(changes: [try fall(store, long, to: 2)]))

        #expect(error.message.contains("whether Person/1 keeps the law \"Names\""))
        #expect(error.breaches == [])
        #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [try fall(store, long, to: 3)]))
        }
    }

    @Test func `a save that breaks a law names law, object, values and remedy, and saves nothing`()
        throws
    {
        let evolving = try Evolving(Self.staff(Self.falls))
        let store = evolving.store
        let ada = try person(store)

        let error = try expectRefusal(store, SaveRequest(changes: [try fall(store, ada)]))

        #expect(
            error.message
                == "Nothing was saved: a law of the model forbids a change. Save without it, or give a "
                + "note."
        )
        #expect(
            error.details == [
                "Person/1: salary 5000 → 4000 breaks the law \"Salaries fall with a note\": "
                    + "salary NEVER DECREASED UNLESS NOTE"
            ])
        let breach = try #require(error.breaches.first)
        #expect(error.breaches.count == 1)
        #expect(breach.object == ada && breach.property == "salary")
        #expect(breach.old == .decimal(5000) && breach.new == .decimal(4000))
        #expect(breach.storeIdentifier == store.uuid)
        try store.commit(
            SaveRequest(header: EntryHeader(note: "Agreed"), changes: [try fall(store, ada)]))
        try store.set(ada, "salary", .decimal(6000))
        try store.set(ada, "salary", .null)
        try store.expectSound()
    }

    @Test func `many breaches are told, the first of them in words`() throws {
        let evolving = try Evolving(Self.staff(Self.falls))
        let store = evolving.store
        let people = try (1...25).map { _ in try person(store) }

        let error = try expectRefusal(
            store, SaveRequest(changes: try people.map { try fall(store, $0) }))

        #expect(error.breaches.count == 25)
        #expect(error.message.contains("laws of the model forbid 25 changes. Save without them."))
        #expect(error.details.count == 21)
        #expect(error.details.last == "and 5 more")
    }

    @Test func `values of a confidential attribute are in no message`() throws {
        var person = Self.staff(Self.falls)
        person.attributes[1].isConfidential = true
        let evolving = try Evolving(person)
        let ada = try self.person(evolving.store)

        let error = try expectRefusal(
            evolving.store, SaveRequest(changes: [try fall(evolving.store, ada)]))

        #expect(error.details[0].contains("salary … → … breaks"))
        #expect(error.breaches[0].old == .decimal(5000))
    }

    @Test func `objects of subentities are held to it, and others are not`() throws {
        let evolving = try Evolving(
            Self.staff(Self.falls), entity("Clerk", under: "Person"),
            entity("Other", [attribute("salary", .decimal)]))
        let store = evolving.store
        let clerk = try person(store, "Clerk")
        let other = try store.add("Other", ["salary": .decimal(1)])

        _ = try expectRefusal(store, SaveRequest(changes: [try fall(store, clerk)]))
        try store.set(other, "salary", .decimal(0))
    }

    @Test func `once a condition held, only who may ends it, and a deletion has a law of its own`()
        throws
    {
        let evolving = try Evolving(Self.staff(Self.sent, Self.kept))
        let store = evolving.store
        let ada = try person(store)
        try store.set(ada, "state", .string("sent"))
        let change = store.update(ada, "state", from: .string("sent"), to: .string("new"))

        _ = try expectRefusal(store, SaveRequest(changes: [change]))
        _ = try expectRefusal(
            store, SaveRequest(header: EntryHeader(author: "bob"), changes: [change]))
        let refused = try expectRefusal(store, SaveRequest(changes: [try store.delete(ada)]))
        try store.set(ada, "level", .int(7))
        try store.commit(SaveRequest(header: EntryHeader(author: "ada"), changes: [change]))
        try store.remove(ada)

        #expect(refused.breaches.first?.property == nil)
        #expect(refused.details[0].hasPrefix("Person/1: its deletion breaks the law"))
        #expect(refused.message.hasSuffix("Save without it."))
    }

    @Test func `a to-one relationship is a property too`() throws {
        let evolving = try Evolving(
            Self.staff(LawDescription("Bosses stay", "boss NEVER CHANGED WHERE boss != NULL")))
        let store = evolving.store
        let people = try (1...3).map { _ in try person(store) }
        try store.set(people[0], "boss", .object(people[1]))

        let error = try expectRefusal(
            store,
            SaveRequest(changes: [
                store.update(
                    people[0], "boss", from: .object(people[1]), to: .object(people[2]))
            ]))

        #expect(error.details[0].hasPrefix("Person/1: boss Person/2 → Person/3 breaks"))
    }

    @Test func `batches, undo, redo and restore are held to it`() throws {
        let evolving = try Evolving(Self.staff(Self.falls, Self.kept))
        let store = evolving.store
        let ada = try person(store, state: "sent")
        try store.set(ada, "salary", .decimal(6000))
        let rise = try store.head()...store.head()

        _ = try expectRefusal(
            store,
            SaveRequest(header: EntryHeader(kind: .batch), changes: [try fall(store, ada)]))
        _ = try expectRefusal(store, try store.undoRequest(of: rise))
        let birth = SequenceNumber(2)...SequenceNumber(3)
        _ = try expectRefusal(store, try store.undoRequest(of: birth))
        try store.commit(try store.undoRequest(of: rise, note: "A mistake"))
        try store.commit(try store.redoPlan(of: rise).permitted())
        try store.commit(
            SaveRequest(header: EntryHeader(note: "Agreed"), changes: [try fall(store, ada)]))
        let back = try store.restorePlan(of: ada, at: rise.upperBound).permitted()
        try store.commit(back)

        #expect(try store.value("salary", of: ada) == .decimal(6000))
        try store.expectSound()
    }

    @Test func `what others have saved meanwhile is what a change starts from`() throws {
        let evolving = try Evolving(Self.staff(Self.falls))
        let store = evolving.store
        let ada = try person(store)
        let base = try store.head()
        let stale = try fall(store, ada, to: 5500)
        try store.set(ada, "salary", .decimal(6000))

        // From 5000 it would be a rise.
        let error = try expectRefusal(
            store,
            SaveRequest(
                header: EntryHeader(base: base), changes: [stale],
                policy: .mergeByPropertyObjectTrump))

        #expect(error.breaches.first?.old == .decimal(6000))
        #expect(error.breaches.first?.new == .decimal(5500))
    }

    @Test func `a preview tells what would be saved, whoever will save it`() throws {
        let evolving = try Evolving(Self.staff(Self.falls))
        let ada = try person(evolving.store)
        let changes = [try fall(evolving.store, ada)]

        #expect(try evolving.store.preview(SaveRequest(changes: changes)).changes == changes)
    }

    @Test func `a new law binds programs that do not know of it, and a migration is exempt`() throws
    {
        let evolving = try Evolving(Self.staff())
        let old = evolving.store
        let ada = try person(old)
        try old.set(ada, "salary", .decimal(4500))

        let new = try evolving.open(Self.staff(Self.falls), migration: .compatible)

        _ = try expectRefusal(old, SaveRequest(changes: [try fall(old, ada)]))
        try new.expectSound()
    }

    @Test func `a program whose model lacks a law does not end it by opening`() throws {
        let evolving = try Evolving(Self.staff(Self.falls))
        let ada = try person(evolving.store)
        func open(_ migration: MigrationPolicy) throws -> Store {
            try evolving.open(Self.staff(), migration: migration)
        }

        let error = #expect(throws: StoreError.self) { try open(.compatible) }
        #expect(error?.code == .modelMismatch)
        #expect(
            error?.details == ["drop the law \"Salaries fall with a note\" of 'Person'"])
        let reader = try open(.never)
        _ = try expectRefusal(reader, SaveRequest(changes: [try fall(reader, ada)]))
        let free = try open(.automatic)
        try free.commit(SaveRequest(changes: [try fall(free, ada)]))
    }

    @Test func `undoing the entry that set a law ends it`() throws {
        let evolving = try Evolving(Self.staff())
        let store = evolving.store
        let ada = try person(store)
        try evolving.open(Self.staff(Self.falls))
        let migration = try store.head()
        _ = try expectRefusal(store, SaveRequest(changes: [try fall(store, ada)]))

        try store.commit(try store.undoRequest(of: migration...migration))

        try store.commit(SaveRequest(changes: [try fall(store, ada)]))
    }

    @Test func `a law goes on when its property is renamed`() throws {
        let evolving = try Evolving(Self.staff(Self.falls))
        let ada = try person(evolving.store)
        var renamed = Self.staff(
            LawDescription(Self.falls.name, "pay NEVER DECREASED UNLESS NOTE"))
        renamed.attributes[1] = attribute("pay", .decimal, was: "salary")

        let new = try evolving.open(renamed, migration: .compatible)

        let change = new.update(ada, "pay", from: .decimal(5000), to: .decimal(1))
        let error = try expectRefusal(new, SaveRequest(changes: [change]))
        #expect(error.details[0].contains("pay 5000 → 1"))
        _ = try expectRefusal(
            evolving.openings[0], SaveRequest(changes: [try fall(evolving.openings[0], ada)]))
    }

    @Test func `a law of the store that cannot be read refuses every save and says so`() throws {
        let evolving = try Evolving(Self.staff())
        var model = evolving.store.schema.model
        model.entities[0].laws = [LawDescription("Later", "salary NEVER HALVED")]
        let store = evolving.store
        let projection = Projection(
            tables: store.parts.tables,
            schema: Schema(model, numberedBy: store.schema.version))

        let error = #expect(throws: StoreError.self) { _ = try LawCheck(projection) }

        #expect(error?.code == .model)
        #expect(error?.message.contains("The law \"Later\" of 'Person' cannot be read") == true)
    }

    @Test func `an export loads as it is`() throws {
        let evolving = try Evolving(Self.staff())
        let ada = try person(evolving.store)
        try evolving.store.set(ada, "salary", .decimal(1))
        let store = try evolving.open(Self.staff(Self.falls))
        try store.set(ada, "salary", .decimal(2))
        try store.commit(
            SaveRequest(header: EntryHeader(note: "Agreed"), changes: [try fall(store, ada, to: 1)])
        )
        let folder = try TemporaryStore.makeFolder()
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }

        let copy = try TestStore.create(
            at: folder.appending(path: "copy.daybook").path,
            loading: try store.entry(SequenceNumber(1)), options: .counting())
        try store.entries(from: SequenceNumber(2)) { entry in
            try copy.append(exported: entry)
            return .proceed
        }

        #expect(try copy.head() == store.head())
        #expect(try copy.projectionDigest() == store.projectionDigest())
        #expect(throws: StoreError.self) {
            try copy.commit(SaveRequest(changes: [try fall(copy, ada, to: 0)]))
        }
        try copy.close()
    }
}
