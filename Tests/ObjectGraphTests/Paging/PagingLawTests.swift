import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Pages and streams of random requests compared with one fetch of everything: in a context with pending changes
/// and in its child, in one without, in the past, and over two stores.
@Suite struct PagingLawTests {
    /// All objects by pages of random sizes, forwards.
    private static func forwards(
        _ context: ManagedObjectContext, _ request: FetchRequest<Runner>,
        _ random: inout SeededGenerator
    ) throws -> [ManagedObjectID] {
        var found: [ManagedObjectID] = []
        var cursor: PageCursor?
        repeat {
            let size = Int.random(in: 1...7, using: &random)
            let page = try context.fetch(request.page(after: cursor, size: size))
            #expect((page.previous == nil) == (cursor == nil))
            #expect(page.objects.count == size || page.next == nil)
            found += page.objects.map(\.objectID)
            cursor = try page.next.map { try PageCursor(parsing: $0.description) }
        } while cursor != nil
        return found
    }

    /// All objects by pages of random sizes, from the last one on.
    private static func backwards(
        _ context: ManagedObjectContext, _ request: FetchRequest<Runner>,
        _ random: inout SeededGenerator
    ) throws -> [ManagedObjectID] {
        var found: [ManagedObjectID] = []
        var cursor: PageCursor?
        repeat {
            let size = Int.random(in: 1...7, using: &random)
            let page = try context.fetch(request.page(before: cursor, size: size))
            #expect((page.next == nil) == (cursor == nil))
            found = page.objects.map(\.objectID) + found
            cursor = page.previous
        } while cursor != nil
        return found
    }

    private static func streamed(
        _ context: ManagedObjectContext, _ request: FetchRequest<Runner>,
        _ random: inout SeededGenerator
    ) throws -> [ManagedObjectID] {
        var request = request
        request.fetchBatchSize = Int.random(in: 0...7, using: &random)
        var found: [ManagedObjectID] = []
        try context.enumerate(request) { found.append($0.objectID) }
        return found
    }

    private static func check(
        _ context: ManagedObjectContext, _ seed: UInt64, _ what: String,
        _ random: inout SeededGenerator
    ) throws {
        for (index, request) in Race.requests(&random).enumerated() {
            let all = try context.fetch(request).map(\.objectID)
            let place: Comment = "seed \(seed), \(what), order \(index)"
            #expect(try forwards(context, request, &random) == all, place)
            #expect(try backwards(context, request, &random) == all, place)
            #expect(try streamed(context, request, &random) == all, place)
            var part = request
            part.offset = Int.random(in: 0...3, using: &random)
            part.limit = Int.random(in: 1...9, using: &random)
            let window = try context.fetch(part).map(\.objectID)
            #expect(try streamed(context, part, &random) == window, place)
        }
    }

    @Test(arguments: UInt64(0)..<12)
    func `pages in both directions and streams give what a fetch gives`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let race = try Race()
        for _ in 0..<4 {
            try race.with { context in
                try Race.edit(context, &random)
                try context.save()
            }
        }
        try race.container.setTag("then")
        for _ in 0..<2 {
            try race.with { context in
                try Race.edit(context, &random)
                try context.save()
            }
        }

        let now = race.container.newBackgroundContext()
        try race.with(now) { try Self.check($0, seed, "now", &random) }
        let past = try race.container.context(at: .tag("then"))
        try race.with(past) { try Self.check($0, seed, "past", &random) }
        try race.with(now) { context in
            try Race.edit(context, &random)
            try Self.check(context, seed, "pending", &random)
        }
        let child = ManagedObjectContext(parent: now)
        try race.with(child) { context in
            try Race.edit(context, &random)
            try Self.check(context, seed, "child", &random)
        }
    }

    @Test(arguments: UInt64(100)..<106)
    func `pages and streams go over two stores`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let race = try Race()
        let coordinator = race.container.persistentStoreCoordinator
        let other = try coordinator.addPersistentStore(
            at: race.folder.url.appendingPathComponent("other.daybook"))
        try race.with { context in
            try Race.edit(context, &random)
            try context.save()
            try Race.edit(context, &random)
            for object in context.insertedObjects {
                // A relationship stays in its store.
                (object as? Runner)?.club = nil
                try context.assign(object, to: other)
            }
            try context.save()
        }

        try race.with { try Self.check($0, seed, "two stores", &random) }
    }

    @Test(arguments: UInt64(200)..<212)
    func `objects that stay are found once, whoever comes and goes between the pages`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let race = try Race()
        for _ in 0..<4 {
            try race.with { context in
                try Race.edit(context, &random)
                try context.save()
            }
        }
        let reader = race.container.newBackgroundContext()
        for request in Race.requests(&random) {
            let before = try race.with(reader) { try $0.identifiers(of: request) }
            var found: [ManagedObjectID] = []
            var cursor: PageCursor?
            repeat {
                let page = try race.with(reader) { context in
                    let page = try context.fetch(request.page(after: cursor, size: 3))
                    found += page.objects.map(\.objectID)
                    return page.next
                }
                cursor = page
                guard found.count % 4 == 0 else { continue }
                try race.with { context in
                    try Race.edit(context, changes: false, &random)
                    try context.save()
                }
            } while cursor != nil && found.count < 90
            let after = Set(try race.with(reader) { try $0.identifiers(of: request) })

            #expect(Set(found).count == found.count, "seed \(seed)")
            let stayed = before.filter(after.contains)
            let known = Set(before)
            #expect(
                found.filter { known.contains($0) && after.contains($0) } == stayed
                    || cursor != nil, "seed \(seed)")
        }
    }

    @Test(arguments: UInt64(300)..<312)
    func `a stream gives what was there when it began, whatever is saved meanwhile`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let race = try Race()
        for _ in 0..<4 {
            try race.with { context in
                try Race.edit(context, &random)
                try context.save()
            }
        }
        for var request in Race.requests(&random) {
            request.fetchBatchSize = 2
            let reader = race.container.newBackgroundContext()
            let expected = try race.with { context in
                try context.fetch(request).map { "\($0.objectID) \($0.name) \($0.minutes ?? -1)" }
            }
            var found: [String] = []
            try race.with(reader) { context in
                try context.enumerate(request) { runner in
                    found.append("\(runner.objectID) \(runner.name) \(runner.minutes ?? -1)")
                    guard [1, 4, 9].contains(found.count) else { return }
                    try race.with { other in
                        try Race.edit(other, &random)
                        try other.save()
                    }
                }
            }

            #expect(found == expected, "seed \(seed)")
        }
    }
}
