import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Filters that are carried out on rows against filters that are evaluated value by value.
struct CompiledFilterTests {
    /// How many filters are tried for each seed.
    private static let count =
        Int(ProcessInfo.processInfo.environment["DAYBOOK_FILTERS"] ?? "") ?? 150

    @Test(arguments: seeds(from: 61, count: 4))
    func `a compiled filter finds what the filter finds, now and then`(seed: UInt64) throws {
        let staff = try RandomStaff(seed: seed)
        var filters = RandomFilters(company: try Company(), random: SeededGenerator(seed: seed))
        let head = try staff.store.head()

        for number in 0..<Self.count {
            let filter = filters.filter(depth: 3)
            for sequence in [head, SequenceNumber(3)] {
                try staff.store.read(at: sequence) { snapshot in
                    var expected: [ObjectID] = []
                    try snapshot.objects(of: staff.employee.family) { object in
                        if try filter.matches(object, in: snapshot) { expected.append(object) }
                        return .proceed
                    }
                    let query = Query(staff.employee, filter: filter)
                    let text = filter.text(in: staff.store.schema)
                    #expect(
                        try Set(snapshot.fetch(query)) == Set(expected),
                        "seed \(seed), filter \(number), entry \(sequence): \(text)")
                    #expect(
                        try snapshot.count(query) == expected.count,
                        "seed \(seed), filter \(number), entry \(sequence): \(text)")
                }
            }
        }
    }

    @Test(arguments: seeds(from: 71, count: 4))
    func `order, offset and limit give what sorting all matches gives`(seed: UInt64) throws {
        let staff = try RandomStaff(seed: seed)
        var random = SeededGenerator(seed: seed)
        var filters = RandomFilters(company: try Company(), random: SeededGenerator(seed: seed))
        let properties = staff.employee.properties.filter { $0.attribute != nil }

        for number in 0..<100 {
            let sortings = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Sorting(
                    FilterPath([random.pick(properties)]), isAscending: random.chance(2),
                    options: TextOptions(rawValue: UInt8.random(in: 0...3, using: &random)))
            }
            let query = Query(
                staff.employee, includesSubentities: random.chance(2),
                filter: random.chance(2) ? .constant(true) : filters.filter(depth: 1),
                sortings: sortings,
                limit: random.chance(3) ? nil : Int.random(in: 0...40, using: &random),
                offset: random.chance(2) ? 0 : Int.random(in: 0...20, using: &random))
            try staff.store.read { snapshot in
                var matches: [ObjectID] = []
                try snapshot.objects(of: query.entities) { object in
                    if try query.filter.matches(object, in: snapshot) { matches.append(object) }
                    return .proceed
                }
                let expected = try query.arranged(matches, in: snapshot)
                #expect(try snapshot.fetch(query) == expected, "seed \(seed), query \(number)")
                var rows: [ObjectID] = []
                try snapshot.forEachRows(of: query) {
                    $0.forEach { object, _ in rows.append(object) }
                }
                #expect(rows == expected, "seed \(seed), query \(number)")
                #expect(
                    try snapshot.count(query) == expected.count, "seed \(seed), query \(number)")
            }
        }
    }

    @Test func `a limit counts the objects of an entity and its subentities together`() throws {
        let temporary = try TemporaryStore(Company.model)
        let store = temporary.store
        let employee = try Company.entity("Employee", of: store.schema)
        // Those of the entity itself are the newest, and are walked first.
        let objects = try (0..<13).map { try store.newObject($0 < 10 ? "Manager" : "Employee") }
        try store.commit(SaveRequest(changes: objects.map { store.insert($0, ["age": .int(1)]) }))

        try store.read { snapshot in
            for filter in ["TRUEPREDICATE", "age == 1", "firstName == nil"] {
                let filter = try Filter(parsing: filter, for: employee, in: store.schema)
                for offset in 0...14 {
                    for limit in 0...14 {
                        let query = Query(employee, filter: filter, limit: limit, offset: offset)
                        let expected = Array(objects.dropFirst(offset).prefix(limit))
                        #expect(try snapshot.fetch(query) == expected, "\(offset), \(limit)")
                        #expect(try snapshot.count(query) == expected.count)
                    }
                }
            }
        }
    }

    @Test
    func `objects found by what they are connected with are those that the filter finds`() throws {
        let staff = try RandomStaff(seed: 91, entries: 9, size: 150)
        let texts = [
            "department.name == '7'", "'7' == department.name", "department.founded > nil",
            "department.founded != nil", "mentor.age > 3",
            "mentor.mentor.firstName BEGINSWITH 'a'", "pupil.firstName CONTAINS[c] 'A'",
            "mentor.department.name IN {'7', '200'}", "ANY department.employees.age > 30000",
            "mentor.age BETWEEN {0, 9000} AND firstName == 'a'", "mentor.lastName == 'a'",
            "department.name == '7' AND age > 3",
        ]
        let departments = [
            "ANY employees.age > 30000", "ANY employees.lastName == 'a'",
            "ANY employees.mentor.age > 30000", "NONE employees.age > 30000",
        ]
        let head = try staff.store.head()
        for (name, texts) in [("Employee", texts), ("Department", departments)] {
            let entity = try Company.entity(name, of: staff.store.schema)
            for text in texts {
                let filter = try Filter(parsing: text, for: entity, in: staff.store.schema)
                for sequence in [head, SequenceNumber(8)] {
                    try staff.store.read(at: sequence) { snapshot in
                        var expected: [ObjectID] = []
                        try snapshot.objects(of: entity.family) { object in
                            if try filter.matches(object, in: snapshot) { expected.append(object) }
                            return .proceed
                        }
                        let found = try snapshot.fetch(Query(entity, filter: filter))
                        #expect(Set(found) == Set(expected), "\(text), entry \(sequence)")
                        #expect(found.count == expected.count, "\(text), entry \(sequence)")
                    }
                }
            }
        }
    }

    @Test(arguments: seeds(from: 81, count: 2))
    func `a constant of another kind or form compares as it does with the value`(seed: UInt64)
        throws
    {
        let staff = try RandomStaff(seed: seed)
        var random = SeededGenerator(seed: seed)
        let types: [AttributeType] = [
            .bool, .int16, .int64, .double, .decimal, .string, .data, .date, .uuid,
        ]
        let operators = FilterOperator.allCases.filter { $0 != .matches }

        try staff.store.read { snapshot in
            for property in staff.employee.properties where property.attribute != nil {
                for type in types {
                    let constant = Value.random(type, using: &random)
                    let path = FilterExpression.path(FilterPath([property]))
                    var filters = operators.flatMap { `operator` -> [Filter] in
                        [[], .caseInsensitive, .diacriticInsensitive].flatMap { options in
                            [
                                .comparison(
                                    FilterComparison(path, `operator`, .constant(constant), options)
                                ),
                                .comparison(
                                    FilterComparison(.constant(constant), `operator`, path, options)
                                ),
                            ]
                        }
                    }
                    let other = Value.random(random.pick(types), using: &random)
                    filters.append(.membership(path, FilterValues([constant, other, .null]), []))
                    filters.append(.between(path, .constant(constant), .constant(other)))
                    for filter in filters {
                        var expected: [ObjectID] = []
                        try snapshot.objects(of: staff.employee.family) { object in
                            if try filter.matches(object, in: snapshot) { expected.append(object) }
                            return .proceed
                        }
                        #expect(
                            try Set(snapshot.fetch(Query(staff.employee, filter: filter)))
                                == Set(expected),
                            "seed \(seed): \(filter.text(in: staff.store.schema))")
                    }
                }
            }
        }
    }
}

