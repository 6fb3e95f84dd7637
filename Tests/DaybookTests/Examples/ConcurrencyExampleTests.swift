import Daybook
import DaybookTestSupport
import Foundation
import Testing

final class Land: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var inhabitants: Int = 0
}

// example
actor Registry: ContextActor {
    nonisolated let context: ManagedObjectContext

    init(_ container: PersistentContainer) {
        context = container.newBackgroundContext()
    }

    func add(_ names: [String]) throws -> [ObjectSnapshot<Land>] {
        let lands = names.map { name in
            let land = Land(context: context)
            land.name = name
            return land
        }
        try context.save(author: "registry")
        return try lands.map { try $0.snapshot() }
    }

    func total() async throws -> Int {
        var total = 0
        for try await land in context.stream(FetchRequest<Land>()) { total += land.inhabitants }
        return total
    }
}
// end of example

/// The examples of the page on concurrency with actors and snapshots.
@Suite struct ConcurrencyExampleTests {
    @Test func `actors and snapshots go as the page says`() async throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("l.daybook"), model: [Land.self])

        // example
        let registry = Registry(container)
        let added = try await registry.add(["France", "Peru"])
        print(added[0].name, added[0].inhabitants, added[0].sequence as Any)
        let response = try JSONEncoder().encode(added)
        // end of example

        #expect(added.map(\.name) == ["France", "Peru"])
        #expect(String(decoding: response, as: UTF8.self).contains("\"name\":\"Peru\""))
        #expect(try await registry.total() == 0)
    }
}
