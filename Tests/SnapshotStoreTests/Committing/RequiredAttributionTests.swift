import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Models that require an author, a note or information of every entry.
@Suite struct RequiredAttributionTests {
    private static let everything: Set<AttributionRequirement> = [
        .author, .note, .info("request"), .info("device"),
    ]
    private static let full = EntryHeader(
        author: "Ada", note: "Hired", info: ["request": "7", "device": "pad", "more": ""])

    private func demanding(
        _ requires: Set<AttributionRequirement> = Self.everything
    ) throws -> TemporaryStore {
        var model = ManagedObjectModel.sample
        model.requires = requires
        return try TemporaryStore(model)
    }

    private func insert(_ store: Store, title: String = "Sailing") throws -> [Change] {
        [store.insert(try store.newObject("Skill"), ["title": .string(title)])]
    }

    @Test func `a save without what is required names it and how to give it, and saves nothing`()
        throws
    {
        let temporary = try demanding()
        let store = temporary.store
        let changes = try insert(store)

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: changes))
        }

        #expect(error?.code == .attribution)
        #expect(
            error?.message
                == "Nothing was saved: the model requires an author and a note and the information "
                + "\"device\" and the information \"request\". Give them and save again.")
        #expect(error?.details.count == 4)
        #expect(error?.details[2].contains("--info device=") == true)
        #expect(try store.head() == SequenceNumber(1))
        try store.commit(SaveRequest(header: Self.full, changes: changes))
        #expect(try store.head() == SequenceNumber(2))
    }

    @Test(arguments: [
        (AttributionRequirement.author, "an author"), (.note, "a note"),
        (.info("request"), "the information \"request\""),
    ])
    func `each is missed alone, and a blank text says nothing`(
        requirement: AttributionRequirement, noun: String
    ) throws {
        let temporary = try demanding()
        let store = temporary.store
        let changes = try insert(store)
        for blank in [nil, "", " \n"] as [String?] {
            var header = Self.full
            switch requirement {
            case .author: header.author = blank
            case .note: header.note = blank
            case .info(let key): header.info[key] = blank
            }

            let error = #expect(throws: StoreError.self) {
                try store.commit(SaveRequest(header: header, changes: changes))
            }

            #expect(
                error?.message == "Nothing was saved: the model requires \(noun). Give it and save "
                    + "again.")
        }
    }

    @Test func `batches, undo, redo and restore are held to it, and a default note is none`() throws
    {
        let temporary = try demanding()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(
            SaveRequest(
                header: Self.full, changes: [store.insert(skill, ["title": .string("Sailing")])]))
        let one = SequenceNumber(2)...SequenceNumber(2)
        func expectRefusal(_ request: SaveRequest) throws {
            let head = try store.head()
            let error = #expect(throws: StoreError.self) { try store.commit(request) }
            #expect(error?.code == .attribution)
            #expect(try store.head() == head)
        }

        try expectRefusal(
            SaveRequest(header: EntryHeader(kind: .batch), changes: try insert(store)))
        try expectRefusal(try store.undoRequest(of: one, author: "Ada"))
        try store.commit(
            try store.undoRequest(of: one, author: "Ada", note: "Not yet", info: Self.full.info))
        try expectRefusal(try store.redoPlan(of: one, note: "Now").permitted())
        try expectRefusal(
            try store.restorePlan(of: skill, author: "Ada", info: Self.full.info).permitted())
        try store.commit(
            try store.restorePlan(of: skill, author: "Ada", note: "Back", info: Self.full.info)
                .permitted())

        #expect(try store.head() == SequenceNumber(4))
    }

    @Test func `a save that changes nothing needs no author`() throws {
        let temporary = try demanding()

        #expect(try temporary.store.commit(SaveRequest()).sequence == nil)
    }

    @Test func `a preview tells what would be saved, whoever will save it`() throws {
        let temporary = try demanding()
        let changes = try insert(temporary.store)

        #expect(try temporary.store.preview(SaveRequest(changes: changes)).changes == changes)
    }

    @Test func `a migration that adds a requirement binds programs that do not know of it`() throws
    {
        let evolving = try Evolving(entity("Skill", [attribute("title")]))
        let old = evolving.store
        try old.add("Skill", ["title": .string("Sailing")])
        var model = old.schema.model
        model.requires = [.author]

        var options = StoreOptions.counting()
        options.migration = .compatible
        let new = try TestStore.open(at: evolving.temporary.path, model: model, options: options)
        defer { new.closeQuietly() }

        #expect(try old.head() == SequenceNumber(3))
        #expect(try old.heading(of: SequenceNumber(3)).author == nil, "The entry sets a model.")
        let error = #expect(throws: StoreError.self) {
            try old.add("Skill", ["title": .string("Rowing")])
        }
        #expect(error?.code == .attribution)
        try old.commit(
            SaveRequest(header: EntryHeader(author: "Ada"), changes: try insert(old)))
        #expect(try new.head() == SequenceNumber(4))
        try new.expectSound()
    }

    @Test func `a program that does not know of a requirement does not end it by opening`() throws {
        let temporary = try demanding([.note])
        let plain = ManagedObjectModel.sample
        func open(_ migration: MigrationPolicy) throws -> Store {
            var options = StoreOptions.counting()
            options.migration = migration
            return try TestStore.open(at: temporary.path, model: plain, options: options)
        }

        let error = #expect(throws: StoreError.self) { try open(.compatible) }
        #expect(error?.code == .modelMismatch)
        #expect(error?.details == ["no longer require a note of every entry"])
        let reader = try open(.never)
        #expect(throws: StoreError.self) {
            try reader.commit(SaveRequest(changes: try insert(reader)))
        }
        try reader.close()
        let free = try open(.automatic)
        try free.commit(SaveRequest(changes: try insert(free)))
        try free.close()
    }

    @Test func `undoing the entry that set a model needs no author`() throws {
        let temporary = try demanding([.author])
        var model = ManagedObjectModel.sample
        model.requires = [.author, .note]
        _ = try Store.migrate(at: temporary.path, to: model, options: .counting())

        try temporary.store.commit(try temporary.store.undoRequest(of: SequenceNumber(2)))

        let error = #expect(throws: StoreError.self) {
            try temporary.store.commit(SaveRequest(changes: try insert(temporary.store)))
        }
        #expect(error?.message.contains("requires an author.") == true)
    }
}