/// The company as a store, with random employees whose values change and who come and go.
private struct RandomStaff {
    let temporary: TemporaryStore
    let employee: SchemaEntity
    var store: Store { temporary.store }

    init(seed: UInt64, entries: Int = 6, size: Int = 25) throws {
        temporary = try TemporaryStore(Company.model)
        employee = try Company.entity("Employee", of: temporary.store.schema)
        var random = SeededGenerator(seed: seed)
        var objects: [ObjectID] = []
        var mentors: Set<ObjectID> = []
        for _ in 0..<entries {
            var changes = ChangeSet()
            let departments = try (0..<3).map { _ in try insert("Department", &changes, &random) }
            for _ in 0..<size {
                let entity = random.chance(4) ? "Manager" : "Employee"
                var references: [String: Value] = [:]
                if random.chance(2) { references["department"] = .object(random.pick(departments)) }
                if let last = objects.last, random.chance(3), mentors.insert(last).inserted {
                    references["mentor"] = .object(last)
                }
                objects.append(try insert(entity, &changes, &random, references))
            }
            try change(objects, keeping: mentors, &changes, &random)
            _ = try store.commit(SaveRequest(changes: changes.ordered))
        }
    }

    private func insert(
        _ name: String, _ changes: inout ChangeSet, _ random: inout SeededGenerator,
        _ references: [String: Value] = [:]
    ) throws -> ObjectID {
        let object = try store.newObject(name)
        let entity = try Company.entity(name, of: store.schema)
        var values = references
        for property in entity.properties where !random.chance(4) {
            guard let type = property.attribute?.type else { continue }
            // Of numbers and dates, equal ones are wanted as well.
            values[property.name] =
                property.isUnique
                ? .string("\(object.number)") : Value.random(type, using: &random)
        }
        try changes.append(store.insert(object, values), of: entity)
        return object
    }

    /// Changes some of the objects of earlier entries, and deletes others.
    private func change(
        _ objects: [ObjectID], keeping mentors: Set<ObjectID>, _ changes: inout ChangeSet,
        _ random: inout SeededGenerator
    ) throws {
        let world = try store.world()
        for object in objects where world[object] != nil && random.chance(3) {
            guard let entity = store.schema.entity(object.entity) else { continue }
            if random.chance(5), !mentors.contains(object) {
                try changes.append(store.delete(object), of: entity)
                continue
            }
            let property = random.pick(entity.slots.filter { $0.attribute != nil && !$0.isUnique })
            guard let type = property.attribute?.type, let slot = property.slot,
                let old = world[object]?.values[slot]
            else { continue }
            let new = random.chance(5) ? .null : Value.random(type, using: &random)
            guard old != new else { continue }
            try changes.append(
                store.update(object, property.name, from: old, to: new), of: entity)
        }
    }
}

private func seeds(from first: UInt64, count: UInt64) -> [UInt64] {
    Array(first..<first + count)
}
