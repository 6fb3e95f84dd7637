import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A team that derives from its workers.
final class Team: ManagedObject {
    @Attribute var name: String = ""
    @Attribute([.derived("canonical:(name)"), .indexed]) private(set) var sortName: String?
    @Attribute([.derived("workers.@count"), .indexed]) private(set) var headcount: Int = 0
    @Attribute(.derived("workers.salary.@sum")) private(set) var payroll: Int = 0
    @Attribute(.derived("workers.salary.@min")) private(set) var lowest: Int?
    @Attribute(.derived("workers.salary.@max")) private(set) var highest: Int?
    @Attribute(.derived("workers.bonus.@sum")) private(set) var bonuses: Decimal = 0
    @Attribute(.derived("workers.weight.@sum")) private(set) var weights: Double = 0
    @Relationship(.cascade, inverse: \Worker.team) var workers: Set<Worker>
}

final class Worker: ManagedObject {
    @Attribute var salary: Int?
    @Attribute var bonus: Decimal?
    @Attribute var weight: Double = 0.1
    @Attribute(.derived("reports.@count")) private(set) var reportCount: Int = 0
    @Attribute(.derived("chores.@count")) private(set) var choreCount: Int = 0
    @Attribute(.derived("chores.effort.@sum")) private(set) var effort: Int = 0
    @Relationship var team: Team?
    @Relationship var boss: Worker?
    @Relationship(inverse: \Worker.boss) var reports: Set<Worker>
    @Relationship(inverse: \Chore.workers) var chores: [Chore]
}

final class Chore: ManagedObject {
    @Attribute var effort: Int = 1
    @Attribute(.derived("workers.@count")) private(set) var workerCount: Int = 0
    @Attribute(.derived("workers.salary.@max")) private(set) var dearest: Int?
    @Relationship var workers: Set<Worker>
}

extension Team {
    /// Whether everything derived is what the present workers come to.
    var isRight: Bool {
        let salaries = workers.compactMap(\.salary)
        return sortName == name.lowercased() && headcount == workers.count
            && payroll == salaries.reduce(0, +) && lowest == salaries.min()
            && highest == salaries.max()
            && bonuses == workers.reduce(0) { $0 + ($1.bonus ?? 0) }
            && weights == workers.map(\.weight).exactSum
    }
}

extension Worker {
    var isRight: Bool {
        reportCount == reports.count && choreCount == chores.count
            && effort == chores.reduce(0) { $0 + $1.effort }
    }
}

extension Chore {
    var isRight: Bool {
        workerCount == workers.count && dearest == workers.compactMap(\.salary).max()
    }
}

/// A store with teams.
final class Payroll {
    static let classes: [ManagedObject.Type] = [Team.self, Worker.self, Chore.self]
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("payroll.daybook"), model: Self.classes)
    }

    func with<Result>(
        _ context: ManagedObjectContext? = nil,
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = context ?? container.newBackgroundContext()
        return try context.performAndWait { () throws in try body(context) }
    }

    /// The names of the objects whose derived values are wrong in a context.
    static func wrong(in context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Team>()).filter { !$0.isRight }.map(\.objectID.description)
            + context.fetch(FetchRequest<Worker>()).filter { !$0.isRight }
            .map(\.objectID.description)
            + context.fetch(FetchRequest<Chore>()).filter { !$0.isRight }
            .map(\.objectID.description)
    }
}
