import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Blame in a store, compared with a walk through the journal that keeps every state.
@Suite struct BlameTests {
    /// A random history of saves, of undone saves, of undone undos and of restored objects, with
    /// every state.
    private struct Story {
        var history: RandomHistory
        var worlds: [ReferenceModel.World] = [[:], [:]]
        /// Who wrote each property of each object, after each entry.
        private(set) var credits: [[Part: Credit]] = [[:], [:]]
        var store: Store { history.store }

        init(seed: UInt64, steps: Int) throws {
            history = try RandomHistory(seed: seed, entries: 0)
            for _ in 0..<steps { try step() }
        }

        private mutating func step() throws {
            let head = try store.head()
            do {
                try save(after: head)
            } catch let error as StoreError where error.code == .undoBlocked {
                return
            }
            guard try store.head() > head else { return }
            worlds.append(try store.world())
            credits.append(try walk())
        }

        private mutating func save(after head: SequenceNumber) throws {
            let world = worlds[worlds.count - 1]
            let gone = Set(worlds.flatMap(\.keys)).subtracting(world.keys).sorted()
            let choice = head > SequenceNumber(2) ? history.random.number(in: 0...7) : 7
            switch choice {
            case 0, 1:
                let first = history.random.number(in: 2...Int(head.rawValue))
                let last = min(first + history.random.number(in: 0...1), Int(head.rawValue))
                let range = SequenceNumber(UInt64(first))...SequenceNumber(UInt64(last))
                let policies: [UndoPolicy] = [.refuse, .keepLater, .overwrite]
                try store.commit(
                    store.undoRequest(
                        of: range, policy: policies[history.random.number(in: 0...2)]))
            case 2:
                // The last change can be undone repeatedly.
                try store.commit(store.undoRequest(of: head))
            case 3 where !gone.isEmpty:
                let object = gone[history.random.number(in: 0...gone.count - 1)]
                try store.commit(store.restorePlan(of: object, policy: .keepLater).permitted())
            default:
                let store = store
                let next = try history.random.step(from: world) {
                    try store.allocateObjectNumber()
                }
                try store.commit(
                    SaveRequest(
                        changes: ReferenceModel.changes(from: world, to: next, store.schema)))
            }
        }

        /// The blame after the last entry, derived from that of the entries before.
        private func walk() throws -> [Part: Credit] {
            let position = worlds.count - 1
            let undoes = try store.entry(SequenceNumber(UInt64(position))).header.undoes
            let beforeUndone = undoes.map { Int($0.lowerBound.rawValue) - 1 }
            var credits: [Part: Credit] = [:]
            for object in worlds[position].keys {
                let lastLife = worlds[..<position].lastIndex { $0[object] != nil }
                for property in store.schema.entity(object.entity)?.properties ?? []
                where property.isPersistent {
                    let part = Part(object: object, property: property.number)
                    let content = content(property, of: object, at: position)
                    if self.content(property, of: object, at: position - 1) == content {
                        credits[part] = self.credits[position - 1][part]
                        continue
                    }
                    let sources =
                        if let lastLife, lastLife < position - 1 {
                            [beforeUndone, lastLife]
                        } else {
                            [lifeBeforeReturn(of: content, property, of: object, at: position)]
                        }
                    let source = sources.compactMap(\.self)
                        .first { self.content(property, of: object, at: $0) == content }
                    let writer = source.flatMap { self.credits[$0][part]?.writer }
                    credits[part] = Credit(
                        writer: writer ?? position, broughtBackBy: writer == nil ? nil : position)
                }
            }
            return credits
        }

        /// The last position at which all objects existed to which a relationship leads since a
        /// position but not before; nil when one of them has not just come back.
        private func lifeBeforeReturn(
            of content: Content?, _ property: SchemaProperty, of object: ObjectID, at position: Int
        ) -> Int? {
            let before = self.content(property, of: object, at: position - 1)?.objects ?? []
            let new = (content?.objects ?? []).filter { !before.contains($0) }
            let lives = new.map { other in
                worlds[position - 1][other] == nil
                    ? worlds[..<position].lastIndex { $0[other] != nil } : nil
            }
            return lives.contains(nil) ? nil : lives.compactMap(\.self).min()
        }

