import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Names of entries.
@Suite struct TagTests {
    private func store(entries: Int = 3) throws -> TemporaryStore {
        let temporary = try TemporaryStore()
        for _ in 0..<entries {
            let object = try temporary.store.newObject("Person")
            try temporary.store.commit(SaveRequest(changes: [temporary.store.insert(object)]))
        }
        return temporary
    }

    @Test func `a tag stays after closing and does not move the head`() throws {
        let temporary = try store()
        let store = temporary.store
        let head = try store.head()
        let digests = try store.projectionDigest()

        let first = try store.setTag("v1.0", author: "Ada", note: "The first")
        let second = try store.setTag("before", at: SequenceNumber(2))
        try store.close()

        let again = try TestStore.open(at: temporary.path)
        #expect(try again.tags() == [second, first])
        #expect(try again.tag(named: "v1.0") == first)
        #expect(first.sequence == head)
        #expect(first.digest == (try again.headDigest()))
        #expect(first.author == "Ada")
        #expect(first.note == "The first")
        #expect(second.author == nil)
        #expect(try again.tag(named: "v2") == nil)
        #expect(try again.head() == head)
        #expect(try again.projectionDigest() == digests)
        try again.close()
        #expect(try Store.verify(path: temporary.path).findings.isEmpty)
    }

    @Test func `a name is taken until it is replaced or removed`() throws {
        let temporary = try store()
        let store = temporary.store
        try store.setTag("v1", at: SequenceNumber(2))

        let taken = #expect(throws: StoreError.self) { try store.setTag("v1") }
        let moved = try store.setTag("v1", at: SequenceNumber(3), existing: .replace)
        let removed = try store.removeTag(named: "v1")
        let missing = #expect(throws: StoreError.self) { try store.removeTag(named: "v1") }

        #expect(taken?.code == .tagName)
        #expect(taken?.message.contains("'v1' already, at entry 2") == true)
        #expect(moved == removed)
        #expect(missing?.code == .noSuchTag)
        #expect(try store.tags().isEmpty)
    }

    @Test(
        arguments: [
            "", "42", "head", "HEAD", "2011-12-15", "2011-12-15T08:30", "2011-12", "today",
            "2.days.ago", "-x", ".x", "x.", "x.lock",
            "a..b", "a@{b", "a/b", "a b", "a\tb", "a\u{7F}", "a~1", "a^", "a:b", "a?", "a*", "[a",
            "a\\b", "\"a\"", "it's", "a\u{202E}b", String(repeating: "x", count: 201),
        ])
    func `a name that could be mistaken for something else is refused`(name: String) throws {
        let temporary = try store()

        let error = #expect(throws: StoreError.self) { try temporary.store.setTag(name) }

        #expect(error?.code == .tagName)
        #expect(try temporary.store.tags().isEmpty)
    }

    @Test(arguments: ["v1", "2011q4", "2011-x2", "Größe", "release-2", "a.b", "日本", "x_y", "{"])
    func `other names are allowed`(name: String) throws {
        let temporary = try store()

        try temporary.store.setTag(name, at: SequenceNumber(2))

        #expect(try temporary.store.tag(named: name)?.sequence == SequenceNumber(2))
    }

    @Test func `only existing entries can be tagged`() throws {
        let temporary = try store()

        for number in [0, 5, 99] as [UInt64] {
            let error = #expect(throws: StoreError.self) {
                try temporary.store.setTag("x", at: SequenceNumber(number))
            }
            #expect(error?.code == .noSuchEntry)
        }
        #expect(try temporary.store.tags().isEmpty)
    }

    @Test func `a tag on an entry that has been replaced is not used, and verify finds it`()
        throws
    {
        let temporary = try store()
        let store = temporary.store
        let other = StoreTag(
            name: "x", sequence: SequenceNumber(2), digest: .zero, author: nil, note: nil, time: 0)
        let past = StoreTag(
            name: "y", sequence: SequenceNumber(9), digest: .zero, author: nil, note: nil, time: 0)
        try store.writing { [meta = store.parts.tables.meta] in
            try StoreMetadata.setTags([other, past], meta, in: $0)
        }
        for name in ["x", "y"] {
            let error = #expect(throws: StoreError.self) { try store.tag(named: name) }
            #expect(error?.code == .generation)
        }
        try store.close()

        let report = try Store.verify(path: temporary.path)

        #expect(report.findings.map(\.place) == ["tag 'x'", "tag 'y'"])
    }

    @Test func `a damaged record of tags is reported, not read`() throws {
        let temporary = try store()
        let store = temporary.store
        try store.setTag("x")
        try store.writing { [meta = store.parts.tables.meta] in
            try StoreMetadata.put(StoreMetadata.Name.tags, [1, 1, 9], meta, in: $0)
        }

        let error = #expect(throws: StoreError.self) { try store.tags() }

        #expect(error?.code == .corrupt)
    }
}
