import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Requests over pending changes, in a context and in its child, against what Swift says of every object.
@Suite struct PendingFetchTests {
    @Test(arguments: [401, 402, 403, 404, 405, 406] as [UInt64])
    func `requests find what all objects say as they are in the context`(seed: UInt64) throws {
        let store = try StaffStore()
        var office = RandomOffice(seed: seed)
        try store.inContext { (context) throws in
            try office.fill(context)
            try office.expectAgreement(in: context, "seed \(seed), saved")
            for round in 0..<10 {
                try office.change(context, times: office.random.chance(3) ? 30 : 3)
                try office.expectAgreement(in: context, "seed \(seed), round \(round)")
                let child = ManagedObjectContext(parent: context)
                var inner = office
                try child.performAndWait { () throws in
                    try inner.change(child, times: round % 3)
                    try inner.expectAgreement(in: child, "seed \(seed), round \(round), child")
                    if round % 4 == 1 { try child.save() }
                }
                office.random = inner.random
                if round % 4 == 1 { office = inner }
                if round % 4 == 3 { try context.save() }
            }
        }
    }

    @Test func `a deleted object leaves room within a limit, whatever the limit`() throws {
        try StaffStore().inContext { (context) throws in
            let staff = (0..<20).map { number in
                let employee = Employee(context: context)
                employee.lastName = "L\(number % 4)"
                employee.salary = Decimal(number)
                return employee
            }
            try context.save()
            for index in [0, 4, 8, 1] { context.delete(staff[index]) }
            staff[12].lastName = "L9"
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\.lastName), .descending(\.salary)]
            let rest = staff.indices.filter { ![0, 4, 8, 1].contains($0) }.map { staff[$0] }
            let sorted = rest.sorted { left, right in
                (left.lastName, right.salary ?? 0) < (right.lastName, left.salary ?? 0)
            }

            for limit in 1...17 {
                for offset in 0...17 {
                    request.limit = limit
                    request.offset = offset
                    let expected = Array(sorted.dropFirst(offset).prefix(limit))
                    #expect(try context.fetch(request) == expected, "\(limit), \(offset)")
                    #expect(try context.count(request) == expected.count, "\(limit), \(offset)")
                }
            }
        }
    }
}

/// People whose attributes and relationships change at random.
private struct RandomOffice {
    var random: SeededGenerator
    private var people: [ManagedObjectID] = []
    private var departments: [ManagedObjectID] = []
    private var projects: [ManagedObjectID] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Makes everything and saves it.
    mutating func fill(_ context: ManagedObjectContext) throws {
        for number in 0..<4 {
            let department = Department(context: context)
            department.name = "D\(number)"
            departments.append(department.objectID)
            let project = Project(context: context)
            project.title = "P\(number)"
            projects.append(project.objectID)
        }
        for _ in 0..<40 { hire(in: context) }
        try context.save()
    }

    private mutating func number() -> Int { Int.random(in: 0..<6, using: &random) }

    private func person(_ id: ManagedObjectID, _ context: ManagedObjectContext) throws -> Employee {
        try #require(context.object(with: id) as? Employee)
    }

    private mutating func hire(in context: ManagedObjectContext) {
        let employee = Employee(context: context)
        employee.firstName = "F\(number())"
        employee.lastName = "L\(number())"
        employee.salary = random.chance(4) ? nil : Decimal(number())
        employee.department =
            random.chance(4) ? nil : context.object(with: random.pick(departments)) as? Department
        people.append(employee.objectID)
    }

    mutating func change(_ context: ManagedObjectContext, times: Int) throws {
        for _ in 0..<times {
            let employee = try person(random.pick(people), context)
            switch Int.random(in: 0..<11, using: &random) {
            case 0, 1: employee.lastName = "L\(number())"
            case 2: employee.salary = random.chance(3) ? nil : Decimal(number())
            case 3:
                let department = context.object(with: random.pick(departments)) as? Department
                employee.department = random.chance(4) ? nil : department
            case 4: employee.mentor = try person(random.pick(people), context)
            case 5:
                let project = try #require(context.object(with: random.pick(projects)) as? Project)
                if employee.projects.contains(project) {
                    employee.projects.remove(project)
                } else {
                    employee.projects.insert(project)
                }
            case 6 where random.chance(3):
                let all = departments.compactMap { context.object(with: $0) as? Department }
                let name = "D\(number())"
                // Names are unique.
                if !all.contains(where: { $0.name == name }) { random.pick(all).name = name }
            case 7 where random.chance(3):
                let project = context.object(with: random.pick(projects)) as? Project
                project?.title = "P\(number())"
            case 8, 9: hire(in: context)
            default:
                // Nobody leads back to a mentor, who would stay one after the delete.
                let isMentor = try people.contains {
                    try person($0, context).mentor == employee
                }
                guard !isMentor, people.count > 10 else { continue }
                people.removeAll { $0 == employee.objectID }
                context.delete(employee)
            }
        }
    }