        /// A property in one state; nil when there is no such object.
        func content(_ property: SchemaProperty, of object: ObjectID, at position: Int) -> Content?
        {
            guard let state = worlds[position][object] else { return nil }
            if let slot = property.slot { return Content(value: state.values[slot]) }
            if property.isStoredToMany {
                return Content(members: state.members[property.number] ?? [:])
            }
            guard let stored = property.end?.inverse.flatMap(store.schema.property) else {
                return Content()
            }
            let owners = ReferenceModel.referrers(
                to: object, stored, in: worlds[position], store.schema)
            return Content(members: Dictionary(uniqueKeysWithValues: owners.map { ($0, 0) }))
        }
    }

    private struct Part: Hashable {
        let object: ObjectID
        let property: PropertyNumber
    }

    private struct Credit {
        let writer: Int
        let broughtBackBy: Int?
    }

    private struct Content: Equatable {
        var value = Value.null
        var members: [ObjectID: Double] = [:]

        var objects: [ObjectID] { (value.reference.map { [$0] } ?? []) + members.keys }
    }

    private func content(
        _ value: Value, _ members: [Member], of property: SchemaProperty
    ) -> Content {
        let isDerived = property.slot == nil && !property.isStoredToMany
        var all = members.map { ($0.object, $0.order) }
        if isDerived, let object = value.reference { all.append((object, 0)) }
        return Content(
            value: isDerived ? .null : value, members: Dictionary(uniqueKeysWithValues: all))
    }

