import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// The index of what entries have changed, against a list of what they have.
@Suite struct ChangeIndexTests {
    /// What a model asks to be indexed.
    private struct Indexes {
        var changes: Bool
        var authors: Bool
        /// Whether some attributes have an index of their values as well.
        var values = false
    }

    /// A model; one with another note is never taken for one that was there before.
    private static func model(_ indexes: Indexes, note: String? = nil) -> ManagedObjectModel {
        var thing = entity(
            "Thing", [attribute("a", .int64), attribute("b", .double)],
            to: [relationship("friend", "Thing")])
        thing.indexesChanges = indexes.changes
        thing.versionHashModifier = note
        var special = entity("Special", under: "Thing", [attribute("c")])
        for place in thing.attributes.indices { thing.attributes[place].isIndexed = indexes.values }
        special.attributes[0].isIndexed = indexes.values
        return ManagedObjectModel(
            entities: [thing, special, entity("Other")],
            indexesEntries: indexes.authors ? [.author] : [])
    }

    private static func model(_ isIndexed: Bool) -> [EntityDescription] {
        Array(model(Indexes(changes: isIndexed, authors: false)).entities.prefix(2))
    }

    private struct Event {
        let sequence: SequenceNumber
        let author: String?
        let object: ObjectID
        let property: String
        let old: Value
        let new: Value
    }

    /// A store, what is in it, and all that entries have changed.
    private struct Chronicle {
        let evolving: Evolving
        var random: SeededGenerator
        var indexes: Indexes
        var world: [ObjectID: [String: Value]] = [:]
        var events: [Event] = []
        var last: [Event] = []
        var lastWorld: [ObjectID: [String: Value]] = [:]

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            indexes = Indexes(
                changes: Bool.random(using: &random), authors: Bool.random(using: &random),
                values: Bool.random(using: &random))
            evolving = try Evolving(model: ChangeIndexTests.model(indexes))
        }

        var store: Store { evolving.store }

        mutating func number(_ range: ClosedRange<Int>) -> Int {
            Int.random(in: range, using: &random)
        }

        mutating func value(_ property: String) -> Value {
            if number(0...6) == 0 { return .null }
            switch property {
            case "a": return .int(Int64(number(0...5)))
            case "b": return .double([0, 1.5, .nan, -2][number(0...3)])
            // Long values are not in the index.
            case "c": return .string(["x", "y", String(repeating: "z", count: 60)][number(0...2)])
            default:
                return world.keys.sorted().randomElement(using: &random).map { .object($0) }
                    ?? .null
            }
        }

        /// Inserts, updates and deletes a few objects, or takes back the entry before.
        mutating func save() throws {
            let author = ["ada", "bob", nil][number(0...2)]
            if !last.isEmpty, number(0...7) == 0 {
                let head = try store.head()
                guard
                    let sequence = try store.commit(
                        try store.undoRequest(of: head...head, author: author)
                    ).sequence
                else { return }
                (world, lastWorld) = (lastWorld, world)
                last = last.map {
                    Event(
                        sequence: sequence, author: author, object: $0.object,
                        property: $0.property, old: $0.new, new: $0.old)
                }
                events += last
                return
            }
            let before = world
            var changes: [ObjectID: Change] = [:]
            var found: [(ObjectID, String, Value, Value)] = []
            for _ in 0..<number(1...4) {
                let known = world.keys.sorted().filter { changes[$0] == nil }
                guard number(0...5) > 0, let object = known.randomElement(using: &random) else {
                    let object = try store.newObject(number(0...1) == 0 ? "Thing" : "Special")
                    var values: [String: Value] = [:]
                    for name in ["a", "b"] { values[name] = value(name) }
                    changes[object] = store.insert(object, values)
                    world[object] = values
                    continue
                }
                let names =
                    store.schema.entity(object.entity)?.property(named: "c") == nil
                    ? ["a", "b", "friend"] : ["a", "b", "friend", "c"]
                let isReferred = world.values.contains { $0["friend"] == .object(object) }
                if number(0...9) == 0, !isReferred, changes.isEmpty {
                    changes[object] = try store.delete(object)
                    world[object] = nil
                    break
                }
                var edits: [Edit] = []
                for name in names where number(0...1) == 0 {
                    let (old, new) = (world[object]?[name] ?? .null, value(name))
                    guard old != new, new.reference.map({ world[$0] != nil }) ?? true else {
                        continue
                    }
                    edits.append(
                        Edit(property: store.property(name, of: object).number, old: old, new: new))
                    found.append((object, name, old, new))
                    world[object]?[name] = new
                }
                guard !edits.isEmpty else { continue }
                changes[object] = Change(
                    object: object,
                    kind: .update(edits: edits.sorted { $0.property < $1.property }, members: []))
            }
            guard !changes.isEmpty else { return }
            let request = SaveRequest(
                header: EntryHeader(author: author), changes: Array(changes.values))
            guard let sequence = try store.commit(request).sequence else { return }
            lastWorld = before
            last = found.map {
                Event(
                    sequence: sequence, author: author, object: $0.0, property: $0.1, old: $0.2,
                    new: $0.3)
            }
            events += last
        }

