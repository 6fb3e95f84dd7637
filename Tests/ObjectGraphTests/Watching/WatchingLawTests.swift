import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Lists against fresh fetches, after every step of random histories of several contexts.
@Suite struct WatchingLawTests {
    /// `DAYBOOK_WATCHING_SEEDS=100` tries more of them.
    private static let seeds: ClosedRange<UInt64> =
        1...(ProcessInfo.processInfo.environment["DAYBOOK_WATCHING_SEEDS"].flatMap { UInt64($0) }
        ?? 4)

    @Test(arguments: seeds)
    func `a list is what a fetch finds, and its differences lead there`(seed: UInt64) throws {
        let history = try WatchedHistory(seed: seed)
        for step in 0..<40 {
            let done = try history.step()
            try history.check("seed \(seed), step \(step): \(done)")
        }
    }
}

/// A random history with a context, another one that follows it, and a child and a grandchild that follow the first.
private final class WatchedHistory {
    private let store: ClassStore
    private var random: SeededGenerator
    private let contexts: [ManagedObjectContext]
    private var people: [ManagedObjectID] = []
    private var teams: [ManagedObjectID] = []
    private var leagues: [ManagedObjectID] = []
    private var lists: [WatchedCopy] = []
    private var sums: [WatchedSum] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        store = try ClassStore(watchedClasses)
        let (first, second) = (
            store.container.newBackgroundContext(), store.container.newBackgroundContext()
        )
        let child = ManagedObjectContext(parent: first)
        contexts = [first, second, child, ManagedObjectContext(parent: child)]
        try first.performAndWait { () throws in
            for number in 0..<3 {
                let league = WatchedLeague(context: first)
                league.title = "L\(number)"
                leagues.append(league.objectID)
            }
            for number in 0..<4 {
                let team = WatchedTeam(context: first)
                team.city = number == 0 ? nil : "C\(number)"
                teams.append(team.objectID)
            }
            for _ in 0..<15 { hire(first) }
            try first.save()
        }
        for (index, context) in contexts.enumerated() {
            context.performAndWait {
                context.name = "context \(index)"
                context.mergePolicy = .mergeByPropertyObjectTrump
                context.mergeConflictHandler = { _ in }
                context.undoFailureHandler = { _ in }
                context.automaticallyMergesChangesFromParent = true
            }
            for _ in 0..<5 {
                let question = question()
                try context.performAndWait { () throws in
                    lists.append(try WatchedCopy(question, context))
                    sums.append(try WatchedSum(question.request, context))
                }
            }
        }
    }

    private func number() -> Int { Int.random(in: 0..<4, using: &random) }

    /// Numbers that lose each other where a sum is rounded with each.
    private func weight() -> Double { [1e16, 1, -1e16, 0.1][number()] }

    private func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private func pick<Object: ManagedObject>(
        _ ids: [ManagedObjectID], _ type: Object.Type, _ context: ManagedObjectContext
    ) -> Object? {
        guard let id = ids.randomElement(using: &random),
            let object = try? context.existingObject(with: id) as? Object, !object.isDeleted
        else { return nil }
        return object
    }

    // MARK: - Questions

    private func question() -> WatchedQuestion {
        let conditions = [
            "TRUEPREDICATE", "points > 1", "name == nil", "pay == nil OR pay > 1",
            "team.city == 'C1'", "team == nil", "NOT team.city == 'C2'",
            "team.league.title != 'L0'", "mentor.points > 1", "ANY pupils.points > 1",
            "pupils.@count > 0", "pupils.@sum.points > 2", "guest.city == 'C1'",
            "mentor.team.city == 'C2'", "ANY pupils.team.city == 'C1'", "NONE pupils.points > 1",
            "ANY team.members.name == 'N1'",
        ]
        var request = FetchRequest<WatchedPerson>(
            where: Condition(conditions.randomElement(using: &random) ?? ""))
        let orders: [FetchOrder<WatchedPerson>] = [
            .ascending("points"), .descending("points"), .ascending("name"),
            .descending("pay"), .ascending("team.city"), .descending("team.league.title"),
            .ascending("mentor.points"), .ascending("guest.city"),
        ]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            request.order.append(orders.randomElement(using: &random) ?? orders[0])
        }
        if chance(3) { request.limit = Int.random(in: 1...6, using: &random) }
        if chance(3) { request.offset = Int.random(in: 0...4, using: &random) }
        if chance(5) { request.includesPendingChanges = false }
        if chance(5) { request.includesSubentities = false }
        guard chance(2) else { return WatchedQuestion(request: request) }
        let sections = ["points", "name", "team.city", "team.league.title", "pay"]
        let section = sections.randomElement(using: &random) ?? ""
        if chance(2) {
            request.order.insert(
                chance(2) ? .descending(section) : .ascending(section), at: 0)
        } else {
            // The list is sorted by its sections first, and so is the fetch that it is compared with.
            request.order.insert(.ascending(section), at: 0)
        }
        return WatchedQuestion(request: request, section: section)
    }

    // MARK: - Steps

    private func hire(_ context: ManagedObjectContext) {
        let person = chance(4) ? WatchedManager(context: context) : WatchedPerson(context: context)
        person.name = chance(4) ? nil : "N\(number())"
        person.points = number()
        person.pay = chance(4) ? nil : Decimal(number())
        person.weight = chance(4) ? nil : weight()
        person.team = pick(teams, WatchedTeam.self, context)
        person.mentor = chance(2) ? nil : pick(people, WatchedPerson.self, context)
        people.append(person.objectID)
    }

    private func edit(_ context: ManagedObjectContext) {
        guard let person = pick(people, WatchedPerson.self, context) else { return hire(context) }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: person.points = number()
        case 1: person.name = chance(3) ? nil : "N\(number())"
        case 2:
            person.pay = chance(3) ? nil : Decimal(number())
            person.weight = chance(4) ? nil : weight()
        case 3: person.team = chance(3) ? nil : pick(teams, WatchedTeam.self, context)
        case 4: person.mentor = chance(3) ? nil : pick(people, WatchedPerson.self, context)
        case 5: person.guest = chance(3) ? nil : pick(teams, WatchedTeam.self, context)
        case 6, 7: pick(teams, WatchedTeam.self, context)?.city = chance(4) ? nil : "C\(number())"
        case 8:
            pick(teams, WatchedTeam.self, context)?.league =
                chance(3) ? nil : pick(leagues, WatchedLeague.self, context)
        case 9: pick(leagues, WatchedLeague.self, context)?.title = "L\(number())"
        case 10: context.delete(person)
        case 11 where chance(4):
            if let team = pick(teams, WatchedTeam.self, context) { context.delete(team) }
        case 11:
            let team = WatchedTeam(context: context)
            team.city = "C\(number())"
            teams.append(team.objectID)
        default: hire(context)
        }
    }

    /// Does something in one of the contexts.
    ///
    /// - Returns: What.
    func step() throws -> String {
        let index = Int.random(in: contexts.indices, using: &random)
        let context = contexts[index]
        let kind = Int.random(in: 0..<16, using: &random)
        return try context.performAndWait { () throws in
            switch kind {
            case 0...7:
                for _ in 0..<Int.random(in: 1...3, using: &random) { edit(context) }
                context.processPendingChanges()
                return "edits in \(index)"
            case 8...10:
                do {
                    try context.save(author: "author \(index)")
                    return "save of \(index)"
                } catch let error as StoreError {
                    return "refused save of \(index): \(error.code)"
                }
            case 11, 12:
                context.undo()
                return "undo in \(index)"
            case 13:
                context.redo()
                return "redo in \(index)"
            case 14:
                context.rollback()
                return "rollback in \(index)"
            default:
                if chance(3) {
                    context.reset()
                    return "reset of \(index)"
                }
                if let person = pick(people, WatchedPerson.self, context) {
                    context.refresh(person, mergeChanges: chance(2))
                }
                return "refresh in \(index)"
            }
        }
    }

    /// Compares every list with a fetch, once all contexts have taken in what others have done.
    func check(_ place: String) throws {
        // What a context does when it takes in something may be news for its child.
        for _ in contexts { for context in contexts { context.performAndWait {} } }
        for list in lists { try list.check(place) }
        for sum in sums { try sum.check(place) }
    }
}
