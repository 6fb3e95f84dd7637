import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Rows of selections as types of a program, and columns by their names.
@Suite struct DecodableRowTests {
    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private var context: ManagedObjectContext { container.viewContext }
    private let day = Date(timeIntervalSinceReferenceDate: 86_400)
    private var all: FetchRequest<Payee> { FetchRequest<Payee>() }

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

    private func message<Columns, Row: Decodable>(
        _ selection: Selection<Payee, Columns>, as type: Row.Type
    ) throws -> String? {
        try inContext { (context) throws in
            #expect(throws: QueryError.self) { try context.fetch(selection, as: type) }?.message
        }
    }

    private enum Title: String, Codable { case lab = "Lab", shop = "Shop" }

    private struct Total: Decodable, Equatable {
        let group: Title?
        let total: Decimal
        let count: Int
        let median: Double?

        enum CodingKeys: String, CodingKey {
            case group = "group.title"
            case total, count
            case median = "median(grade)"
        }
    }

    @Test func `F53 F54 rows are values of a type whose properties are named as the columns`()
        throws
    {
        try inContext { (context) throws in
            let totals = all.select(
                \.group?.title, .sum(\.salary).named("total"), .count, .median(\.grade))
            let rows = try context.fetch(totals, as: Total.self)

            #expect(
                rows == [
                    Total(group: nil, total: Decimal(4) / 10, count: 1, median: 4),
                    Total(group: .lab, total: Decimal(1) / 10, count: 2, median: 0.5),
                    Total(group: .shop, total: Decimal(5) / 10, count: 2, median: 2.5),
                ])
            #expect(try context.fetch(totals.having("count > 9"), as: Total.self).isEmpty)
        }
    }

    @Test func `F53 each kind of value is read`() throws {
        struct Person: Decodable {
            let name: String
            let grade: UInt8
            let points: Int
            let salary: Decimal
            let rate: Float
            let bonus: Double?
            let joined: Date?
            let group: ManagedObjectID?
        }
        try inContext { (context) throws in
            let people = all.select(
                columns: \.name, \.grade, \.points, \.salary, \.rate, \.bonus, \.joined,
                \.group?.objectID)
            // The name of an identifier's column is that of the relationship.
            let rows = try context.fetch(people, as: Person.self)

            #expect(rows.map(\.name) == ["Ann", "Bea", "Cid", "Dan", "Eve"])
            #expect(rows.map(\.grade) == [0, 1, 2, 3, 4])
            #expect(rows.map(\.points) == [0, 10, 20, 30, 40])
            #expect(rows[3].salary == Decimal(3) / 10)
            #expect(rows.map(\.rate) == [0, 0.25, 0.5, 0.75, 1])
            #expect(rows.map(\.bonus) == [nil, 7, nil, 7, nil])
            #expect(rows.map(\.joined) == [nil, nil, nil, day, day])
            let ann = try #require(try context.fetch(all).first)
            #expect(rows[0].group == ann.group?.objectID)
            #expect(rows[4].group == nil)
            // All attributes of an entity have columns, too.
            struct Short: Decodable { let name: String }
            #expect(try context.fetch(all.dictionaries(), as: Short.self).map(\.name).last == "Eve")
            #expect(try context.fetch(all.select(\.name), as: String.self).first == "Ann")
            #expect(try context.fetch(all.select(\.bonus), as: Int?.self) == [nil, 7, nil, 7, nil])
            let salaries: [Decimal] = try context.fetch(all.select(\.salary))
            #expect(try context.fetch(all.select(\.salary), as: Decimal.self) == salaries)
            let sum = try context.fetch(all.select(.sum(\.grade)), as: [String: Int].self)
            #expect(sum == [["sum(grade)": 10]])
            ann.joined = Date(timeIntervalSinceReferenceDate: 60)
            let employed = FetchRequest<Payee>(where: \.joined != nil).select(\.joined)
            let dates = try context.fetch(employed).compactMap(\.self)
            #expect(dates.contains(Date(timeIntervalSinceReferenceDate: 60)))
            #expect(try context.fetch(employed, as: Date.self) == dates)
            context.rollback()
            #expect(
                try context.fetch(all.select(.sum(\.grade), .count), as: [String: Int].self)
                    == [["sum(grade)": 10, "count": 5]])
        }
    }

    @Test func `a row that a type cannot read is refused with its column and the reason`() throws {
        struct Misspelt: Decodable { let nam: String? }
        #expect(
            try message(all.select(\.name, \.grade), as: Misspelt.self)
                == "Row 1 cannot be read as 'Misspelt': there is no column 'nam'; there are 'name', "
                + "'grade'.")
        struct Certain: Decodable { let bonus: Int }
        #expect(
            try message(all.select(\.bonus, \.name), as: Certain.self)
                == "Row 1 cannot be read as 'Certain': column 'bonus' is null, which 'Int' is not. Read "
                + "it as 'Int?'.")
        struct Narrow: Decodable { let total: Int8 }
        let sums = all.select(.sum(\.points).named("total"), .count)
        try inContext { (context) throws in
            for payee in try context.fetch(all) { payee.points = 100 }
        }
        #expect(
            try message(sums, as: Narrow.self)
                == "Row 1 cannot be read as 'Narrow': column 'total' has a number that 'Int8' cannot hold "
                + "exactly. Read it as a type with more digits.")
        struct Rounded: Decodable { let salary: Double }
        #expect(
            try message(all.select(\.salary), as: Rounded.self)
                == "Row 1 cannot be read as 'Rounded': column 'salary' has a decimal number, which "
                + "'Double' does not read.")
        struct Negative: Decodable { let grade: UInt }
        try inContext { (context) throws in try #require(try context.fetch(all).last).grade = -1 }
        #expect(
            try message(all.select(\.grade), as: Negative.self)?.hasPrefix(
                "Row 5 cannot be read as 'Negative': column 'grade' has a number that 'UInt'")
                == true)
        struct Unknown: Decodable { let title: Title? }
        try inContext { (context) throws in
            try #require(try context.fetch(all).first).group?.title = "Bar"
        }
        #expect(
            try message(
                all.select(.minimum(\.group?.title).named("title"), .count), as: Unknown.self)?
                .hasPrefix("Row 1 cannot be read as 'Unknown': ") == true)
        #expect(
            try message(all.select(\.name, \.grade), as: String.self)
                == "Row 1 cannot be read as 'String': a row has 2 columns, and the type reads one value. "
                + "Select one column, or read the row as a type with properties.")
        #expect(
            try message(all.select(\.name), as: [String].self)
                == "Row 1 cannot be read as 'Array<String>': column 'name' has a text, which "
                + "'Array<String>' does not read.")
        #expect(
            try message(all.select(\.name, \.grade), as: [String].self)
                == "Row 1 cannot be read as 'Array<String>': a row has columns by their names, and no "
                + "order. Read it as a type with properties.")
        struct Nested: Decodable {
            struct Group: Decodable { let title: String }
            let name: Group
        }
        #expect(
            try message(all.select(\.name), as: Nested.self)
                == "Row 1 cannot be read as 'Nested': column 'name' has one value. A type that is kept as "
                + "one conforms to 'CodableAttributeValue'.")
        #expect(
            try message(all.select(.count.named("x"), .sum(\.grade).named("x")), as: Narrow.self)
                == "Two columns are named 'x', so a row cannot be read by names. Give one of them another "
                + "name with 'named', or leave it out.")
    }

    @Test func `F54 groups are kept and sorted by the names of their columns`() throws {
        try inContext { (context) throws in
            let groups = all.select(\.group?.title, .sum(\.grade).named("total"), .count)
            func titles(_ selection: Selection<Payee, (String?, Int, Int)>) throws -> [String?] {
                try context.fetch(selection).map(\.0)
            }
            #expect(try titles(groups.having("total > 1")) == [nil, "Shop"])
            #expect(try titles(groups.having("total > %@ AND count == %@", 1, 2)) == ["Shop"])
            #expect(try titles(groups.having("group.title != nil")) == ["Lab", "Shop"])
            #expect(
                try titles(groups.having("total > 1").having { title, _, _ in title == nil }) == [
                    nil
                ])
            #expect(try titles(groups.ordered(by: .descending("total"))) == ["Shop", nil, "Lab"])
            #expect(
                try titles(groups.ordered(by: .ascending("count"), .descending("total")))
                    == [nil, "Shop", "Lab"])
            #expect(
                try titles(groups.ordered(by: .descending("group.title"))) == ["Shop", "Lab", nil])
            #expect(
                try titles(groups.ordered(by: .ascending(.sum(\.grade).named("anything"))))
                    == ["Lab", nil, "Shop"])
            #expect(try titles(groups.having("total > 0").limited(to: 1, offset: 1)) == ["Lab"])
            // What is not among the columns is still a path of the object.
            #expect(
                try titles(
                    groups.grouped(by: \.group?.title).ordered(by: .descending("group.title")))
                    == ["Shop", "Lab", nil])
            let median = all.select(
                .median(\.rate).named("middle"), .countDistinct(\.bonus).named("kinds"))
            #expect(try context.fetch(median.having("middle == 0.5 AND kinds == 1")).count == 1)
        }
    }

    @Test func `a name that is none, and one of two columns, is refused`() throws {
        try inContext { (context) throws in
            func message<Row>(_ selection: Selection<Payee, Row>) -> String? {
                #expect(throws: QueryError.self) { try context.fetch(selection) }?.message
            }
            let groups = all.select(\.group?.title, .sum(\.grade).named("total"), .count)
            #expect(
                message(groups.having("totl > 1"))
                    == "There is no column 'totl' with values to compare; there are 'group.title', "
                    + "'total', 'count'.")
            #expect(
                message(groups.ordered(by: .ascending("totl")))
                    == "'Payee' has no property 'totl'.")
            let twins = all.select(.sum(\.grade).named("x"), .sum(\.points).named("x"))
            let sentence = "Two columns are named 'x'. Give one of them another name with 'named'."
            #expect(message(twins.having("x > 1")) == sentence)
            #expect(message(twins.ordered(by: .ascending("x"))) == sentence)
            #expect(try context.fetch(twins).count == 1)
            #expect(
                message(all.select(\.name).having("name == 'Ann'"))
                    == "'having' keeps groups, and each row is an object of 'Payee'. Give the request a "
                    + "condition, or group it.")
            #expect(message(groups.having("total >")) != nil)
            #expect(
                message(groups.having("total > %@", all))?.contains("'FetchRequest<Payee>'") == true
            )
        }
    }

    @Test func `rows by name are of the past, of what is pending, and of a child`() throws {
        let totals = all.select(
            \.group?.title, .sum(\.salary).named("total"), .count, .median(\.grade))
        let store = container.persistentStoreCoordinator.persistentStores[0]
        let then = try store.head()
        try inContext { (context) throws in
            let eve = try #require(try context.fetch(all).last)
            eve.salary = 9
            let child = ManagedObjectContext(parent: context)
            let inChild = try child.performAndWait { () throws in
                Payee(context: child).salary = 1
                return try child.fetch(totals.having("total >= 10"), as: Total.self)
            }
            #expect(inChild == [Total(group: nil, total: 10, count: 2, median: 2)])
            #expect(
                try context.fetch(totals, as: Total.self).first
                    == Total(group: nil, total: 9, count: 1, median: 4))
            try context.save()
        }
        let past = try container.context(at: .sequence(then))
        let before = try past.performAndWait { try past.fetch(totals, as: Total.self) }
        #expect(before.first == Total(group: nil, total: Decimal(4) / 10, count: 1, median: 4))
    }
}
