import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// A member of staff, with numbers of each kind.
final class Payee: ManagedObject {
    @Attribute var name: String = ""
    @Attribute(.indexed) var grade: Int = 0
    @Attribute var points: Int16 = 0
    @Attribute var salary: Decimal = 0
    @Attribute var rate: Double = 0
    @Attribute var bonus: Int?
    @Attribute var joined: Date?
    @Relationship(inverse: \PayGroup.payees) var group: PayGroup?
}

final class PayGroup: ManagedObject {
    @Attribute var title: String = ""
    @Attribute var budget: Int = 0
    @Relationship var payees: Set<Payee>
}

/// Sums, means and extremes of what a request finds.
@Suite struct AggregateTests {
    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private var context: ManagedObjectContext { container.viewContext }

    /// Three people, of whom one has a bonus.
    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("s.daybook"), model: [Payee.self, PayGroup.self])
        let context = container.viewContext
        try context.performAndWait { () throws in
            let group = PayGroup(context: context)
            group.budget = 100
            for (index, name) in ["Ann", "Bea", "Cid"].enumerated() {
                let payee = Payee(context: context)
                payee.name = name
                payee.grade = index
                payee.points = Int16(10 * index)
                payee.salary = Decimal(string: "1000.10") ?? 0
                payee.rate = 0.1
                if index == 1 { payee.bonus = 7 }
                if index > 0 { payee.group = group }
            }
            try context.save()
        }
    }

    @Test func `a sum has the type of the attribute`() throws {
        try context.performAndWait { () throws in
            #expect(try context.fetch(.sum(\Payee.grade)) == 3)
            #expect(try context.fetch(.sum(\Payee.points)) == Int16(30))
            #expect(try context.fetch(.sum(\Payee.salary)) == Decimal(string: "3000.30"))
            #expect(try context.fetch(.sum(\Payee.rate)) == [0.1, 0.1, 0.1].exactSum)
            #expect(try context.fetch(.sum(\Payee.bonus)) == 7)
        }
    }

    @Test func `a mean counts those with a value`() throws {
        try context.performAndWait { () throws in
            #expect(try context.fetch(.average(\Payee.grade)) == 1)
            #expect(try context.fetch(.average(\Payee.bonus)) == 7)
            #expect(try context.fetch(.average(\Payee.salary)) == Decimal(string: "1000.10"))
        }
    }

    @Test func `an extreme is of any type with an order`() throws {
        try context.performAndWait { () throws in
            #expect(try context.fetch(.minimum(\Payee.name)) == "Ann")
            #expect(try context.fetch(.maximum(\Payee.name)) == "Cid")
            #expect(try context.fetch(.maximum(\Payee.grade)) == 2)
            #expect(try context.fetch(.minimum(\Payee.bonus)) == 7)
            #expect(try context.fetch(.minimum(\Payee.joined)) == nil)
        }
    }

    @Test func `of no objects there is a sum of zero, and no mean and no extreme`() throws {
        try context.performAndWait { () throws in
            let nobody = FetchRequest<Payee>(where: \.grade > 100)

            #expect(try context.fetch(.sum(\Payee.salary), of: nobody) == 0)
            #expect(try context.fetch(.average(\Payee.rate), of: nobody) == nil)
            #expect(try context.fetch(.maximum(\Payee.name), of: nobody) == nil)
        }
    }

    @Test func `a condition, an index, a limit and a path restrict or lead to the values`() throws {
        try context.performAndWait { () throws in
            #expect(
                try context.fetch(.sum(\Payee.grade), of: FetchRequest(where: \.name > "Ann")) == 3)
            #expect(
                try context.fetch(.sum(\Payee.points), of: FetchRequest(where: \.grade == 2)) == 20)
            var first = FetchRequest<Payee>()
            first.order = [.descending(\.grade)]
            first.limit = 1
            #expect(try context.fetch(.sum(\Payee.grade), of: first) == 2)
            #expect(try context.fetch(.sum(\Payee.group?.budget), of: FetchRequest()) == 200)
        }
    }

    @Test func `what is pending counts, unless the request leaves it out`() throws {
        try context.performAndWait { () throws in
            let ann = try #require(
                try context.fetch(FetchRequest(where: \Payee.name == "Ann")).first)
            ann.grade = 40
            let bea = try #require(
                try context.fetch(FetchRequest(where: \Payee.name == "Bea")).first)
            context.delete(bea)
            Payee(context: context).grade = 500
            var saved = FetchRequest<Payee>()
            saved.includesPendingChanges = false

            #expect(try context.fetch(.sum(\Payee.grade)) == 542)
            #expect(try context.fetch(.sum(\Payee.grade), of: saved) == 3)

            let child = ManagedObjectContext(parent: context)
            try child.performAndWait { () throws in
                #expect(try child.fetch(.sum(\Payee.grade)) == 542)
            }
        }
    }

    @Test func `the past has its own sums`() throws {
        try context.performAndWait { () throws in
            for payee in try context.fetch(FetchRequest<Payee>()) { payee.grade += 100 }
            try context.save()
            #expect(try context.fetch(.sum(\Payee.grade)) == 303)
        }

        let past = try container.context(at: .sequence(SequenceNumber(rawValue: 2)))
        let sum = try past.performAndWait { try past.fetch(.sum(\Payee.grade)) }
        #expect(sum == 3)
    }

    @Test func `a sum that the type cannot hold is refused`() throws {
        try context.performAndWait { () throws in
            for payee in try context.fetch(FetchRequest<Payee>()) {
                payee.points = 30_000
                payee.grade = .max
            }
            try context.save()

            let error = #expect(throws: QueryError.self) {
                try context.fetch(.sum(\Payee.points))
            }
            #expect(
                error?.message
                    == "The sum of 'points' of 'Payee' does not fit its type 'int16'. Give the attribute "
                    + "a type with more digits, or restrict the request.")
            #expect(throws: QueryError.self) { try context.fetch(.sum(\Payee.grade)) }
            #expect(try context.fetch(.average(\Payee.grade)) == Double(Int.max))
        }
    }

    /// Rows are so wide that a leaf has four of them, so that the walk is shared among threads.
    @Test func `of many objects the same is found as one by one`() throws {
        try context.performAndWait { () throws in
            for index in 0..<3_000 {
                let payee = Payee(context: context)
                payee.name = String(repeating: "x", count: 900)
                payee.grade = (index * 7_919) % 50
                payee.rate = 1 / Double(index + 3)
                payee.salary = Decimal(index) / 100
                if index % 3 == 0 { payee.bonus = index }
            }
            try context.save()
            context.reset()
        }
        let other = container.newBackgroundContext()
        try other.performAndWait { () throws in
            let all = try other.fetch(FetchRequest<Payee>())
            #expect(all.dropFirst(3).map(\.rate) == all.dropFirst(3).map(\.rate).sorted(by: >))
            #expect(all.count == 3_003)
            #expect(try other.fetch(.sum(\Payee.grade)) == all.reduce(0) { $0 + $1.grade })
            #expect(try other.fetch(.sum(\Payee.rate)) == all.map(\.rate).exactSum)
            #expect(try other.fetch(.sum(\Payee.salary)) == all.reduce(0) { $0 + $1.salary })
            #expect(try other.fetch(.maximum(\Payee.bonus)) == 2_997)

            let isYoung = FetchRequest<Payee>(where: \.rate < 0.001)
            let young = all.filter { $0.rate < 0.001 }
            #expect(try other.fetch(isYoung) == young)
            #expect(try other.count(isYoung) == young.count)
            #expect(
                try other.fetch(.sum(\Payee.salary), of: isYoung)
                    == young.reduce(0) { $0 + $1.salary })

            // Sixty have each grade, so that the first fifty are decided by their numbers.
            var top = FetchRequest<Payee>(where: \.rate < 10)
            top.order = [.descending(\.grade), .ascending(\.rate)]
            top.limit = 50
            top.offset = 30
            let sorted = all.sorted { ($1.grade, $0.rate) < ($0.grade, $1.rate) }
            #expect(try other.fetch(top) == Array(sorted[30..<80]))
            top.order = [.descending(\.bonus)]
            top.offset = 990
            let withBonus = all.filter { $0.bonus != nil }
            let byBonus = withBonus.sorted { ($0.bonus ?? 0) as Int > ($1.bonus ?? 0) as Int }
            let ordered: [Payee] = byBonus + all.filter { $0.bonus == nil }
            let expected = Array(ordered[990..<1_040])
            #expect(try other.fetch(top) == expected)
        }
    }
}
