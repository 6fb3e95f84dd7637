import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Laws on random histories, against a dictionary of values: which saves are refused, and what in the past is found.
@Suite struct LawHistoryTests {
    private static let rules = [
        "a NEVER CHANGED", "a NEVER DECREASED", "b NEVER INCREASED BY MORE THAN 2",
        "a NEVER CHANGED WHERE b > 2", "b NEVER CHANGED BECOMING a == b",
        "NEVER DELETED WHERE a > 1",
        "ONCE a > 2 ALWAYS", "ONCE a == b OR b == NULL ALWAYS",
    ]
    private static let excuses = ["", " UNLESS NOTE", " UNLESS AUTHOR IN {'ada'} OR NOTE"]

    /// The values of an object.
    private struct Pair: Equatable {
        var a: Int64?
        var b: Int64?
    }

    private struct Step {
        var author: String?
        var note: String?
        /// The objects with their values before and after; nil where there are none.
        var changes: [(object: ObjectID, old: Pair?, new: Pair?)] = []

        /// What takes it back.
        func undone(_ author: String?, _ note: String?) -> Step {
            Step(
                author: author, note: note,
                changes: changes.map { ($0.object, old: $0.new, new: $0.old) })
        }

        func apply(to world: inout [ObjectID: Pair]) {
            for change in changes { world[change.object] = change.new }
        }
    }

    private typealias Laws = [(rule: Int, excuse: Int)]

    /// What the rules mean, written once more and by hand.
    private static func isBroken(_ rule: Int, _ old: Pair, _ new: Pair?) -> Bool {
        func isGreater(_ one: Int64?, _ other: Int64) -> Bool { one.map { $0 > other } ?? false }
        guard let new else { return rule == 5 && isGreater(old.a, 1) }
        switch rule {
        case 0: return old.a != new.a
        case 1: return old.a.flatMap { was in new.a.map { $0 < was } } ?? false
        case 2: return old.b.flatMap { was in new.b.map { $0 - was > 2 } } ?? false
        case 3: return old.a != new.a && isGreater(old.b, 2)
        case 4: return old.b != new.b && new.a == new.b
        case 6: return isGreater(old.a, 2) && !isGreater(new.a, 2)
        case 7:
            func holds(_ pair: Pair) -> Bool { pair.a == pair.b || pair.b == nil }
            return holds(old) && !holds(new)
        default: return false
        }
    }

    private static func isExcused(_ excuse: Int, _ step: Step) -> Bool {
        switch excuse {
        case 1: step.note != nil
        case 2: step.note != nil || step.author == "ada"
        default: false
        }
    }

    private static func model(_ laws: [(rule: Int, excuse: Int)]) -> [EntityDescription] {
        var thing = entity("Thing", [attribute("a", .int64), attribute("b", .int64)])
        thing.laws = laws.enumerated().map { number, law in
            LawDescription("law \(number)", rules[law.rule] + excuses[law.excuse])
        }
        return [thing, entity("Special", under: "Thing", [attribute("c")])]
    }

    @Test func `the past of an attribute is judged in the type that it has now`() throws {
        let person = entity("Person", [attribute("salary", .int64), attribute("name")])
        let evolving = try Evolving(person)
        let ada = try evolving.store.add("Person", ["salary": .int(5_000)])
        try evolving.store.set(ada, "salary", .int(4_000))
        let fall = try evolving.store.head()
        try evolving.store.set(ada, "name", .string("Ada"))
        var decimal = entity("Person", [attribute("salary", .decimal), attribute("name")])
        decimal.laws = [LawDescription("Salaries rise", "salary NEVER DECREASED")]
        let store = try evolving.open(decimal)
        var text = entity("Person", [attribute("salary", .string), attribute("name")])
        text.laws = [LawDescription("Salaries stay", "salary NEVER CHANGED")]

        func breaches(_ store: Store) throws -> [PastBreach] {
            var found: [PastBreach] = []
            try store.forEachBreach {
                found.append($0)
                return .proceed
            }
            return found
        }

        let found = try breaches(store)
        #expect(found.map(\.sequence) == [fall])
        #expect(found.map(\.breach.old) == [.decimal(5_000)])
        #expect(found.map(\.breach.new) == [.decimal(4_000)])
        // And once more.
        let again = try breaches(evolving.open(text))
        #expect(again.map(\.sequence) == [fall])
        #expect(again.map(\.breach.new) == [.string("4000")])
    }

    private static func value(_ number: Int64?) -> Value { number.map { .int($0) } ?? .null }

