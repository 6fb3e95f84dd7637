import Daybook
import Foundation

/// A person on the staff.
final class Worker: ManagedObject {
    @Attribute var name: String = ""
    @Attribute(.indexed) var badge: String = ""
    @Attribute(.indexed) var number: Int = 0
    @Attribute var age: Int = 0
    @Attribute var salary: Double = 0
    @Attribute var remark: String = ""
    @Relationship(inverse: \Crew.workers) var team: Crew?

    override class var indexes: [IndexDescription] { [["team", "number"]] }
}

/// A team.
final class Crew: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var city: String = ""
    @Relationship var workers: Set<Worker>
}

/// Daybook as a program asks it: managed objects that a request fetches with their values.
final class DaybookStaff: Questioned {
    static let name = DaybookContender.name

    private let staff: Staff
    private var container: PersistentContainer?
    private var teams: [ManagedObjectID] = []

    init(in folder: URL, _ staff: Staff) throws {
        self.staff = staff
        let container = try PersistentContainer(
            folder.appendingPathComponent("staff.daybook"), model: [Worker.self, Crew.self])
        self.container = container
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let teams = (0..<staff.teamCount).map { index in
                let team = Crew(context: context)
                team.name = "Team \(index)"
                team.city = staff.city(ofTeam: index)
                return team
            }
            for index in 0..<staff.count {
                let worker = Worker(context: context)
                worker.name = staff.name(index)
                worker.badge = staff.badge(index)
                worker.number = index
                worker.age = staff.age(index)
                worker.salary = staff.salary(index)
                worker.remark = staff.remark(index)
                worker.team = teams[staff.team(index)]
            }
            try context.save()
            self.teams = teams.map(\.objectID)
        }
    }

    func answer(_ question: Question, turn: Int) throws -> Int {
        guard let context = container?.newBackgroundContext() else { return 0 }
        return try context.performAndWait { try answer(question, turn, in: context) }
    }

    /// Answers a question as of an entry.
    func answer(_ question: Question, turn: Int, at moment: SequenceNumber) throws -> Int {
        guard let context = try container?.context(at: .sequence(moment)) else { return 0 }
        return try context.performAndWait { try answer(question, turn, in: context) }
    }

    /// Answers a question in a context with so many changed people, and in a child of it.
    ///
    /// - Returns: The seconds that the answer takes in each.
    func answerOverPending(
        _ question: Question, turn: Int, changes: Int
    ) throws -> (context: Double, child: Double) {
        guard let context = container?.newBackgroundContext() else { return (0, 0) }
        return try context.performAndWait {
            var request = FetchRequest<Worker>()
            request.offset = turn
            request.limit = changes
            for worker in changes > 0 ? try context.fetch(request) : [] { worker.salary += 1 }
            let own = try Stopwatch.seconds { _ = try answer(question, turn, in: context) }
            let child = ManagedObjectContext(parent: context)
            let childs = try child.performAndWait {
                try Stopwatch.seconds { _ = try answer(question, turn, in: child) }
            }
            return (own, childs)
        }
    }

    /// The last entry.
    func head() throws -> SequenceNumber {
        try container?.persistentStoreCoordinator.persistentStores[0].head() ?? .zero
    }

    /// Saves one change.
    func changeRemark(_ index: Int) throws {
        guard let context = container?.newBackgroundContext() else { return }
        try context.performAndWait {
            var request = FetchRequest<Worker>(where: \.number == index)
            request.limit = 1
            try context.fetch(request).first?.remark += "."
            try context.save()
        }
    }

    /// Gives every tenth person a badge that nobody had, in entries of a hundred each.
    func changeBadges() throws {
        guard let context = container?.newBackgroundContext() else { return }
        try context.performAndWait {
            for first in stride(from: 0, to: staff.count, by: 1_000) {
                let range = \Worker.number >= first && \Worker.number < first + 1_000
                for worker in try context.fetch(FetchRequest<Worker>(where: range))
                where worker.number % 10 == 0 {
                    worker.badge = "C\(worker.number)"
                }
                try context.save()
            }
        }
    }

    private func answer(
        _ question: Question, _ turn: Int, in context: ManagedObjectContext
    ) throws -> Int {
        var request = FetchRequest<Worker>()
        request.returnsObjectsAsFaults = false
        switch question {
        case .indexedEquality:
            request.condition = \Worker.badge == staff.badge(turn * 17)
        case .indexedRange:
            let first = (turn * 1_013) % (staff.count / 2)
            request.condition = \Worker.number >= first && \Worker.number < first + 1_000
        case .scan:
            let least = Double(staff.count) / 8
            request.condition = \Worker.age == turn % 50 && \Worker.salary >= least
        case .scanText: request.condition = Condition("remark CONTAINS 'amber'")
        case .firstInIndexOrder:
            request.order = [.ascending(\Worker.number)]
            request.limit = 50
        case .compoundOrder:
            let team = try context.existingObject(with: teams[turn % teams.count])
            request.condition = Condition(
                "team == %@ AND number >= %@", team, staff.count / 4)
            request.order = [.descending(\Worker.number)]
            request.limit = 50
        case .topWithoutIndex:
            request.order = [.descending(\Worker.salary)]
            request.limit = 50
        case .throughToOne:
            let city = staff.city(ofTeam: turn)
            request.condition = Condition("team.city == %@", city)
        case .offset:
            request.offset = staff.count / 2
            request.limit = 50
        case .sum:
            return try context.fetch(.sum(\Worker.age))
        case .groupedSum:
            let groups = FetchRequest<Worker>().select(\.age, .sum(\.number))
            return try context.fetch(groups).reduce(0) { $0 + $1.0 * $1.1 }
        case .count:
            return try context.count(FetchRequest<Worker>(where: \Worker.age < 30))
        case .members:
            var teams = FetchRequest<Crew>()
            teams.offset = turn % max(1, staff.teamCount - 50)
            teams.limit = 50
            teams.relationshipKeyPathsForPrefetching = ["workers"]
            return try context.fetch(teams).reduce(0) { sum, team in
                team.workers.reduce(sum) { $0 + $1.age }
            }
        }
        return try context.fetch(request).reduce(0) { $0 + $1.age + $1.name.utf8.count }
    }

    func close() throws {
        container = nil
    }
}