    private func check(_ story: Story, seed: UInt64, at position: Int) throws {
        let store = story.store
        for object in story.worlds[position].keys.sorted() {
            let blames = try store.blame(of: object, at: SequenceNumber(UInt64(position)))
            for blame in try #require(blames) {
                let property = blame.property
                let credit = try #require(
                    story.credits[position][Part(object: object, property: property.number)])
                let origin = credit.writer
                let about: Comment =
                    "seed \(seed): \(property.name) of \(store.schema.name(of: object)) at \(position)"
                #expect(blame.sequence == SequenceNumber(UInt64(origin)), about)
                #expect(
                    blame.returning?.sequence
                        == credit.broughtBackBy.map { SequenceNumber(UInt64($0)) }, about)
                #expect(blame.isInsert == (story.worlds[origin - 1][object] == nil), about)
                #expect(
                    content(blame.value, blame.members, of: property)
                        == story.content(property, of: object, at: position), about)
                #expect(
                    content(blame.previous, blame.previousMembers, of: property)
                        == story.content(property, of: object, at: origin - 1) ?? Content(),
                    about)
            }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `blame as of every entry names who wrote the value, and who brought it back`(
        seed: UInt64
    ) throws {
        let story = try Story(seed: seed, steps: 40)

        let returns = story.credits.flatMap(\.values).filter { $0.broughtBackBy != nil }
        #expect(!returns.isEmpty, "seed \(seed) brings nothing back")
        for position in 1..<story.worlds.count { try check(story, seed: seed, at: position) }
    }

    @Test(arguments: 21...24 as ClosedRange<UInt64>)
    func `rebuilding keeps the ages, and the check finds nothing`(seed: UInt64) throws {
        let story = try Story(seed: seed, steps: 30)
        let before = try story.store.projectionDigest()

        try story.store.rebuild()

        #expect(try story.store.projectionDigest() == before, "seed \(seed)")
        try check(story, seed: seed, at: story.worlds.count - 1)
        let path = story.history.temporary.path
        try story.store.close()
        let report = try Store.verify(path: path)
        #expect(report.findings.isEmpty, "seed \(seed): \(report.findings)")
    }

    @Test func `who, when and why come from the entry`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let ada = try store.newObject("Person")
        try store.commit(
            SaveRequest(
                header: EntryHeader(author: "registrar", note: "Hired", occurredAt: 77),
                changes: [store.insert(ada, ["name": .string("Ada"), "age": .int(36)])]))
        try store.commit(
            SaveRequest(
                header: EntryHeader(author: "Grace"),
                changes: [store.update(ada, "age", from: .int(36), to: .int(37))]))

        let name = try #require(try store.blame(of: store.property("name", of: ada), in: ada))
        let age = try #require(try store.blame(of: store.property("age", of: ada), in: ada))

        #expect(name.sequence == SequenceNumber(2))
        #expect(name.author == "registrar")
        #expect(name.note == "Hired")
        #expect(name.time == 77)
        #expect(name.isInsert)
        #expect(name.previous == .null)
        #expect(age.sequence == SequenceNumber(3))
        #expect(age.author == "Grace")
        #expect(age.note == nil)
        #expect(age.time == (try store.entry(SequenceNumber(3)).recordedAt))
        #expect(!age.isInsert)
        #expect(age.value == .int(37))
        #expect(age.previous == .int(36))
    }

    @Test func `an object that never existed is distinguished from a deleted one`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let ada = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(ada)]))
        try store.commit(
            SaveRequest(header: EntryHeader(author: "Grace"), changes: [try store.delete(ada)]))

        let error = #expect(throws: StoreError.self) { try store.blame(of: ada) }

        #expect(error?.code == .objectDeleted)
        #expect(error?.message.contains("in entry 3 by 'Grace' at ") == true)
        #expect(try store.blame(of: ada, at: SequenceNumber(1)) == nil)
        #expect(try store.blame(of: ada, at: SequenceNumber(2))?.isEmpty == false)
        #expect(try store.blame(of: store.newObject("Person")) == nil)
        let past = #expect(throws: StoreError.self) {
            try store.blame(of: ada, at: SequenceNumber(4))
        }
        #expect(past?.code == .noSuchEntry)
    }

    @Test func `asking for a transient property is a caller's mistake`() async {
        await #expect(processExitsWith: .failure) {
            let temporary = try TemporaryStore()
            let schema = try Schema(
                ManagedObjectModel(entities: [
                    EntityDescription(
                        name: "Note",
                        attributes: [
                            AttributeDescription(name: "request", type: .string, isTransient: true)
                        ])
                ]))
            let property = try #require(schema.entities.first?.property(named: "request"))
            _ = try temporary.store.blame(
                of: property, in: temporary.store.newObject("Person"))
        }
    }

    @Test func `a row keeps its size when the same values come from a later entry`() throws {
        let values: [Value] = [.int(1), .null, .string("x")]
        let since = SequenceNumber(300)
        let fresh = RowOrigins(
            birth: since, values: Array(repeating: since, count: 3), members: [since])
        var updated = fresh
        updated.birth = SequenceNumber(200)

        let rows = [fresh, updated].map { row(since: since, values, origins: $0) }

        #expect(rows[0].count == rows[1].count)
        let first = rows[0]
        let bytes = first.span.bytes
        let origins = try RowLayout(bytes).origins(in: bytes, relationships: 1)
        #expect(origins == fresh)
    }

    /// The bytes of a row, in the layout of an entry's fields.
    private func row(
        since: SequenceNumber, _ values: [Value], origins: RowOrigins
    ) -> [UInt8] {
        var writer = ByteWriter()
        var fields: [RowField] = []
        for value in values {
            let start = writer.bytes.count
            if !value.isNull { writer.append(value) }
            fields.append(
                RowField(
                    range: EncodedField(start: start, end: writer.bytes.count), isNew: true))
        }
        let bytes = writer.bytes
        let parts = [origins.birth] + origins.values + origins.members
        var encoder = RowEncoder()
        encoder.encode(
            since: since, fields, from: bytes.span.bytes, bytes.span.bytes,
            ages: parts.map { since.rawValue - $0.rawValue })
        return encoder.bytes
    }

    @Test(arguments: [0, 300, 70_000])
    func `ages come back as they were written, and no byte may be missing`(size: Int) throws {
        let values: [Value] = [.string(String(repeating: "x", count: size)), .null]
        let origins = RowOrigins(
            birth: SequenceNumber(2), values: [SequenceNumber(900), SequenceNumber(2)],
            members: [SequenceNumber(500)])

        let bytes = row(since: SequenceNumber(900), values, origins: origins)

        let layout = try RowLayout(bytes.span.bytes)
        #expect(try layout.values(in: bytes.span.bytes) == values)
        #expect(try layout.origins(in: bytes.span.bytes, relationships: 1) == origins)
        for wrong in [Array(bytes.dropLast()), bytes + [0]] {
            #expect(throws: DecodingFailure.self) {
                _ = try RowLayout(wrong.span.bytes).origins(in: wrong.span.bytes, relationships: 1)
            }
        }
    }
}