    private static func laws(_ random: inout SeededGenerator) -> Laws {
        (0..<3).map { _ in
            (
                rule: Int.random(in: 0..<rules.count, using: &random),
                excuse: Int.random(in: 0..<excuses.count, using: &random)
            )
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `a save is refused exactly when the rules say so`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let laws = Self.laws(&random)
        let store = try Evolving(Self.model(laws)[0], Self.model(laws)[1])
        var world: [ObjectID: Pair] = [:]
        var last: Step?
        var refusals = 0

        for _ in 0..<60 {
            let (step, request) = try Self.step(&random, store.store, world, after: last)
            let expected = Self.breaches(step, laws)
            guard expected.isEmpty else {
                refusals += 1
                let error = #expect(throws: StoreError.self, "seed \(seed)") {
                    try store.store.commit(request)
                }
                let found = error?.breaches.map { "\($0.object.number) \($0.law)" } ?? []
                #expect(found.sorted() == expected.sorted(), "seed \(seed)")
                continue
            }
            try store.store.commit(request)
            step.apply(to: &world)
            last = step
        }

        #expect(refusals > 0, "seed \(seed): \(laws)")
        try store.store.forEachBreach { past in
            Issue.record("seed \(seed): \(past)")
            return .proceed
        }
        try store.store.expectSound()
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `breaches of the past are found, whether laws were declared since or are only asked about`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let laws = Self.laws(&random)
        let evolving = try Evolving(Self.model([])[0], Self.model([])[1])
        let store = evolving.store
        var world: [ObjectID: Pair] = [:]
        var last: Step?
        var expected: [String] = []
        for _ in 0..<80 {
            let (step, request) = try Self.step(&random, store, world, after: last)
            let sequence = try #require(try store.commit(request).sequence)
            expected += Self.breaches(step, laws).map { "\(sequence) \($0)" }
            step.apply(to: &world)
            last = step
        }
        func found(_ store: Store, _ laws: SchemaLaws?) throws -> [String] {
            var found: [String] = []
            try store.forEachBreach(of: laws) { past in
                found.append("\(past.sequence) \(past.breach.object.number) \(past.breach.law)")
                return .proceed
            }
            return found
        }

        let asked = SchemaLaws(try Schema(ManagedObjectModel(entities: Self.model(laws))))
        #expect(try found(store, asked).sorted() == expected.sorted(), "seed \(seed)")
        #expect(try found(store, nil).isEmpty)
        let declared = try evolving.open(Self.model(laws))
        #expect(try found(declared, nil).sorted() == expected.sorted(), "seed \(seed)")
        #expect(!expected.isEmpty, "seed \(seed): \(laws)")
    }

    /// Inserts, updates and deletes of a few objects; or what takes back the step before.
    private static func step(
        _ random: inout SeededGenerator, _ store: Store, _ world: [ObjectID: Pair],
        after last: Step?
    ) throws -> (Step, SaveRequest) {
        let author = ["ada", "bob", nil].randomElement(using: &random) ?? nil
        let note = Bool.random(using: &random) ? nil : "why"
        if let last, Int.random(in: 0..<6, using: &random) == 0 {
            let head = try store.head()
            let request = try store.undoRequest(of: head...head, author: author, note: note)
            return (last.undone(author, note), request)
        }
        func number(_ random: inout SeededGenerator) -> Int64? {
            Int.random(in: 0..<8, using: &random) == 0
                ? nil : Int64.random(in: 0...4, using: &random)
        }
        var step = Step(author: author, note: note)
        while step.changes.isEmpty {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let known = world.keys.sorted().filter { id in
                    !step.changes.contains { $0.object == id }
                }
                let choice = Int.random(in: 0..<8, using: &random)
                guard choice > 0, let object = known.randomElement(using: &random),
                    let old = world[object]
                else {
                    let name = Bool.random(using: &random) ? "Thing" : "Special"
                    let pair = Pair(a: number(&random), b: number(&random))
                    step.changes.append((try store.newObject(name), nil, pair))
                    continue
                }
                var new: Pair? = old
                if choice == 1 { new = nil }
                if Bool.random(using: &random) { new?.a = number(&random) }
                if Bool.random(using: &random) { new?.b = number(&random) }
                if new != old { step.changes.append((object, old, new)) }
            }
        }
        let header = EntryHeader(author: author, note: note)
        let changes = step.changes.map { change(store, $0.object, $0.old, $0.new) }
        return (step, SaveRequest(header: header, changes: changes))
    }

    private static func change(
        _ store: Store, _ object: ObjectID, _ old: Pair?, _ new: Pair?
    ) -> Change {
        let values = [value(old?.a), value(old?.b)]
        guard let new else {
            let slots = store.schema.entity(object.entity)?.slots ?? []
            let all = slots.map { ["a": values[0], "b": values[1]][$0.name] ?? .null }
            return Change(object: object, kind: .delete(values: all, members: []))
        }
        guard old != nil else {
            return store.insert(object, ["a": value(new.a), "b": value(new.b)])
        }
        let edits = zip(["a", "b"], zip(values, [value(new.a), value(new.b)])).map {
            Edit(property: store.property($0, of: object).number, old: $1.0, new: $1.1)
        }
        return Change(
            object: object,
            kind: .update(edits: edits.filter { $0.old != $0.new }, members: []))
    }

    /// `object law` for each breach.
    private static func breaches(_ step: Step, _ laws: Laws) -> [String] {
        step.changes.flatMap { change -> [String] in
            guard let old = change.old else { return [] }
            return laws.enumerated().filter { _, law in
                isBroken(law.rule, old, change.new) && !isExcused(law.excuse, step)
            }.map { number, _ in "\(change.object.number) law \(number)" }
        }
    }
}
