import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Questions about the past compared with looking at every state that a random history ever had.
///
/// `DAYBOOK_SEED` begins with another seed, and `DAYBOOK_PAST_SEEDS` tries as many, one after the other.
@Suite struct RememberingLawTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds: [UInt64] = {
        let first = environment["DAYBOOK_SEED"].flatMap(UInt64.init)
        guard let count = environment["DAYBOOK_PAST_SEEDS"].flatMap(UInt64.init) else {
            return first.map { [$0] } ?? [3, 14, 15, 92, 65]
        }
        return (0..<count).map { $0 &+ (first ?? 10_001) }
    }()

    /// A random history of entries with authors and stated times, some of which undo others.
    private struct Annals {
        let temporary: TemporaryStore
        let container: PersistentContainer
        var reference = ReferenceModel()
        var authors: [String?] = [nil]
        var times: [Int64] = [.min]
        var random: SeededGenerator

        var schema: Schema { temporary.store.schema }
        var head: Int { Int(reference.head.rawValue) }

        init(seed: UInt64, entries: Int) throws {
            temporary = try TemporaryStore()
            container = try TestContainer.make(
                URL(fileURLWithPath: temporary.path), managedObjectModel: .sample)
            reference.append([:])
            random = SeededGenerator(seed: seed)
            // The first entry sets the model.
            authors.append(nil)
            times.append(try temporary.store.heading(of: SequenceNumber(1)).time)
            var steps = RandomWorld(seed: seed, temporary.store.schema)
            while head < entries {
                if head > 3, random.chance(6), try undo() { continue }
                try step(&steps)
            }
        }

        private var header: EntryHeader {
            mutating get {
                let author = random.pick(["ada", "bob", nil])
                // Now and then an entry happened before the one in front of it.
                let offset = Int64(random.chance(5) ? -2_500 : 1_000)
                let time = random.chance(2) ? (times.last ?? 0) + offset : nil
                return EntryHeader(author: author, occurredAt: time)
            }
        }

        private mutating func step(_ steps: inout RandomWorld) throws {
            let store = temporary.store
            let next = try steps.step(from: reference.current) { try store.allocateObjectNumber() }
            let changes = ReferenceModel.changes(from: reference.current, to: next, schema)
            let result = try store.commit(SaveRequest(header: header, changes: changes))
            if let sequence = result.sequence { try note(next, sequence) }
        }

        /// Takes back the last entry.
        private mutating func undo() throws -> Bool {
            let last = SequenceNumber(UInt64(head))
            guard reference.world(at: last.previous) != reference.current, head > 2 else {
                return false
            }
            let request = try temporary.store.undoRequest(
                of: last, author: random.pick(["ada", "eve"]))
            guard let sequence = try temporary.store.commit(request).sequence else { return false }
            try note(reference.world(at: last.previous), sequence)
            return true
        }

        private mutating func note(
            _ world: ReferenceModel.World, _ sequence: SequenceNumber
        ) throws {
            reference.append(world)
            let heading = try temporary.store.heading(of: sequence)
            authors.append(heading.author)
            times.append(heading.time)
        }

        func world(_ number: Int) -> PlainWorld {
            PlainWorld(states: reference.world(at: SequenceNumber(UInt64(number))), schema: schema)
        }

        /// The last of the first entries that happened at or before a time.
        func entry(atTime time: Int64, through end: Int) -> Int {
            (0...end).last { times[$0] <= time } ?? 0
        }

        /// A moment as text, the entry that AT means, and the first that SINCE includes.
        mutating func moment(upTo end: Int) -> (text: String, at: Int, first: Int) {
            let number = Int.random(in: 1...head, using: &random)
            guard random.chance(2) else { return ("\(number)", min(number, end), number) }
            let time = times[number] + Int64.random(in: -1...1, using: &random)
            return (
                "'\(DateText.text(microseconds: time))'", entry(atTime: time, through: end),
                entry(atTime: time - 1, through: end) + 1
            )
        }
    }

    /// One value or the members of a property, as a plain world has them.
    private enum Content: Equatable {
        case value(Value)
        case members([ObjectID])
    }

    private func content(_ name: String, _ object: ObjectID, in world: PlainWorld) -> Content {
        let property = world.schema.entity(object.entity)?.property(named: name)
        return property?.slot == nil
            ? .members(world.related(name, object)) : .value(world.value(name, object))
    }

    private func size(_ content: Content) -> Double? {
        switch content {
        case .value(.int(let number)): Double(number)
        case .value(.double(let number)): number
        case .value(.date(let date)): date.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    private func hasTurned(_ direction: String, _ old: Content, _ new: Content) -> Bool {
        if direction == "CHANGED" { return old != new }
        guard let old = size(old), let new = size(new) else { return false }
        return direction == "INCREASED" ? new > old : new < old
    }

    /// Contexts of now and of then, each with the last entry that it knows.
    private func forEachContext(
        _ annals: Annals, _ body: (ManagedObjectContext, Int) throws -> Void
    ) throws {
        for end in [annals.head, annals.head * 2 / 3] {
            let context =
                end == annals.head
                ? annals.container.newBackgroundContext()
                : try annals.container.context(at: .sequence(SequenceNumber(UInt64(end))))
            try context.performAndWait { () throws in try body(context, end) }
        }
    }

    private func ids(
        _ context: ManagedObjectContext, _ entity: String, _ text: String
    ) throws -> Set<ObjectID> {
        let request = FetchRequest<ManagedObject>(entityName: entity, where: Condition(text))
        let found = try context.fetch(request).map(\.objectID.object)
        #expect(try context.count(request) == found.count)
        // Within a choice the filter is evaluated object by object, and finds the same as the compiled one.
        let plain = FetchRequest<ManagedObject>(
            entityName: entity, where: Condition("TERNARY(\(text), 1, 0) == 1"))
        #expect(try context.fetch(plain).map(\.objectID.object) == found)
        #expect(Set(found).count == found.count)
        return Set(found)
    }

    @Test(arguments: seeds)
    func `ever, always and was are what every state of the past says`(seed: UInt64) throws {
        var annals = try Annals(seed: seed, entries: 40)
        let count = annals.world(annals.head).questions.count
        var answers = 0
        try forEachContext(annals) { context, end throws in
            let worlds = (0...end).map { annals.world($0) }
            let questions = worlds.map(\.questions)
            for index in 0..<count {
                let (entity, text, _) = questions[end][index]
                let family = entity == "Party" ? ["Person", "Company"] : [entity]
                let present = family.flatMap { worlds[end].objects($0) }
                let met = questions.map { Set($0[index].answer) }
                let place: Comment = "seed \(seed), entry \(end): \(text)"

                let ever = present.filter { object in met.contains { $0.contains(object) } }
                #expect(try ids(context, entity, "EVER (\(text))") == Set(ever), place)

                let always = present.filter { object in
                    zip(worlds, met).allSatisfy { $0.states[object] == nil || $1.contains(object) }
                }
                #expect(try ids(context, entity, "ALWAYS (\(text))") == Set(always), place)
                #expect(
                    try ids(context, entity, "NOT ALWAYS (\(text)) AND EVER (\(text))")
                        == Set(ever).subtracting(always), place)

                let moment = annals.moment(upTo: end)
                let was = present.filter { met[moment.at].contains($0) }
                #expect(
                    try ids(context, entity, "WAS (\(text)) AT \(moment.text)") == Set(was),
                    "\(place) AT \(moment.text)")
                answers += ever.count + always.count + was.count
            }
        }
        #expect(answers > 0)
    }

    @Test(arguments: seeds)
    func `what has changed is what differs between one entry and the next`(seed: UInt64) throws {
        var annals = try Annals(seed: seed, entries: 60)
        var found = 0
        let properties = [
            ("Person", ["name", "age", "score", "employer", "friend", "skills"]),
            ("Company", ["founded", "employees", "board", "name"]), ("Skill", ["title", "people"]),
        ]
        try forEachContext(annals) { context, end throws in
            let worlds = (0...end).map { annals.world($0) }
            for (entity, names) in properties {
                for name in names {
                    for _ in 0..<6 {
                        let isOrdered = ["age", "score", "founded"].contains(name)
                        let direction =
                            isOrdered
                            ? annals.random.pick(["CHANGED", "INCREASED", "DECREASED"]) : "CHANGED"
                        var text = "\(name) \(direction)"
                        let author = annals.random.pick(["ada", "eve", "nobody", nil, nil])
                        let isAsked = annals.random.chance(2)
                        if isAsked { text += " BY " + (author.map { "'\($0)'" } ?? "nil") }
                        var (first, last) = (1, end)
                        if annals.random.chance(2) {
                            let moment = annals.moment(upTo: end)
                            text += " SINCE \(moment.text)"
                            first = moment.first
                        }
                        if annals.random.chance(2) {
                            let moment = annals.moment(upTo: end)
                            text += " UNTIL \(moment.text)"
                            let isDate = moment.text.hasPrefix("'")
                            last = min(isDate ? moment.first - 1 : moment.first, end)
                        }
                        let place: Comment = "seed \(seed), entry \(end): \(entity) \(text)"

                        var expected: [ObjectID: [Int]] = [:]
                        for object in worlds[end].objects(entity) where first <= last {
                            let entries = (first...last).filter { entry in
                                guard worlds[entry - 1].states[object] != nil,
                                    worlds[entry].states[object] != nil,
                                    !isAsked || annals.authors[entry] == author
                                else { return false }
                                return hasTurned(
                                    direction, content(name, object, in: worlds[entry - 1]),
                                    content(name, object, in: worlds[entry]))
                            }
                            if !entries.isEmpty { expected[object] = entries }
                        }

                        #expect(try ids(context, entity, text) == Set(expected.keys), place)
                        let changes = try context.changes(
                            for: FetchRequest<ManagedObject>(
                                entityName: entity, where: Condition(text)))
                        #expect(
                            Dictionary(grouping: changes, by: \.objectID.object)
                                .mapValues { $0.map { Int($0.sequence.rawValue) } } == expected,
                            place)
                        for change in changes {
                            let entry = Int(change.sequence.rawValue)
                            let (object, old, new) = (
                                change.objectID.object, change.old, change.new
                            )
                            #expect(change.author == annals.authors[entry], place)
                            #expect(change.change.name == name, place)
                            guard
                                case .value(let before) = content(
                                    name, object, in: worlds[entry - 1])
                            else {
                                let left = worlds[entry - 1].related(name, object)
                                let joined = worlds[entry].related(name, object)
                                #expect(
                                    Set(change.change.removed.map(\.object))
                                        .isSuperset(of: Set(left).subtracting(joined)), place)
                                #expect(
                                    Set(change.change.added.map(\.object))
                                        .isSuperset(of: Set(joined).subtracting(left)), place)
                                continue
                            }
                            #expect(old == before, place)
                            #expect(new == worlds[entry].value(name, object), place)
                        }
                        found += changes.count
                    }
                }
            }
        }
        #expect(found > 50)
    }

    @Test(arguments: seeds.prefix(2))
    func `questions about the past go through relationships`(seed: UInt64) throws {
        let annals = try Annals(seed: seed, entries: 50)
        try forEachContext(annals) { context, end throws in
            let worlds = (0...end).map { annals.world($0) }
            let present = worlds[end]
            func changed(_ name: String, _ object: ObjectID) -> Bool {
                (1...end).contains { entry in
                    worlds[entry - 1].states[object] != nil && worlds[entry].states[object] != nil
                        && content(name, object, in: worlds[entry - 1])
                            != content(name, object, in: worlds[entry])
                }
            }
            let place: Comment = "seed \(seed), entry \(end)"

            #expect(
                try ids(context, "Person", "employer.name CHANGED")
                    == Set(
                        present.objects("Person").filter {
                            present.related("employer", $0).contains { changed("name", $0) }
                        }), place)
            #expect(
                try ids(context, "Company", "ANY employees.age CHANGED")
                    == Set(
                        present.objects("Company").filter {
                            present.related("employees", $0).contains { changed("age", $0) }
                        }), place)
            #expect(
                try ids(context, "Company", "ALL employees (age CHANGED OR $1.name CHANGED)")
                    == Set(
                        present.objects("Company").filter { company in
                            present.related("employees", company).allSatisfy {
                                changed("age", $0) || changed("name", company)
                            }
                        }), place)
            #expect(
                try ids(context, "Skill", "SUBQUERY(people, $p, EVER $p.age > 2).@count > 0")
                    == Set(
                        present.objects("Skill").filter { skill in
                            present.related("people", skill).contains { person in
                                worlds.contains { ($0.age(person) ?? 0) > 2 }
                            }
                        }), place)
        }
    }
}
