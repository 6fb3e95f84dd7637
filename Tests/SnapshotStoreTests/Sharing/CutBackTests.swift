import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// What openings make of entries that were cut off meanwhile, and of others that got their numbers.
@Suite(.ownStores("The servers would bring back what is cut off.")) struct CutBackTests {
    private func titled(_ more: AttributeDescription...) -> EntityDescription {
        entity("Skill", [attribute("title")] + more)
    }

    /// A store in which an entry set a model that was cut off, and another one set another in its place.
    private func replaced() throws -> (Evolving, first: Store, lost: Store, now: Store) {
        let evolving = try Evolving(titled())
        let first = evolving.store
        try first.add("Skill", ["title": .string("Sailing")])
        let kept = try first.head()
        let lost = try evolving.open(titled(attribute("rank", .int64, default: .int(7))))
        // Both have used it.
        try first.add("Skill", ["title": .string("Rowing")])
        try lost.add("Skill", ["title": .string("Diving")])
        try first.cutBack(to: kept)
        let now = try evolving.open(titled(attribute("place", default: .string("sea"))))
        try #require(now.modelSequence == lost.modelSequence)
        return (evolving, first, lost, now)
    }

    // MARK: - Models

    @Test func `a save is folded by the model that took the place of one that was cut off`() throws
    {
        let (evolving, first, _, now) = try replaced()

        let skill = try first.add("Skill", ["title": .string("Gliding")])

        #expect(try now.value("place", of: skill) == .string("sea"))
        #expect(try now.value("title", of: skill) == .string("Gliding"))
        try now.expectSound()
        _ = evolving
    }

    @Test func `by a model that was cut off nothing is read or saved`() throws {
        let (evolving, first, lost, now) = try replaced()
        let skill = try now.add("Skill", ["title": .string("Gliding"), "place": .string("sky")])

        let request = SaveRequest(changes: [
            lost.insert(try lost.newObject("Skill"), ["title": .string("Climbing")])
        ])
        let codes = [
            code { try lost.commit(request) },
            code { _ = try lost.preview(request) },
            code { _ = try lost.read { try $0.row(skill) } },
            code { _ = try lost.packedRow(of: skill, at: nil) },
            code { _ = try lost.readWithSequence { snapshot, _ in try snapshot.exists(skill) } },
        ]

        #expect(codes == Array(repeating: .generation, count: 5))
        #expect(try now.value("place", of: skill) == .string("sky"))
        #expect(try first.value("title", of: skill) == .string("Gliding"))
        _ = evolving
    }

    @Test func `a save that stood on what was cut off stands on what is left`() throws {
        let evolving = try Evolving(titled())
        let store = evolving.store
        try store.add("Skill", ["title": .string("Sailing")])
        let kept = try store.head()
        try store.add("Skill", ["title": .string("Rowing")])
        let base = try store.head()
        try store.cutBack(to: kept)

        let insert = store.insert(try store.newObject("Skill"), ["title": .string("Diving")])
        let result = try store.commit(
            SaveRequest(header: EntryHeader(base: base), changes: [insert]))

        let entry = try store.entry(try #require(result.sequence))
        #expect(entry.sequence == base)
        #expect(entry.header.base == kept)
        try store.expectSound()
    }

    @Test func `a model before what was cut off stays`() throws {
        let evolving = try Evolving(titled())
        let new = try evolving.open(titled(attribute("rank", .int64, default: .int(7))))
        let skill = try new.add("Skill", ["title": .string("Sailing")])
        let kept = try new.head()
        try new.add("Skill", ["title": .string("Rowing")])

        try evolving.openings[0].cutBack(to: kept)
        try new.set(skill, "title", .string("Gliding"))

        #expect(try new.value("rank", of: skill) == .int(7))
        #expect(try evolving.openings[0].value("title", of: skill) == .string("Gliding"))
        try new.expectSound()
    }

    @Test func `a damaged count of cuts keeps nobody from reading and saving`() throws {
        let evolving = try Evolving(titled())
        let store = evolving.store
        try store.writing { [meta = store.parts.tables.meta] transaction in
            try StoreMetadata.put(StoreMetadata.Name.rewinds, [1], meta, in: transaction)
        }

        let skill = try store.add("Skill", ["title": .string("Sailing")])
        let other = try evolving.open(titled(attribute("rank", .int64, default: .int(7))))

        #expect(try store.value("title", of: skill) == .string("Sailing"))
        #expect(try other.value("rank", of: skill) == .int(7))
        #expect(try other.verify().findings.map(\.place) == ["meta, 'rewinds'"])
    }

    // MARK: - Readers

    private func saveTitles(_ titles: String..., in store: Store) throws {
        for title in titles { try store.add("Skill", ["title": .string(title)]) }
    }

    @Test func `a reader at the end is told when another entry took the place of the last one`()
        throws
    {
        let evolving = try Evolving(titled())
        let store = evolving.store
        try saveTitles("Sailing", "Rowing", in: store)
        let head = try store.head()
        var (pages, others) = (
            JournalPages(of: store, after: try store.place(after: head)),
            JournalPages(of: store, after: try store.place(after: SequenceNumber(2)))
        )
        #expect(try pages.next().isEmpty)

        try store.cutBack(to: SequenceNumber(2))
        #expect(try others.next().isEmpty)
        try saveTitles("Gliding", in: store)

        try #require(try store.head() == head)
        #expect(code { _ = try pages.next() } == .generation)
        #expect(try others.next().map(\.sequence) == [head])
        #expect(try others.next().isEmpty)
    }

    @Test func `listeners are told of a cut, and of what is saved after it`() async throws {
        let evolving = try Evolving(titled())
        try saveTitles("Sailing", "Rowing", "Diving", in: evolving.store)
        let other = try evolving.open(titled())
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let watch = evolving.openings[0].watch(.others) { tell.yield() }
        var notices = told.makeAsyncIterator()

        try other.cutBack(to: SequenceNumber(2))
        await notices.next()
        try saveTitles("Gliding", in: other)
        await notices.next()

        #expect(try evolving.openings[0].head() == SequenceNumber(3))
        withExtendedLifetime(watch) {}
    }
}
