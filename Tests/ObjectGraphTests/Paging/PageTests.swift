import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Pages of a request, and the cursors between them.
@Suite struct PageTests {
    private let race: Race
    private var context: ManagedObjectContext { race.container.viewContext }
    private let byRank: FetchRequest<Runner>

    /// Twelve runners: four without a rank, and two of each of the ranks 1 to 4.
    init() throws {
        race = try Race()
        var request = FetchRequest<Runner>()
        request.order = [.ascending(\.rank), .descending(\.name)]
        byRank = request
        try race.with { context in
            for number in 0..<12 {
                let runner = Runner(context: context)
                runner.name = String(UnicodeScalar(UInt8(97 + number)))
                runner.rank = number < 4 ? nil : number / 2 - 1
            }
            try context.save()
        }
    }

    private func names(_ page: DaybookObjectGraph.Page<Runner>) -> String {
        page.objects.map { $0.name }.joined()
    }

    @MainActor @Test func `objects without a value come first, and ties are broken`() throws {
        let first = try context.fetch(byRank.page(size: 5))
        let second = try context.fetch(byRank.page(after: first.next, size: 5))
        let third = try context.fetch(byRank.page(after: second.next, size: 5))

        #expect([names(first), names(second), names(third)] == ["dcbaf", "ehgji", "lk"])
        #expect(first.previous == nil)
        #expect(third.next == nil)
        let back = try context.fetch(byRank.page(before: third.previous, size: 5))
        #expect(names(back) == "ehgji")
        #expect(back.next == second.next)
        #expect(back.previous == second.previous)
    }

    @MainActor @Test func `a full last page has no next one`() throws {
        let page = try context.fetch(byRank.page(size: 12))

        #expect(page.objects.count == 12)
        #expect(page.next == nil)
    }

    @MainActor @Test func `a page whose objects are gone leads back`() throws {
        let first = try context.fetch(byRank.page(size: 5))
        let last = try context.fetch(byRank.page(before: nil, size: 5))
        let forward = try #require(first.next)
        let backward = try #require(last.previous)
        try race.with { other in
            let kept = "dcbaf"
            for runner in try other.fetch(FetchRequest<Runner>())
            where !kept.contains(runner.name) {
                other.delete(runner)
            }
            try other.save()
        }

        let empty = try context.fetch(byRank.page(after: forward, size: 5))
        let back = names(try context.fetch(byRank.page(before: empty.previous, size: 3)))
        try race.with { other in
            for runner in try other.fetch(FetchRequest<Runner>()) { other.delete(runner) }
            let late = Runner(context: other)
            (late.name, late.rank) = ("z", 9)
            try other.save()
        }
        let start = try context.fetch(byRank.page(before: backward, size: 5))
        let onward = try context.fetch(byRank.page(after: start.next, size: 3))

        #expect(names(empty).isEmpty && empty.next == nil && empty.previous != nil)
        #expect(back == "baf")
        #expect(names(start).isEmpty && start.previous == nil && start.next != nil)
        #expect(names(onward) == "z")
    }

    @MainActor @Test func `a cursor outlives its object and holds its place`() throws {
        let first = try context.fetch(byRank.page(size: 5))
        let cursor = try #require(first.next)
        try race.with { other in
            let found = try other.fetch(FetchRequest<Runner>(where: \.name < "g"))
            for runner in found where runner.name > "c" { other.delete(runner) }
            let new = Runner(context: other)
            new.name = "A"
            let late = Runner(context: other)
            late.name = "B"
            late.rank = 2
            try other.save()
        }

        let second = try context.fetch(byRank.page(after: cursor, size: 5))

        #expect(names(second) == "hgBji")
        #expect(cursor.sequence == SequenceNumber(2))
        #expect(try #require(second.next).sequence == SequenceNumber(3))
    }

    @MainActor @Test func `a held context pages through the state that it is held to`() throws {
        let first = try context.fetch(byRank.page(size: 5))
        let cursor = try #require(first.next)
        try race.with { other in
            for runner in try other.fetch(FetchRequest<Runner>()) { other.delete(runner) }
            try other.save()
        }

        let then = try race.container.context(at: .sequence(cursor.sequence))
        let rest = try race.with(then) { names(try $0.fetch(byRank.page(after: cursor, size: 9))) }

        #expect(rest == "ehgjilk")
        #expect(try context.fetch(byRank.page(after: cursor, size: 9)).objects.isEmpty)
    }