    // MARK: - Questions

    private typealias Question = (text: String, holds: (Employee) -> Bool)

    private mutating func question() -> Question {
        let (one, two) = (number(), number())
        let questions: [Question] = [
            ("lastName == 'L\(one)'", { $0.lastName == "L\(one)" }),
            ("lastName >= 'L\(one)'", { $0.lastName >= "L\(one)" }),
            (
                "lastName IN {'L\(one)', 'L\(two)'} AND firstName != 'F\(two)'",
                { ["L\(one)", "L\(two)"].contains($0.lastName) && $0.firstName != "F\(two)" }
            ),
            ("salary > \(one)", { $0.salary.map { $0 > Decimal(one) } ?? false }),
            ("salary == nil", { $0.salary == nil }),
            ("department.name == 'D\(one)'", { $0.department?.name == "D\(one)" }),
            ("department == nil", { $0.department == nil }),
            ("NOT department.name == 'D\(one)'", { $0.department?.name != "D\(one)" }),
            ("mentor.lastName == 'L\(one)'", { $0.mentor?.lastName == "L\(one)" }),
            (
                "ANY projects.title == 'P\(one)'",
                { $0.projects.contains { $0.title == "P\(one)" } }
            ),
            ("TRUEPREDICATE", { _ in true }),
        ]
        return random.pick(questions)
    }

    private mutating func order() -> [SortDescriptor] {
        let all: [SortDescriptor] = [
            .init("lastName"), .init("lastName", isAscending: false), .init("salary"),
            .init("salary", isAscending: false), .init("department.name"), .init("firstName"),
        ]
        return (0..<Int.random(in: 0...2, using: &random)).map { _ in random.pick(all) }
    }

    private struct SortDescriptor {
        let path: String
        let isAscending: Bool

        init(_ path: String, isAscending: Bool = true) {
            self.path = path
            self.isAscending = isAscending
        }

        /// Whether one comes before the other; nil where they are equal. Nothing comes before all else.
        func precedes(_ left: Employee, _ right: Employee) -> Bool? {
            func compare<Key: Comparable>(_ key: (Employee) -> Key?) -> Bool? {
                switch (key(left), key(right)) {
                case (nil, nil): return nil
                case (nil, _): return isAscending
                case (_, nil): return !isAscending
                case (let first?, let second?):
                    return first == second ? nil : (first < second) == isAscending
                }
            }
            return switch path {
            case "lastName": compare(\.lastName)
            case "firstName": compare(\.firstName)
            case "salary": compare(\.salary)
            default: compare { $0.department?.name }
            }
        }
    }

    mutating func expectAgreement(in context: ManagedObjectContext, _ about: Comment) throws {
        for _ in 0..<12 {
            let (question, order) = (question(), order())
            let all = try people.map { try person($0, context) }
            let expected = all.filter(question.holds).sorted { left, right in
                for descriptor in order {
                    if let precedes = descriptor.precedes(left, right) { return precedes }
                }
                return left.objectID.object.number < right.objectID.object.number
            }
            var request = FetchRequest<Employee>(where: Condition(question.text))
            request.order = order.map {
                $0.isAscending ? .ascending($0.path) : .descending($0.path)
            }
            request.offset = random.chance(2) ? 0 : number()
            request.limit = random.chance(2) ? nil : 1 + number()
            request.returnsObjectsAsFaults = random.chance(2)
            let window = expected.dropFirst(request.offset).prefix(request.limit ?? .max)

            let text = "\(about): \(question.text), \(order.map(\.path)), \(request.offset)"
            let found = try context.fetch(request)
            #expect(found.map(\.objectID) == window.map(\.objectID), "\(text)")
            #expect(try context.count(request) == window.count, "\(text)")
        }
    }
}
