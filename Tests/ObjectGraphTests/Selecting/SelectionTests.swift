import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Columns and groups of what a request finds, with the types of a program.
@Suite struct SelectionTests {
    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private var context: ManagedObjectContext { container.viewContext }
    private let day = Date(timeIntervalSinceReferenceDate: 86_400)

    /// Five people; two in each of two groups, and one in none.
    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("s.daybook"), model: [Payee.self, PayGroup.self])
        let context = container.viewContext
        let day = day
        try context.performAndWait { () throws in
            let groups = ["Lab", "Shop"].map { title in
                let group = PayGroup(context: context)
                group.title = title
                group.budget = title.count
                return group
            }
            for (index, name) in ["Ann", "Bea", "Cid", "Dan", "Eve"].enumerated() {
                let payee = Payee(context: context)
                payee.name = name
                payee.grade = index
                payee.points = Int16(10 * index)
                payee.salary = Decimal(index) / 10
                payee.rate = Double(index) / 4
                if index % 2 == 1 { payee.bonus = 7 }
                if index > 2 { payee.joined = day }
                if index < 4 { payee.group = groups[index / 2] }
            }
            try context.save()
        }
    }

    private func inContext<R>(_ body: (ManagedObjectContext) throws -> R) throws -> R {
        try context.performAndWait { try body(context) }
    }

    @Test func `F53 columns of objects have the types of their attributes`() throws {
        try inContext { (context) throws in
            var request = FetchRequest<Payee>(where: \.grade > 0)
            request.order = [.descending(\.name)]
            request.limit = 2
            request.offset = 1
            let rows = try context.fetch(
                request.select(\.name, \.bonus, \.group?.title, \.salary))

            #expect(rows.map(\.0) == ["Dan", "Cid"])
            #expect(rows.map(\.1) == [7, nil])
            #expect(rows.map(\.2) == ["Shop", "Shop"])
            #expect(rows.map(\.3) == [Decimal(3) / 10, Decimal(2) / 10])
            let names: [String] = try context.fetch(FetchRequest<Payee>().select(\.name))
            #expect(names == ["Ann", "Bea", "Cid", "Dan", "Eve"])
            let many = try context.fetch(
                request.select(columns: \.name, \.grade, \.points, \.rate, \.joined))
            #expect(many.map(\.4) == [day, nil])
        }
    }

    @Test func `no object is made for a column`() throws {
        try inContext { (context) throws in
            context.reset()
            _ = try context.fetch(FetchRequest<Payee>().select(\.name, \.group?.title))
            _ = try context.fetch(FetchRequest<Payee>().select(\.group?.title, .sum(\.grade)))
            _ = try context.identifiers(of: FetchRequest<Payee>())

            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func `F54 groups have aggregates in the arithmetic of their attributes`() throws {
        try inContext { (context) throws in
            let rows = try context.fetch(
                FetchRequest<Payee>().select(
                    columns: \.group?.title, aggregates: .sum(\.salary), .average(\.grade), .count,
                    .count(\.bonus),
                    .countDistinct(\.joined), .median(\.rate), .maximum(\.name)))

            #expect(rows.map(\.0) == [nil, "Lab", "Shop"])
            #expect(rows.map(\.1) == [Decimal(4) / 10, Decimal(1) / 10, Decimal(5) / 10])
            #expect(rows.map(\.2) == [4, 0.5, 2.5])
            #expect(rows.map(\.3) == [1, 2, 2])
            #expect(rows.map(\.4) == [0, 1, 1])
            #expect(rows.map(\.5) == [1, 0, 1])
            #expect(rows.map(\.6) == [1, 0.125, 0.625])
            #expect(rows.map(\.7) == ["Eve", "Bea", "Dan"])
        }
    }

    @Test func `F54 a relationship groups by its object, and its attributes are columns`() throws {
        try inContext { (context) throws in
            let selection = FetchRequest<Payee>()
                .select(\.group?.objectID, \.group?.title, .sum(\.points))
                .grouped(by: \.group)
            let rows = try context.fetch(selection)
            let lab = try #require(
                try context.fetch(FetchRequest<PayGroup>(where: \.title == "Lab")).first)

            #expect(rows.map(\.1) == [nil, "Lab", "Shop"])
            #expect(rows.map(\.2) == [40, 10, 50])
            #expect(rows[0].0 == nil)
            #expect(rows[1].0 == lab.objectID)
        }
    }

    @Test func `groups are kept, sorted and counted off`() throws {
        try inContext { (context) throws in
            let groups = FetchRequest<Payee>().select(\.group?.title, .sum(\.grade), .count)
            #expect(
                try context.fetch(groups.having { _, _, count in count > 1 }).map(\.0)
                    == ["Lab", "Shop"])
            #expect(
                try context.fetch(groups.ordered(by: .descending(.sum(\.grade)))).map(\.0)
                    == ["Shop", nil, "Lab"])
            #expect(
                try context.fetch(groups.ordered(by: .descending(\.group?.title))).map(\.0)
                    == ["Shop", "Lab", nil])
            // What is not among the columns may decide the order.
            let byAge = groups.ordered(by: .ascending(.count), .descending(.maximum(\.name)))
            #expect(try context.fetch(byAge).map(\.0) == [nil, "Shop", "Lab"])
            #expect(try context.fetch(byAge.limited(to: 1, offset: 1)).map(\.0) == ["Shop"])
            let last = groups.having { title, _, _ in title != nil }.limited(to: 5, offset: 1)
            #expect(try context.fetch(last).map(\.0) == ["Shop"])
        }
    }

    @Test func `distinct rows stand once`() throws {
        try inContext { (context) throws in
            let bonuses = FetchRequest<Payee>().select(\.bonus).distinct
            #expect(try context.fetch(bonuses) == [nil, 7])
            #expect(try context.fetch(bonuses.ordered(by: .descending(\.bonus))) == [7, nil])
            let counts = FetchRequest<Payee>().select(.count).grouped(by: \.group).distinct
            #expect(try context.fetch(counts) == [1, 2])
        }
    }

    @Test func `aggregates alone are one row, even of no objects`() throws {
        try inContext { (context) throws in
            let nobody = FetchRequest<Payee>(where: \.grade > 100)
            let totals = try context.fetch(nobody.select(.sum(\.salary), .count, .minimum(\.name)))
            #expect(totals.count == 1)
            #expect(totals[0].0 == 0)
            #expect(totals[0].1 == 0)
            #expect(totals[0].2 == nil)
            #expect(try context.fetch(nobody.select(\.group?.title, .count)).isEmpty)
            #expect(try context.fetch(.count, of: FetchRequest<Payee>()) == 5)
            #expect(try context.fetch(.median(\Payee.grade)) == 2)
            #expect(try context.fetch(.countDistinct(\Payee.bonus)) == 1)
        }
    }

    @Test func `F51 F53 dictionaries have all attributes, and count what is pending`() throws {
        try inContext { (context) throws in
            var request = FetchRequest<Payee>(where: \.grade < 1)
            let all = try context.fetch(request.dictionaries())
            #expect(all.count == 1)
            #expect(
                Set(all[0].keys) == [
                    "name", "grade", "points", "salary", "rate", "bonus", "joined",
                ])
            #expect(all[0]["name"] == .string("Ann"))
            #expect(all[0]["bonus"] == .null)

            Payee(context: context).name = "New"
            #expect(
                try context.fetch(request.dictionaries("name", "group.title")) == [
                    ["name": .string("Ann"), "group.title": .string("Lab")],
                    ["name": .string("New"), "group.title": .null],
                ])
            request.includesPendingChanges = false
            #expect(try context.fetch(request.dictionaries("name")) == [["name": .string("Ann")]])
            let grouped = FetchRequest<Payee>().dictionaries("bonus").grouped(by: "bonus")
            #expect(try context.fetch(grouped) == [["bonus": .null], ["bonus": .int(7)]])
        }
    }

    @Test func `F53 identifiers come in the order of a request`() throws {
        try inContext { (context) throws in
            var request = FetchRequest<Payee>(where: \.grade > 1)
            request.order = [.descending(\.grade)]
            request.limit = 2
            let ids = try context.identifiers(of: request)
            #expect(ids == (try context.fetch(request).map(\.objectID)))
            let new = Payee(context: context)
            new.grade = 90
            let first = try context.identifiers(of: request)[0]
            #expect(first == new.objectID)
            #expect(first.isTemporaryID)
        }
    }

    @Test func `the past has its own groups`() throws {
        try inContext { (context) throws in
            for payee in try context.fetch(FetchRequest<Payee>()) { payee.group = nil }
            try context.save()
        }
        let past = try container.context(at: .sequence(SequenceNumber(rawValue: 2)))
        try past.performAndWait { () throws in
            let rows = try past.fetch(FetchRequest<Payee>().select(\.group?.title, .count))
            #expect(rows.map(\.0) == [nil, "Lab", "Shop"])
            #expect(rows.map(\.1) == [1, 2, 2])
        }
        try inContext { (context) throws in
            let rows = try context.fetch(FetchRequest<Payee>().select(\.group?.title, .count))
            #expect(rows.map(\.1) == [5])
        }
    }

    @Test func `a mistake is refused with its property and a remedy`() throws {
        try inContext { (context) throws in
            func message<Row>(_ selection: Selection<Payee, Row>) -> String? {
                #expect(throws: QueryError.self) { try context.fetch(selection) }?.message
            }
            let all = FetchRequest<Payee>()
            #expect(
                message(all.select(\.name, .count).grouped(by: \.group))
                    == "A group has many values of 'name' of 'Payee'. Group by it as well, or ask for one of "
                    + "them, such as the minimum.")
            #expect(
                message(all.select(\.group?.title, .count).ordered(by: .ascending(\.name)))
                    == "A group has many values of 'name' of 'Payee'. Group by it as well, or ask for one of "
                    + "them, such as the minimum.")
            #expect(
                message(all.select(\.name).having { _ in true })
                    == "'having' keeps groups, and each row is an object of 'Payee'. Give the request a "
                    + "condition, or group it.")
            #expect(
                message(all.dictionaries("nam"))
                    == "'Payee' has no property 'nam'; did you mean 'name'?")
            var sorted = all
            sorted.order = [.descending(.count)]
            let error = #expect(throws: QueryError.self) { try context.fetch(sorted) }
            #expect(
                error?.message
                    == "Objects of 'Payee' cannot be sorted by an aggregate. Select columns and group by one "
                    + "of them, or sort by an attribute.")
            for payee in try context.fetch(all) { payee.points = 20_000 }
            #expect(
                message(all.select(\.group?.title, .sum(\.points)))
                    == "The sum of 'points' of 'Payee' does not fit its type 'int16'. Give the attribute "
                    + "a type with more digits, or restrict the request.")
            try context.save()
            #expect(message(all.select(.sum(\.points)))?.contains("'points' of 'Payee'") == true)
        }
    }

    @Test func `an explanation tells where the groups are made`() throws {
        try inContext { (context) throws in
            let selection = FetchRequest<Payee>(where: \.grade == 1)
                .select(\.group?.title, .sum(\.rate))
            let text = try context.explain(selection)
            #expect(text.contains("'grade'"))
            #expect(text.hasSuffix("; rows are grouped where they lie, by 'group.title'"))
            #expect(
                try context.explain(FetchRequest<Payee>().select(\.name))
                    .hasSuffix("; columns are read from the rows"))
            let sums = FetchRequest<Payee>(where: \.grade == 1)
                .select(\.group?.title, .sum(\.salary))
            Payee(context: context).rate = 2
            #expect(try context.explain(selection) == text)
            // Decimals are added in the order of the objects, so pending ones must not come last.
            #expect(
                try context.explain(sums).hasSuffix(
                    "; objects are grouped one by one, by 'group.title'"))
        }
    }
}