    @MainActor @Test func `what is pending has its place among the pages`() throws {
        let first = try context.fetch(byRank.page(size: 5))
        let new = Runner(context: context)
        new.name = "x"
        new.rank = 1
        for runner in try context.fetch(FetchRequest<Runner>(where: \.name == "h")) {
            runner.rank = 9
        }

        let second = try context.fetch(byRank.page(after: first.next, size: 5))

        // 'x' comes before 'f', with which the first page ended.
        #expect(names(second) == "egjil")
        let all = try context.fetch(byRank.page(before: nil, size: 3))
        #expect(names(all) == "lkh")
    }

    @MainActor @Test func `faults stay faults unless the request wants values`() throws {
        var request = byRank
        #expect(try context.fetch(request.page(size: 2)).objects.allSatisfy(\.isFault))
        request.returnsObjectsAsFaults = false
        #expect(try context.fetch(request.page(size: 2)).objects.allSatisfy { !$0.isFault })
    }

    // MARK: - Cursors

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? QueryError)?.message
        }
    }

    @MainActor @Test func `a cursor of another order, entity or store is refused`() throws {
        let cursor = try #require(try context.fetch(byRank.page(size: 5)).next)
        var other = byRank
        other.order.reverse()
        var clubs = FetchRequest<RaceClub>()
        clubs.order = [.ascending(\.name)]
        let elsewhere = try Race()

        let foreign = "The cursor belongs to another request: to another entity, or another order. "
        for message in [
            refusal { _ = try context.fetch(other.page(after: cursor, size: 5)) },
            refusal { _ = try context.fetch(clubs.page(after: cursor, size: 5)) },
            refusal {
                _ = try context.fetch(FetchRequest<Runner>().page(before: cursor, size: 5))
            },
        ] {
            #expect(message?.hasPrefix(foreign) == true)
        }
        let store = refusal {
            _ = try elsewhere.with { try $0.fetch(byRank.page(after: cursor, size: 5)) }
        }
        #expect(store?.hasPrefix("The cursor belongs to a store that ") == true)
        var ranked = byRank
        ranked.condition = \.rank > 2
        let rest = try context.fetch(ranked.page(after: cursor, size: 5))
        #expect(names(rest) == "jilk")
    }

    @MainActor @Test func `damaged and forged texts are no cursors`() throws {
        let cursor = try #require(try context.fetch(byRank.page(size: 5)).next)
        let text = cursor.description

        #expect(PageCursor(text) == cursor)
        #expect(text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
        for index in text.indices {
            var damaged = text
            let other: Character = text[index] == "A" ? "B" : "A"
            damaged.replaceSubrange(index...index, with: String(other))
            #expect(
                PageCursor(damaged) == nil, "\(text.distance(from: text.startIndex, to: index))")
        }
        for wrong in [
            "", "A", "1", "ä", text + "A", text + "=", String(text.dropLast()), " " + text,
        ] {
            #expect(PageCursor(wrong) == nil)
            #expect(throws: QueryError.self) { try PageCursor(parsing: wrong) }
        }
        let json = try JSONEncoder().encode([cursor])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([PageCursor].self, from: json) == [cursor])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([PageCursor].self, from: Data("[\"nothing\"]".utf8))
        }
    }

    @MainActor @Test func `a request with limits and a size of nothing are refused`() throws {
        var limited = byRank
        limited.limit = 3
        var skipping = byRank
        skipping.offset = 1

        var refused = [
            refusal { _ = try context.fetch(limited.page(size: 5)) },
            refusal { _ = try context.fetch(skipping.page(size: 5)) },
        ]
        for size in [0, -1, Int.max] {
            refused.append(refusal { _ = try context.fetch(byRank.page(size: size)) })
        }

        #expect(refused.count(where: { $0 != nil }) == 5)
    }

    @MainActor @Test func `a predicate that no filter stands for is paged as well`() throws {
        let predicate = #Predicate<Runner> { $0.shout == "B" || $0.shout > "H" }
        var request = FetchRequest<Runner>(where: predicate)
        request.order = [.descending(\.name)]
        #expect(try context.explain(request).contains("in memory"))

        let first = try context.fetch(request.page(size: 3))
        let second = try context.fetch(request.page(after: first.next, size: 3))

        #expect(names(first) + " " + names(second) == "lkj ib")
    }
}
