import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Groups of random people compared with what a program works out of the objects themselves: in a context
/// with pending changes and in its child, in one without, in the past, and over two stores.
@Suite struct SelectionLawTests {
    /// A group as a row.
    private struct Row: Hashable, Decodable {
        var title: String?
        var bonus: Int?
        var count = 0
        var grades = 0
        var salaries = Decimal(0)
        var rates = 0.0
        var bonuses = 0
        var least: String?
        var median: Double?

        enum CodingKeys: String, CodingKey {
            case title = "group.title"
            case bonus, count, salaries
            case grades = "sum(grade)"
            case rates = "sum(rate)"
            case bonuses = "distinct(points)"
            case least = "minimum(name)"
            case median = "median(grade)"
        }
    }

    private static func selection(_ request: FetchRequest<Payee>) -> Selection<
        Payee, (String?, Int?, Int, Int, Decimal, Double, Int, String?, Double?)
    > {
        request.select(
            columns: \.group?.title, \.bonus, aggregates: .count, .sum(\.grade),
            .sum(\.salary).named("salaries"), .sum(\.rate),
            .countDistinct(\.points), .minimum(\.name), .median(\.grade))
    }

    /// The rows that the context works out, in their order.
    private static func asked(
        _ context: ManagedObjectContext, _ request: FetchRequest<Payee>
    ) throws -> [Row] {
        try context.fetch(selection(request)).map {
            Row(
                title: $0.0, bonus: $0.1, count: $0.2, grades: $0.3, salaries: $0.4, rates: $0.5,
                bonuses: $0.6, least: $0.7, median: $0.8)
        }
    }

    /// The rows that follow from the objects, one after the other.
    private static func expected(
        _ context: ManagedObjectContext, _ request: FetchRequest<Payee>
    ) throws -> [Row] {
        struct Key: Hashable {
            let title: String?
            let bonus: Int?
        }
        let groups = Dictionary(grouping: try context.fetch(request)) {
            Key(title: $0.group?.title, bonus: $0.bonus)
        }
        let rows = groups.map { key, payees in
            let grades = payees.map(\.grade).sorted()
            return Row(
                title: key.title, bonus: key.bonus, count: payees.count,
                grades: payees.reduce(0) { $0 + $1.grade },
                salaries: payees.reduce(0) { $0 + $1.salary },
                rates: payees.reduce(0) { $0 + $1.rate },
                bonuses: Set(payees.map(\.points)).count, least: payees.map(\.name).min(),
                median: Double(grades[(grades.count - 1) / 2] + grades[grades.count / 2]) / 2)
        }
        return rows.sorted { left, right in
            if left.title != right.title {
                guard let own = left.title, let other = right.title else {
                    return left.title == nil
                }
                return own < other
            }
            guard let own = left.bonus, let other = right.bonus else { return left.bonus == nil }
            return own < other
        }
    }

    private static func edit(_ context: ManagedObjectContext, _ random: inout SeededGenerator)
        throws
    {
        let groups = try context.fetch(FetchRequest<PayGroup>())
        let payees = try context.fetch(FetchRequest<Payee>())
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            if random.chance(8), let payee = payees.randomElement(using: &random) {
                if !payee.isDeleted { context.delete(payee) }
                continue
            }
            if random.chance(10), let group = groups.randomElement(using: &random) {
                group.title = random.pick(["Lab", "Shop", "Bar", ""])
                continue
            }
            let payee =
                random.chance(3) || payees.isEmpty
                ? Payee(context: context) : random.pick(payees)
            guard !payee.isDeleted else { continue }
            payee.name = random.pick(["Ann", "Bea", "Cid", "\u{e4}"])
            payee.grade = Int.random(in: -3...3, using: &random)
            payee.points = Int16.random(in: 0...2, using: &random)
            payee.salary = Decimal(Int.random(in: -100...100, using: &random)) / 10
            // Quarters are added exactly, in any order.
            payee.rate = Double(Int.random(in: 0...9, using: &random)) / 4
            payee.bonus = random.chance(3) ? nil : Int.random(in: 0...1, using: &random)
            payee.group = random.chance(4) ? nil : groups.randomElement(using: &random)
        }
        if groups.count < 3 { PayGroup(context: context).title = random.pick(["Lab", "Shop"]) }
    }

    private static func requests(_ random: inout SeededGenerator) -> [FetchRequest<Payee>] {
        let conditions: [Condition<Payee>?] = [
            nil, \.grade > 0, \.grade == 1, \.bonus == nil, \.group?.title == "Lab",
        ]
        return [FetchRequest(where: conditions[0]), FetchRequest(where: random.pick(conditions))]
    }

    private static func check(
        _ context: ManagedObjectContext, _ random: inout SeededGenerator, _ place: Comment
    ) throws {
        for request in requests(&random) {
            let rows = try expected(context, request)
            #expect(try asked(context, request) == rows, place)
            let least = Int.random(in: -2...2, using: &random)
            #expect(
                try context.fetch(
                    selection(request).having("salaries > %@ AND count > 1", least),
                    as: Row.self)
                    == rows.filter { $0.salaries > Decimal(least) && $0.count > 1 }, place)
            #expect(
                try context.fetch(
                    selection(request).ordered(by: .descending("salaries")), as: Row.self
                )
                .map(\.salaries) == rows.map(\.salaries).sorted(by: >), place)
        }
    }

    @Test(arguments: [UInt64(2_101), 2_102, 2_103])
    func `groups are what a program works out of the objects`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("s.daybook"), model: [Payee.self, PayGroup.self])
        let context = container.viewContext
        var states: [(SequenceNumber, [Row])] = []

        for step in 0..<12 {
            let place: Comment = "seed \(seed), step \(step)"
            try context.performAndWait { () throws in
                try Self.edit(context, &random)
                try Self.check(context, &random, place)
                let child = ManagedObjectContext(parent: context)
                try child.performAndWait { () throws in
                    try Self.edit(child, &random)
                    try Self.check(child, &random, place)
                }
                try context.save()
                states.append(
                    (
                        try container.persistentStoreCoordinator.persistentStores[0].head(),
                        try Self.expected(context, FetchRequest())
                    ))
            }
            let other = container.newBackgroundContext()
            try other.performAndWait { try Self.check(other, &random, place) }
            let (sequence, rows) = random.pick(states)
            let past = try container.context(at: .sequence(sequence))
            let found = try past.performAndWait { try Self.asked(past, FetchRequest()) }
            #expect(found == rows, place)
        }
        #expect(states.contains { !$0.1.isEmpty })
    }
}
