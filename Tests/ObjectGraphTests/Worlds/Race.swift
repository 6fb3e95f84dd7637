import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation

class Runner: ManagedObject {
    @Attribute(.indexed) var name: String = ""
    @Attribute(.indexed) var rank: Int?
    @Attribute(.unique) var license: String?
    @Attribute var minutes: Int?
    @Relationship var club: RaceClub?
    var shout: String { name.uppercased() }
}

final class Sprinter: Runner {
    @Attribute var distance: Int = 100
}

final class RaceClub: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Runner.club) var runners: Set<Runner>
}

/// A store with runners, many of whom are equal in what they are sorted by.
final class Race {
    static let classes: [ManagedObject.Type] = [Runner.self, Sprinter.self, RaceClub.self]
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("race.daybook"), model: Self.classes)
    }

    func with<Result>(
        _ context: ManagedObjectContext? = nil,
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = context ?? container.newBackgroundContext()
        return try context.performAndWait { () throws in try body(context) }
    }

    /// Saves so many runners, named by their numbers.
    func fill(_ count: Int) throws {
        try with { context in
            for number in 0..<count {
                let runner = Runner(context: context)
                runner.name = String(number)
                runner.rank = number
            }
            try context.save()
        }
    }

    /// Inserts and deletes runners, and changes some when `changes` is not false.
    static func edit(
        _ context: ManagedObjectContext, changes: Bool = true, _ random: inout SeededGenerator
    ) throws {
        let runners = try context.fetch(FetchRequest<Runner>())
        var clubs = try context.fetch(FetchRequest<RaceClub>())
        while clubs.count < 3 {
            let club = RaceClub(context: context)
            club.name = ["North", "South", ""][clubs.count]
            clubs.append(club)
        }
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            if Int.random(in: 0..<6, using: &random) == 0 {
                if let runner = runners.randomElement(using: &random), !runner.isDeleted {
                    context.delete(runner)
                }
                continue
            }
            var runner: Runner
            if changes, Bool.random(using: &random),
                let one = runners.randomElement(using: &random), !one.isDeleted
            {
                runner = one
            } else if Int.random(in: 0..<3, using: &random) == 0 {
                runner = Sprinter(context: context)
            } else {
                runner = Runner(context: context)
            }
            let names = ["Ann", "Bea", "Cid", "", String(repeating: "long", count: 200)]
            runner.name = names.randomElement(using: &random) ?? ""
            runner.rank =
                Int.random(in: 0..<4, using: &random) == 0
                ? nil : Int.random(in: -2...3, using: &random)
            runner.minutes =
                Bool.random(using: &random) ? nil : Int.random(in: 0...2, using: &random)
            runner.club = Bool.random(using: &random) ? nil : clubs.randomElement(using: &random)
            if Bool.random(using: &random) { runner.license = "\(random.next())" }
        }
    }

    /// Requests with all kinds of orders and conditions.
    static func requests(_ random: inout SeededGenerator) -> [FetchRequest<Runner>] {
        let orders: [[FetchOrder<Runner>]] = [
            [], [.ascending(\.rank)], [.descending(\.rank)], [.ascending(\.name)],
            [.descending(\.name), .ascending(\.minutes)], [.ascending(\.minutes)],
            [.descending(\.minutes), .descending(\.rank)], [.ascending(\.license)],
            [.descending(\.license)], [.ascending(\.club?.name), .descending(\.name)],
            [.ascending(\.rank), .descending(\.minutes)],
        ]
        let conditions: [Condition<Runner>?] = [
            nil, nil, \.rank > 0, \.rank == 1, \.minutes == nil, \.name == "Ann",
            \.club?.name == "North", \.minutes > 0,
        ]
        return orders.map { order in
            var request = FetchRequest<Runner>(
                where: conditions.randomElement(using: &random) ?? nil)
            request.order = order
            request.includesSubentities = Bool.random(using: &random)
            return request
        }
    }
}
