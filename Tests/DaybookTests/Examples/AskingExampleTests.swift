import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on asking, in order.
@Suite struct AskingExampleTests {
    // example
    final class Shop: ManagedObject {
        @Attribute(.unique) var city: String
        @Relationship(inverse: \Sale.shop) var sales: Set<Sale>
    }

    final class Sale: ManagedObject {
        @Attribute var article: String = ""
        @Attribute var amount: Decimal = 0
        @Attribute var pieces: Int?
        @Relationship var shop: Shop?
    }
    // end of example

    @MainActor @Test func `selections go as the page says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("s.daybook"), model: [Shop.self, Sale.self])
        let context = container.viewContext
        for (index, city) in ["Bergen", "Oslo"].enumerated() {
            let shop = Shop(context: context)
            shop.city = city
            for number in 1...3 {
                let sale = Sale(context: context)
                sale.article = number == 1 ? "tea" : "cake"
                sale.amount = Decimal(10 * index + 3 * number)
                sale.pieces = number == 3 ? nil : number
                sale.shop = number == 3 && index == 0 ? nil : shop
            }
        }
        try context.save()
        try container.setTag("inventory")

        // example
        var newest = FetchRequest<Sale>(where: \.amount > 5)
        newest.order = [.descending(\.amount)]
        for (article, city) in try context.fetch(newest.select(\.article, \.shop?.city)) {
            print(article, city ?? "elsewhere")
        }
        let articles: [String] = try context.fetch(newest.select(\.article))
        // end of example

        #expect(articles == ["cake", "cake", "tea", "cake", "cake"])

        // example
        let rows = try context.fetch(newest.dictionaries())
        let cities = try context.fetch(newest.dictionaries("article", "shop.city"))
        let ids = try context.identifiers(of: newest)
        // end of example

        #expect(
            rows.last == ["article": .string("cake"), "amount": .decimal(6), "pieces": .int(2)])
        #expect(cities[3] == ["article": .string("cake"), "shop.city": .null])
        #expect(ids.count == 5)

        // example
        let large = FetchRequest<Sale>(where: \.amount > 5)
        let takings = large.select(\.shop?.city, .sum(\.amount), .count)
        for (city, amount, count) in try context.fetch(takings) {
            print(city ?? "elsewhere", amount, count)
        }
        // end of example

        let found = try context.fetch(takings)
        #expect(found.map(\.0) == [nil, "Bergen", "Oslo"])
        #expect(found.map(\.1) == [9, 6, 48])
        #expect(found.map(\.2) == [1, 1, 3])

        // example
        let best = FetchRequest<Sale>()
            .select(\.shop?.city, .sum(\.amount), .median(\.pieces))
            .grouped(by: \.shop)  // two shops may be in one city
            .having { _, amount, _ in amount > 10 }
            .ordered(by: .descending(.sum(\.amount)))
            .limited(to: 3)
        let three = try context.fetch(best)
        let sold = try context.fetch(FetchRequest<Sale>().select(\.article).distinct)
        let (total, count) = try context.fetch(large.select(.sum(\.amount), .count))[0]
        // end of example

        // example
        struct Takings: Decodable {
            let city: String?
            let total: Decimal
            let count: Int
            enum CodingKeys: String, CodingKey { case city = "shop.city", total, count }
        }

        let byCity = FetchRequest<Sale>()
            .select(\.shop?.city, .sum(\.amount).named("total"), .count)
            .having("total > 5 AND count >= %@", 2)
            .ordered(by: .descending("total"))
        let top = try context.fetch(byCity, as: Takings.self)
        // end of example

        #expect(top.map(\.city) == ["Oslo", "Bergen"])
        #expect(top.map(\.total) == [48, 9])
        #expect(top.map(\.count) == [3, 2])

        #expect(three.map(\.0) == ["Oslo"])
        #expect(three.map(\.2) == [1.5])
        #expect(sold == ["cake", "tea"])
        #expect(total == 63)
        #expect(count == 5)
        try pages(context)
        for sale in try context.fetch(FetchRequest<Sale>()) { sale.amount += 1 }
        try context.save()

        // example
        let then = try container.context(at: .tag("inventory"))
        let former = try then.performAndWait { try then.fetch(takings) }
        // end of example

        #expect(former.map(\.1) == [9, 6, 48])

        // example
        Sale(context: context).amount = 100
        let withIt = try context.fetch(FetchRequest<Sale>().select(.sum(\.amount)))
        var saved = FetchRequest<Sale>()
        saved.includesPendingChanges = false
        let withoutIt = try context.fetch(saved.select(.sum(\.amount)))
        // end of example

        #expect(withIt == [172])
        #expect(withoutIt == [72])

        context.rollback()
        let cake = try #require(try context.fetch(newest).last)
        cake.amount = 5
        let dearest = try #require(try context.fetch(newest).first)
        dearest.amount = 20
        dearest.shop = nil
        let change = try #require(try context.save(author: "ann", note: "Stocktaking"))

        // example
        let fallen = FetchRequest<Sale>(
            where: (\Sale.amount).decreased(since: .tag("inventory")) && \Sale.article == "cake")
        for fall in try context.changes(for: fallen) {
            print(fall.time, fall.author ?? "somebody", fall.objectID, fall.old, fall.new)
        }
        // end of example

        let falls = try context.changes(for: fallen)
        #expect(falls.map(\.objectID) == [cake.objectID])
        #expect(falls.map(\.sequence) == [change])
        #expect(falls.map(\.author) == ["ann"])
        #expect(falls.map(\.old) == [.decimal(7)])
        #expect(falls.map(\.new) == [.decimal(5)])

        // example
        let dear = try context.fetch(FetchRequest<Sale>(where: .ever(\.amount > 15)))
        let inOslo = FetchRequest<Sale>(where: .was(\.shop?.city == "Oslo", at: .tag("inventory")))
        let moved = FetchRequest<Sale>(
            where: Condition("shop CHANGED BY 'ann' OR NOT ALWAYS shop != nil"))
        // end of example

        #expect(dear.map(\.amount).sorted() == [17, 20])
        #expect(try context.count(inOslo) == 3)
        #expect(try context.count(moved) == 2)

        // example
        print(try context.explain(takings))
        // end of example

        // example
        let explained = try context.explain(carryingOut: takings)
        print(explained.rowsRead, explained.rowsPassedOver, explained)
        // end of example

        #expect(try context.fetch(takings).count == explained.foundCount)
        #expect(explained.rowsRead >= 6)
    }

    @MainActor private func pages(_ context: ManagedObjectContext) throws {
        // example
        var dearest = FetchRequest<Sale>()
        dearest.order = [.descending(\.amount)]
        let first = try context.fetch(dearest.page(size: 3))
        let link = first.next?.description ?? ""  // goes into a web page, and comes back
        let second = try context.fetch(dearest.page(after: PageCursor(parsing: link), size: 3))
        let firstAgain = try context.fetch(dearest.page(before: second.previous, size: 3))
        let last = try context.fetch(dearest.page(before: nil, size: 3))
        // end of example

        #expect(first.objects.map(\.amount) == [19, 16, 13])
        #expect(second.objects.map(\.amount) == [9, 6, 3])
        #expect(firstAgain.objects == first.objects)
        #expect(last.objects == second.objects)
    }

    @MainActor @Test func `streams go as the page says`() async throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("s.daybook"), model: [Shop.self, Sale.self])
        let context = container.viewContext
        for number in 1...600 {
            let sale = Sale(context: context)
            sale.article = number % 2 == 0 ? "tea" : "cake"
            sale.amount = Decimal(number)
        }
        try context.save()

        // example
        var total: Decimal = 0
        for try await sale in context.stream(FetchRequest<Sale>()) {
            total += sale.amount
        }
        // end of example

        // example
        let background = container.newBackgroundContext()
        var articles: Set<String> = []
        for try await article in background.stream(FetchRequest<Sale>(), { $0.article }) {
            articles.insert(article)
        }
        // end of example

        // example
        let progress = Progress(totalUnitCount: 1)  // the fetch sets its units
        let dear = try await context.fetch(
            FetchRequest<Sale>(where: \.amount > 500), reporting: progress)
        let kinds = try await background.fetch(FetchRequest<Sale>(), reporting: progress) {
            $0.article
        }
        // end of example

        #expect(dear.map(\.amount).first == 501)
        #expect(dear.count == 100)
        #expect(kinds.count == 600)
        #expect(progress.isFinished)
        #expect(total == 180_300)
        #expect(articles == ["tea", "cake"])
    }
}