        /// Begins or ceases to keep the indexes; now and then that is taken back at once.
        mutating func migrate() throws {
            let before = indexes
            indexes.changes.toggle()
            if number(0...1) == 0 { indexes.authors.toggle() }
            if number(0...1) == 0 { indexes.values.toggle() }
            let note = "\(try store.head())"
            try evolving.open(model: ChangeIndexTests.model(indexes, note: note))
            last = []
            guard number(0...2) == 0 else { return }
            let head = try store.head()
            try store.commit(try store.undoRequest(of: head...head))
            indexes = before
            try evolving.open(model: ChangeIndexTests.model(indexes, note: "\(note), again"))
        }
    }

    private func expectFound(_ chronicle: inout Chronicle, _ about: Comment) throws {
        let store = chronicle.store
        let entity = try #require(
            store.schema.entity(named: chronicle.number(0...2) == 0 ? "Special" : "Thing"))
        let property =
            entity.name == "Special" && chronicle.number(0...1) == 0
            ? "c" : ["a", "b", "friend"][chronicle.number(0...2)]
        let direction =
            property == "friend" || property == "c"
            ? FilterChange.Direction.changed
            : FilterChange.Direction.allCases[chronicle.number(0...2)]
        let head = try store.head()
        let (first, last) = (
            UInt64(chronicle.number(1...Int(head.rawValue))),
            UInt64(chronicle.number(1...Int(head.rawValue)))
        )
        let moment =
            chronicle.number(0...1) == 0
            ? head : SequenceNumber(UInt64(chronicle.number(2...Int(head.rawValue))))
        var text = "\(property) \(direction.rawValue)"
        let author = ["ada", "bob"][chronicle.number(0...1)]
        let (isBy, isSince, isUntil) = (
            chronicle.number(0...2) == 0, chronicle.number(0...1) == 0, chronicle.number(0...2) == 0
        )
        if isBy { text += " BY '\(author)'" }
        if isSince { text += " SINCE \(first)" }
        if isUntil { text += " UNTIL \(last)" }
        let filter = try Filter(parsing: text, for: entity, in: store.schema)
        guard case .past(_, .change(let change)) = filter else {
            Issue.record("\(text) is no question about changes.")
            return
        }
        let expected = chronicle.events.filter { event in
            event.property == property && entity.family.contains(event.object.entity)
                && event.sequence <= moment && change.isMet(from: event.old, to: event.new)
                && (!isBy || event.author == author)
                && (!isSince || event.sequence.rawValue >= first)
                && (!isUntil || event.sequence.rawValue <= last)
        }

        try store.read(at: moment) { snapshot in
            let query = Query(entity, filter: filter)
            let objects = try snapshot.fetch(query)
            let there = Set(expected.map(\.object)).filter { (try? snapshot.exists($0)) == true }
            #expect(Set(objects) == there, "\(about): \(text) as of \(moment)")
            #expect(objects.count == there.count)
            let explanation = try snapshot.explanation(of: query)
            let isByAuthor = explanation.contains("in the author's entries")
            #expect(!isByAuthor || isBy && chronicle.indexes.authors, "\(explanation)")
            if chronicle.indexes.changes {
                #expect(
                    explanation.contains("index of the changes of '\(property)'"), "\(explanation)")
            } else {
                #expect(!explanation.contains("index of the changes"), "\(explanation)")
            }
            var found: [String] = []
            try snapshot.forEachChange(meeting: [change], of: objects) { object, change, _ in
                found.append("\(change.sequence) \(object.number) \(change.old) \(change.new)")
            }
            let told = expected.filter { there.contains($0.object) }
                .map { "\($0.sequence) \($0.object.number) \($0.old) \($0.new)" }
            #expect(found.sorted() == told.sorted(), "\(about): \(text) as of \(moment)")
        }
    }

    /// What was there at any time and at all times, against a look at every version.
    private func expectEver(_ chronicle: inout Chronicle, _ about: Comment) throws {
        let store = chronicle.store
        let isSpecial = chronicle.number(0...2) == 0
        let entity = try #require(store.schema.entity(named: isSpecial ? "Special" : "Thing"))
        let conditions =
            [
                "a == 3", "a > 3", "a >= 1 AND a <= 2", "a == nil", "a IN {0, 5, nil}",
                "a BETWEEN {2, 3}",
                "a < 2 AND b > 0", "b == 1.5", "b <= 0", "b == nil", "friend == nil",
            ]
            + (isSpecial ? ["c == 'x'", "c BEGINSWITH 'z'", "c > 'x'", "c == nil AND a > 1"] : [])
        let condition = conditions[chronicle.number(0...conditions.count - 1)]
        let isEver = chronicle.number(0...3) > 0
        let text = "\(isEver ? "EVER" : "ALWAYS")(\(condition))"
        let head = try store.head()
        let moment =
            chronicle.number(0...1) == 0
            ? head : SequenceNumber(UInt64(chronicle.number(2...Int(head.rawValue))))
        let filter = try Filter(parsing: text, for: entity, in: store.schema)
        guard case .past(_, let question) = filter else {
            Issue.record("\(text) is no question about the past.")
            return
        }
        try store.read(at: moment) { snapshot in
            let all = try snapshot.fetch(Query(entity))
            let expected = try all.filter { try snapshot.holds(question, of: $0) }
            let query = Query(entity, filter: filter)
            #expect(try snapshot.fetch(query) == expected, "\(about): \(text) as of \(moment)")
            let explanation = try snapshot.explanation(of: query)
            let isServed = explanation.contains("and of its former values")
            let indexes = chronicle.indexes
            let isIndexed = indexes.changes && indexes.values && condition != "friend == nil"
            #expect(isServed == (isEver && isIndexed), "\(about): \(text), \(explanation)")
        }
    }

    @Test(arguments: 1...25 as ClosedRange<UInt64>)
    func `questions about changes have the answers of a list, with and without the index`(
        seed: UInt64
    ) throws {
        var chronicle = try Chronicle(seed: seed)
        for step in 1...40 {
            try chronicle.save()
            if step.isMultiple(of: 13) {
                try chronicle.migrate()
                try chronicle.store.expectSound()
            }
            if step.isMultiple(of: 4) {
                for _ in 0..<4 { try expectFound(&chronicle, "seed \(seed), step \(step)") }
                for _ in 0..<4 { try expectEver(&chronicle, "seed \(seed), step \(step)") }
            }
        }
        try chronicle.store.expectSound()
        #expect(!chronicle.events.isEmpty, "seed \(seed)")
    }

    @Test func `an author of few entries is found by these, one of most by all changes`() throws {
        let evolving = try Evolving(
            model: Self.model(Indexes(changes: true, authors: true)))
        let store = evolving.store
        let things = try (1...20).map { try store.add("Thing", ["a": .int(Int64($0))]) }
        func set(_ thing: ObjectID, _ value: Int64, by author: String) throws {
            let old = try store.read { try $0.row(thing)?.values.first ?? .null }
            try store.commit(
                SaveRequest(
                    header: EntryHeader(author: author),
                    changes: [store.update(thing, "a", from: old, to: .int(value))]))
        }
        for number in 1...60 { try set(things[number % 20], Int64(100 + number), by: "bob") }
        for thing in things[3...4] { try set(thing, 7, by: "Andr\u{e9}") }
        try set(things[9], 7, by: "bob")

        let entity = try #require(store.schema.entity(named: "Thing"))
        func found(_ text: String) throws -> (objects: [ObjectID], byEntries: Bool) {
            let query = Query(
                entity, filter: try Filter(parsing: text, for: entity, in: store.schema))
            return try store.read { snapshot in
                let text = try snapshot.explanation(of: query)
                return (try snapshot.fetch(query), text.contains("in the author's entries"))
            }
        }
        // Another spelling is the same name.
        let few = try found("a CHANGED BY 'Andre\u{301}'")
        #expect(few.objects == Array(things[3...4]))
        #expect(few.byEntries)
        let before = try found("a CHANGED BY 'Andr\u{e9}' UNTIL \(try store.head().rawValue - 2)")
        #expect(before.objects == [things[3]])
        let many = try found("a CHANGED BY 'bob'")
        #expect(many.objects == things)
        #expect(!many.byEntries)
        #expect(try found("a CHANGED BY 'nobody'").objects == [])
    }

    @Test func `an index of changes costs nothing where none is asked for`() throws {
        let plain = try Evolving(Self.model(false)[0], Self.model(false)[1])
        let traced = try Evolving(Self.model(true)[0], Self.model(true)[1])
        for evolving in [plain, traced] {
            let thing = try evolving.store.add("Thing", ["a": .int(1)])
            for number in 2...10 { try evolving.store.set(thing, "a", .int(Int64(number))) }
        }
        func records(_ store: Store) throws -> Int {
            try #require(try store.statistics().tables.first { $0.name == "index" }).records
        }

        #expect(try records(plain.store) == 0)
        #expect(try records(traced.store) == 9)
    }

    /// Of an object that comes back, what it had in its life before counts, also of attributes that the model did not have.
    @Test func `an index has the former values of objects that were deleted and came back`() throws
    {
        let indexes = Indexes(changes: true, authors: false, values: true)
        let evolving = try Evolving(model: Self.model(indexes))
        let thing = try evolving.store.add("Thing", ["a": .int(1)])
        let other = try evolving.store.add("Thing", ["a": .int(9)])
        let deletion = try evolving.store.commit(
            SaveRequest(header: EntryHeader(), changes: [try evolving.store.delete(thing)]))
        var later = Self.model(indexes)
        later.entities[0].attributes.append(attribute("d", .int64, default: .int(7)))
        later.entities[0].attributes[2].isIndexed = true
        let new = try evolving.open(model: later)
        try new.commit(
            SaveRequest(
                header: EntryHeader(),
                changes: [new.insert(thing, ["a": .int(2), "d": .int(8)])]))

        #expect(deletion.sequence != nil)
        #expect(try new.found("Thing", "EVER(a == 1)") == [thing])
        #expect(try new.found("Thing", "EVER(d == 7)") == [thing, other])
        #expect(try new.found("Thing", "EVER(d == 8)") == [thing])
        let entity = try #require(new.schema.entity(named: "Thing"))
        let filter = try Filter(parsing: "EVER(d == 7)", for: entity, in: new.schema)
        try new.read { snapshot in
            let explanation = try snapshot.explanation(of: Query(entity, filter: filter))
            #expect(explanation.contains("index of 'd' and of its former values"), "\(explanation)")
        }
        try new.expectSound()
    }

    @Test func `former values of any length are found by the index`() throws {
        let indexes = Indexes(changes: true, authors: false, values: true)
        let evolving = try Evolving(model: Self.model(indexes))
        let store = evolving.store
        let texts = [396, 397, 398, 399, 400, 1_000].map { String(repeating: "q", count: $0) }
        let things = try texts.map { try store.add("Special", ["c": .string($0)]) }
        for thing in things { try store.set(thing, "c", .string("short")) }

        for (text, thing) in zip(texts, things) {
            #expect(try store.found("Special", "EVER(c == '\(text)')") == [thing])
        }
        let long = texts[2]
        #expect(
            try store.found("Special", "EVER(c BEGINSWITH '\(long)')") == Array(things[2...]))
        // Now all are "short", which is greater than any of these.
        #expect(
            try store.found("Special", "EVER(c > '\(long)' AND c < 'r')") == Array(things[3...]))
        try store.expectSound()
    }

    /// The attribute with the folded text came after the text, and knows nothing of what was before.
    @Test func `a text that was is found without regard to case, though its index came later`()
        throws
    {
        func model(_ derivation: String?) -> ManagedObjectModel {
            var thing = EntityDescription(
                name: "Thing",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isIndexed: true)
                ], indexesChanges: true)
            if let derivation {
                thing.attributes.append(
                    AttributeDescription(
                        name: "key", type: .string, isIndexed: true,
                        derivation: Derivation(derivation)))
            }
            return ManagedObjectModel(entities: [thing])
        }
        let evolving = try Evolving(model: model(nil))
        let thing = try evolving.store.add("Thing", ["name": .string("Ada")])
        try evolving.store.set(thing, "name", .string("Bob"))

        let folded = try evolving.open(model: model("canonical:(name)"))
        try folded.set(thing, "name", .string("Eve"))
        #expect(try folded.found("Thing", "EVER(name ==[cd] 'ada')") == [thing])
        #expect(try folded.found("Thing", "EVER(name IN[cd] {'ada'})") == [thing])
        #expect(try folded.found("Thing", "EVER(name == 'Ada')") == [thing])
        #expect(try folded.found("Thing", "EVER(key == 'bob')") == [thing])
        #expect(try folded.found("Thing", "ALWAYS(name ==[cd] 'eve')").isEmpty)
        try folded.expectSound()

        let upper = try evolving.open(model: model("uppercase:(name)"))
        #expect(try upper.found("Thing", "EVER(key == 'EVE')") == [thing])
        #expect(try upper.found("Thing", "EVER(name ==[cd] 'bob')") == [thing])
        try upper.expectSound()
        let plain = try evolving.open(model: model(nil))
        #expect(try plain.found("Thing", "EVER(name ==[cd] 'ada')") == [thing])
        try plain.expectSound()
    }

    @Test func `of the parts of EVER and ALWAYS the one that finds the fewest is looked up`() throws
    {
        let indexes = Indexes(changes: true, authors: false, values: true)
        let evolving = try Evolving(model: Self.model(indexes))
        let store = evolving.store
        let things = try (0..<20).map { number in
            try store.add("Thing", ["a": .int(1), "b": .double(Double(number))])
        }
        try store.set(things[3], "b", .double(-1))
        let entity = try #require(store.schema.entity(named: "Thing"))
        for (text, found, index) in [
            ("EVER(a == 1 AND b == 3)", [things[3]], "index of 'b' and of its former values"),
            ("EVER(b >= 0 AND a == 2)", [], "index of 'a' and of its former values"),
            ("ALWAYS(a == 1 AND b == 4)", [things[4]], "index of 'b', 1 range"),
        ] {
            let query = Query(
                entity, filter: try Filter(parsing: text, for: entity, in: store.schema))
            try store.read { snapshot in
                #expect(try snapshot.fetch(query) == found)
                let explanation = try snapshot.explanation(of: query)
                #expect(explanation.contains(index), "\(text): \(explanation)")
            }
        }
    }

    @Test func `a program goes on without an index that another has dropped`() throws {
        let evolving = try Evolving(Self.model(true)[0], Self.model(true)[1])
        let old = evolving.store
        let thing = try old.add("Thing", ["a": .int(1)])
        try old.set(thing, "a", .int(2))
        try evolving.open([Self.model(false)[0], Self.model(false)[1]], .compatible)
        try old.set(thing, "a", .int(3))
        let entity = try #require(old.schema.entity(named: "Thing"))
        let filter = try Filter(parsing: "a INCREASED SINCE 4", for: entity, in: old.schema)

        try old.read { snapshot in
            #expect(try snapshot.fetch(Query(entity, filter: filter)) == [thing])
            let explanation = try snapshot.explanation(of: Query(entity, filter: filter))
            #expect(!explanation.contains("index of the changes"), "\(explanation)")
        }
        try old.expectSound()
    }

    @Test func `a converted attribute has the changes that it had as another type`() throws {
        let evolving = try Evolving(Self.model(true)[0], Self.model(true)[1])
        let thing = try evolving.store.add("Special", ["a": .int(1), "c": .string("1")])
        try evolving.store.set(thing, "a", .int(2))
        try evolving.store.set(thing, "c", .string("2"))
        let other = try evolving.store.add("Special", ["c": .string("1")])
        try evolving.store.set(other, "c", .string("01"))
        var converted = Self.model(true)
        converted[0].attributes[0] = attribute("a", .decimal)
        // The values before and after the second change are one number.
        converted[1].attributes[0] = attribute("c", .int64)
        converted[1].attributes.append(attribute("d", .int64, default: .int(7)))

        let new = try evolving.open([converted[0], converted[1]])

        #expect(try new.found("Special", "a INCREASED UNTIL 3") == [thing])
        #expect(try new.found("Special", "a INCREASED SINCE 4").isEmpty)
        #expect(try new.found("Special", "c CHANGED") == [thing])
        #expect(try new.found("Special", "d CHANGED").isEmpty)
        try new.set(thing, "d", .int(8))
        #expect(try new.found("Special", "d INCREASED") == [thing])
        try new.expectSound()
    }

    @Test func `a removed property takes its changes along, and brings them back`() throws {
        let evolving = try Evolving(Self.model(true)[0], Self.model(true)[1])
        let thing = try evolving.store.add("Special", ["a": .int(1)])
        try evolving.store.set(thing, "a", .int(2))
        var less = Self.model(true)
        less[0].attributes.removeFirst()
        let new = try evolving.open([less[0], less[1]])
        try new.expectSound()
        #expect(try new.statistics().tables.first { $0.name == "index" }?.records == 0)

        try new.commit(try new.undoRequest(of: try new.head()...new.head()))

        let again = try evolving.open([Self.model(true)[0], Self.model(true)[1]])
        #expect(try again.found("Thing", "a INCREASED") == [thing])
        try again.expectSound()
    }

    @Test func `keys of changes stand behind those of attributes and before those of constraints`()
    {
        let key = StoreKey.change(
            of: PropertyNumber(rawValue: 7), in: SequenceNumber(3),
            ObjectID(entity: EntityNumber(rawValue: 1), number: 9))

        #expect(key.count == 24)
        #expect(
            key.starts(
                with: StoreKey.changes(of: PropertyNumber(rawValue: 7), from: .zero).prefix(4)))
        #expect(StoreKey.property(ofChanges: PropertyNumber(rawValue: 7 + 1 << 30))?.rawValue == 7)
        #expect(StoreKey.property(ofChanges: PropertyNumber(rawValue: 7)) == nil)
        #expect(StoreKey.property(ofChanges: PropertyNumber(rawValue: 1 << 31)) == nil)
    }

    @Test func `former values stand behind all changes of a property, and verify names them`()
        throws
    {
        let evolving = try Evolving(model: Self.model(Indexes(changes: true, authors: false)))
        let property = try #require(
            evolving.store.schema.entity(named: "Thing")?.property(named: "a"))
        let object = ObjectID(entity: EntityNumber(rawValue: 1), number: 9)
        let record = StoreKey.index(property.number, .int(5), object)
        let former = StoreKey.former(record, of: property.number, until: SequenceNumber(3))
        let last = StoreKey.change(of: property.number, in: SequenceNumber(1 << 48), object)
        let other = PropertyNumber(rawValue: property.number.rawValue + 1)
        let (lower, upper) = StoreKey.formerBounds(of: .exactly(.int(5)), property.number)

        #expect(last.lexicographicallyPrecedes(former))
        #expect(former.lexicographicallyPrecedes(StoreKey.changes(of: other, from: .zero)))
        #expect(!former.lexicographicallyPrecedes(lower))
        #expect(former.lexicographicallyPrecedes(upper))
        #expect(former.count == record.count + 1 + StoreKey.sequenceSize)
        let number = PropertyNumber(rawValue: property.number.rawValue + 1 << 30)
        #expect(StoreKey.property(ofFormer: former, under: number) == property.number)
        #expect(StoreKey.property(ofFormer: last, under: number) == nil)
        #expect(StoreKey.property(ofFormer: record, under: property.number) == nil)
    }
}
