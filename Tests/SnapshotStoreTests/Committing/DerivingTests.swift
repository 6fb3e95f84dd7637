import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

extension ManagedObjectModel {
    /// Departments that sum up their employees, who have bosses and skills.
    static let payroll: ManagedObjectModel = {
        func derived(_ name: String, _ type: AttributeType, _ text: String) -> AttributeDescription
        {
            AttributeDescription(
                name: name, type: type, isIndexed: true, derivation: Derivation(text))
        }
        return ManagedObjectModel(entities: [
            EntityDescription(
                name: "Department",
                attributes: [
                    AttributeDescription(name: "name", type: .string),
                    derived("sortName", .string, "canonical:(name)"),
                    derived("headcount", .int16, "employees.@count"),
                    derived("payroll", .int64, "employees.salary.@sum"),
                    derived("lowest", .int64, "employees.salary.@min"),
                    derived("highest", .int64, "employees.salary.@max"),
                    derived("bonuses", .decimal, "employees.bonus.@sum"),
                    derived("weights", .double, "employees.weight.@sum"),
                    derived("firstBorn", .date, "employees.born.@min"),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "employees", destinationName: "Employee",
                        inverseName: "department", isToMany: true)
                ]),
            EntityDescription(
                name: "Employee",
                attributes: [
                    AttributeDescription(name: "salary", type: .int64),
                    AttributeDescription(name: "bonus", type: .decimal),
                    AttributeDescription(name: "weight", type: .double),
                    AttributeDescription(name: "born", type: .date),
                    derived("reportCount", .int64, "reports.@count"),
                    derived("skillCount", .int64, "skills.@count"),
                    derived("bestSkill", .int64, "skills.level.@max"),
                    derived("friendCount", .int64, "friends.@count"),
                    derived("friendPay", .int64, "friends.salary.@sum"),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "department", destinationName: "Department",
                        inverseName: "employees"),
                    RelationshipDescription(
                        name: "boss", destinationName: "Employee", inverseName: "reports"),
                    RelationshipDescription(
                        name: "reports", destinationName: "Employee", inverseName: "boss",
                        isToMany: true),
                    RelationshipDescription(
                        name: "friends", destinationName: "Employee", inverseName: "friends",
                        isToMany: true),
                    RelationshipDescription(
                        name: "skills", destinationName: "Skill", inverseName: "people",
                        isToMany: true, isOrdered: true),
                ]),
            EntityDescription(name: "Manager", superentityName: "Employee"),
            EntityDescription(
                name: "Skill",
                attributes: [
                    AttributeDescription(name: "level", type: .int64),
                    derived("holderCount", .int64, "people.@count"),
                    derived("holderPay", .int64, "people.salary.@sum"),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "people", destinationName: "Employee", inverseName: "skills",
                        isToMany: true)
                ]),
        ])
    }()
}

extension Store {
    /// Some values of an object, by name.
    fileprivate func values(_ object: ObjectID, _ names: String...) throws -> [Value] {
        try names.map { try value($0, of: object) }
    }

    fileprivate func join(_ object: ObjectID, _ name: String, _ members: [ObjectID]) throws {
        let added = members.enumerated().map { Member(object: $1, order: Double($0)) }
        try commit(SaveRequest(changes: [update(object, name, adding: added)]))
    }
}

@Suite struct DerivingTests {
    private func store() throws -> TemporaryStore { try TemporaryStore(.payroll) }

    @Test func `a new object has its derived values in the entry that makes it`() throws {
        let temporary = try store()
        let store = temporary.store

        let department = try store.add("Department", ["name": .string("Café")])

        #expect(
            try store.values(department, "sortName", "headcount", "payroll", "lowest", "bonuses")
                == [.string("cafe"), .int(0), .int(0), .null, .decimal(0)])
        let entry = try store.entry(SequenceNumber(2))
        #expect(entry.changes.count == 1)
        #expect(try store.verify().isSound)
    }

    @Test func `restoring an object names its delete, whatever was derived from it`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("Sales")])
        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(10)])
        let deletion = try #require(
            try store.commit(SaveRequest(changes: [store.delete(ada)])).sequence)

        let plan = try store.restorePlan(of: ada)
        try store.commit(try plan.permitted())

        #expect(try store.entry(deletion).changes.count == 2)
        #expect(plan.request.header.undoes == deletion...deletion)
        #expect(plan.request.header.kind == .undo)
        #expect(try store.values(sales, "headcount", "payroll") == [.int(1), .int(10)])
    }

    @Test func `what is derived follows from members that come, change, move and go`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("Sales")])
        let lab = try store.add("Department", ["name": .string("Lab")])
        func found(_ department: ObjectID) throws -> [Value] {
            try store.values(department, "headcount", "payroll", "lowest", "highest")
        }

        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(10)])
        let bob = try store.add("Manager", ["department": .object(sales), "salary": .int(30)])
        let eve = try store.add("Employee", ["department": .object(sales)])
        #expect(try found(sales) == [.int(3), .int(40), .int(10), .int(30)])

        try store.set(ada, "salary", .int(50))
        #expect(try found(sales) == [.int(3), .int(80), .int(30), .int(50)])

        try store.set(ada, "department", .object(lab))
        #expect(try found(sales) == [.int(2), .int(30), .int(30), .int(30)])
        #expect(try found(lab) == [.int(1), .int(50), .int(50), .int(50)])

        try store.remove(bob)
        #expect(try found(sales) == [.int(1), .int(0), .null, .null])

        try store.set(eve, "salary", .int(-5))
        #expect(try found(sales) == [.int(1), .int(-5), .int(-5), .int(-5)])
        #expect(try store.verify().isSound)
    }

    @Test func `one entry may make, change, move and delete all at once`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department")
        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(1)])
        let bob = try store.add("Employee", ["department": .object(sales), "salary": .int(2)])
        let (lab, eve) = (try store.newObject("Department"), try store.newObject("Employee"))
        let department = store.property("department", of: ada).number
        let salary = store.property("salary", of: ada).number
        let moved = Change(
            object: ada,
            kind: .update(
                edits: [
                    Edit(property: department, old: .object(sales), new: .object(lab)),
                    Edit(property: salary, old: .int(1), new: .int(100)),
                ].sorted { $0.property < $1.property }, members: []))

        try store.commit(
            SaveRequest(changes: [
                store.insert(lab),
                store.insert(eve, ["department": .object(lab), "salary": .int(7)]), moved,
                try store.delete(bob),
            ]))

        #expect(
            try store.values(sales, "headcount", "payroll", "lowest") == [.int(0), .int(0), .null])
        #expect(
            try store.values(lab, "headcount", "payroll", "lowest", "highest")
                == [.int(2), .int(107), .int(7), .int(100)])
    }

    @Test func `lists stored at either end are counted and summed`() throws {
        let temporary = try store()
        let store = temporary.store
        let ada = try store.add("Employee", ["salary": .int(3)])
        let bob = try store.add("Employee", ["salary": .int(4)])
        let (swift, sql) = (
            try store.add("Skill", ["level": .int(8)]), try store.add("Skill", ["level": .int(5)])
        )

        try store.join(ada, "skills", [sql, swift])
        try store.join(bob, "skills", [swift])
        #expect(try store.values(ada, "skillCount", "bestSkill") == [.int(2), .int(8)])
        #expect(try store.values(swift, "holderCount", "holderPay") == [.int(2), .int(7)])

        try store.set(swift, "level", .int(1))
        try store.set(bob, "salary", .int(40))
        #expect(try store.values(ada, "bestSkill") == [.int(5)])
        #expect(try store.values(bob, "bestSkill") == [.int(1)])
        #expect(try store.values(swift, "holderPay") == [.int(43)])

        try store.commit(
            SaveRequest(changes: [
                store.update(
                    ada, "skills", adding: [Member(object: sql, order: 9)],
                    removing: [Member(object: sql, order: 0), Member(object: swift, order: 1)])
            ]))
        #expect(try store.values(ada, "skillCount", "bestSkill") == [.int(1), .int(5)])
        #expect(try store.values(swift, "holderCount", "holderPay") == [.int(1), .int(40)])
        #expect(try store.verify().isSound)
    }

    @Test func `an object may be derived from objects of its own kind and from itself`() throws {
        let temporary = try store()
        let store = temporary.store
        let ada = try store.add("Employee", ["salary": .int(5)])
        let bob = try store.add("Employee", ["boss": .object(ada), "salary": .int(6)])

        try store.set(ada, "boss", .object(ada))
        let friends =
            [store.update(ada, "friends", adding: [Member(object: bob)])]
            + [store.update(bob, "friends", adding: [Member(object: ada)])]
        try store.commit(SaveRequest(changes: friends))

        #expect(try store.values(ada, "reportCount", "friendPay") == [.int(2), .int(6)])
        #expect(try store.values(bob, "friendCount", "friendPay") == [.int(1), .int(5)])
    }

    @Test func `decimal sums are exact, and binary sums are those of the members alone`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department")
        let tenth = try #require(Decimal(string: "0.1"))
        var people: [ObjectID] = []
        for weight in [1e300, 0.1, 0.2] {
            people.append(
                try store.add(
                    "Employee",
                    [
                        "department": .object(sales), "bonus": .decimal(tenth),
                        "weight": .double(weight),
                    ]))
        }
        #expect(
            try store.values(sales, "bonuses", "weights")
                == [.decimal(tenth * 3), .double([1e300, 0.1, 0.2].exactSum)])

        try store.remove(people[0])

        #expect(
            try store.values(sales, "bonuses", "weights")
                == [.decimal(tenth * 2), .double([0.1, 0.2].exactSum)])
    }

    @Test func `a sum or count that does not fit is refused by object and attribute`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department")
        try store.add("Employee", ["department": .object(sales), "salary": .int(.max)])
        let head = try store.head()

        #expect {
            try store.add("Employee", ["department": .object(sales), "salary": .int(1)])
        } throws: { error in
            let failure = (error as? StoreError)?.failures.first
            return failure?.object == sales && failure?.property == "payroll"
                && failure?.message.contains("'payroll' of Department/\(sales.number)") == true
        }
        #expect(try store.head() == head)
        try store.add("Employee", ["department": .object(sales), "salary": .int(-1)])
        #expect(try store.values(sales, "payroll") == [.int(.max - 1)])
        #expect {
            try store.add("Employee", ["department": .object(sales), "weight": .double(1e308)])
            try store.add("Employee", ["department": .object(sales), "weight": .double(1e308)])
        } throws: { error in
            (error as? StoreError)?.failures.first?.property == "weights"
        }
    }

    @Test func `a program that sets a derived value is refused`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["headcount": .int(9)])
        #expect(try store.values(sales, "headcount") == [.int(0)])

        #expect {
            try store.set(sales, "headcount", .int(5))
        } throws: { error in
            (error as? StoreError)?.failures.first?.message.contains("is derived") == true
        }
    }

    // MARK: - The past

    @Test func `each entry shows what was derived then, and who is behind it`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department")
        var request = SaveRequest(changes: [])
        var heads: [SequenceNumber] = []
        for author in ["Ann", "Ben"] {
            let person = try store.newObject("Employee")
            request.header.author = author
            request.changes = [store.insert(person, ["department": .object(sales)])]
            heads.append(try #require(try store.commit(request).sequence))
        }

        let headcount = store.property("headcount", of: sales)
        for (count, head) in heads.enumerated() {
            let then = try store.read(at: head) { try $0.value(of: headcount, in: sales) }
            #expect(then == .int(Int64(count + 1)))
        }
        let blame = try #require(try store.blame(of: headcount, in: sales))
        #expect(blame.sequence == heads[1])
        #expect(try store.found("Department", "headcount == 2") == [sales])
        #expect(try store.found("Department", "sortName == nil AND headcount > 1") == [sales])
    }

    @Test func `rebuilding and loading give the same bytes`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("Sales")])
        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(1)])
        try store.set(ada, "salary", .int(2))
        try store.remove(ada)
        try store.remove(sales)
        let digests = try store.projectionDigest()

        try store.rebuild()
        #expect(try store.projectionDigest() == digests)

        let folder = try TemporaryDirectory()
        let copy = try TestStore.create(
            at: folder.path("copy.daybook"), loading: store.entry(SequenceNumber(1)),
            options: .counting())
        try store.entries(from: SequenceNumber(2)) { entry in
            try copy.append(exported: entry)
            return .proceed
        }
        #expect(try copy.projectionDigest() == digests)
        try copy.close()
    }

    @Test func `the form of a text that another Unicode gave is loaded as it is`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.newObject("Department")
        let forged = store.insert(
            sales,
            [
                "name": .string("Sales"), "sortName": .string("sale\u{17F}"), "headcount": .int(0),
                "payroll": .int(0), "bonuses": .decimal(0), "weights": .double(0),
            ])
        try store.forge([forged])

        let folder = try TemporaryDirectory()
        let copy = try TestStore.create(
            at: folder.path("copy.daybook"), loading: store.entry(SequenceNumber(1)),
            options: .counting())
        try copy.append(exported: try store.entry(SequenceNumber(2)))

        // The other Unicode finds the same form for the next text, so the entry has none.
        try store.forge([store.update(sales, "name", from: .string("Sales"), to: .string("SALES"))])
        try copy.append(exported: try store.entry(SequenceNumber(3)))

        #expect(try copy.values(sales, "sortName") == [.string("sale\u{17F}")])
        #expect(try copy.projectionDigest() == store.projectionDigest())
        try copy.close()
    }

    // MARK: - Undo and merging

    @Test func `undoing what made an object does not mind what was derived since`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("a")])
        let born = try store.head()
        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(3)])
        let joined = try store.head()
        try store.set(sales, "name", .string("B"))
        let renamed = try store.head()

        try store.commit(store.undoRequest(of: renamed))
        #expect(try store.values(sales, "sortName") == [.string("a")])
        try store.commit(store.undoRequest(of: joined))
        #expect(try store.values(sales, "headcount", "payroll") == [.int(0), .int(0)])
        let undone = try store.head()
        try store.commit(store.undoRequest(of: born))
        try store.commit(store.undoRequest(of: try store.head()))
        try store.commit(store.undoRequest(of: undone))

        #expect(try store.values(ada, "salary") == [.int(3)])
        #expect(
            try store.values(sales, "headcount", "payroll", "lowest", "sortName")
                == [.int(1), .int(3), .int(3), .string("a")])
        #expect(try store.verify().isSound)
    }

    @Test func `an object restored as it was has what is derived now`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("a")])
        let ada = try store.add("Employee", ["department": .object(sales), "salary": .int(3)])
        let then = try store.head()
        try store.set(sales, "name", .string("b"))
        try store.set(ada, "salary", .int(4))

        try store.commit(store.restorePlan(of: sales, at: then).permitted())

        #expect(try store.values(sales, "sortName", "payroll") == [.string("a"), .int(4)])
    }

    @Test(arguments: [ConflictDetection.perProperty, .perRow])
    func `what others have only derived collides with nothing`(detection: ConflictDetection) throws
    {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("a")])
        let lab = try store.add("Department", ["name": .string("l")])
        let seen = try store.head()
        let (removal, edit) = (
            try store.delete(lab), store.update(sales, "name", from: .string("a"), to: .string("b"))
        )
        let ada = try store.add("Employee", ["department": .object(lab), "salary": .int(1)])
        try store.set(ada, "department", .null)
        try store.add("Employee", ["department": .object(sales), "salary": .int(1)])

        var request = SaveRequest(changes: [removal, edit], detection: detection)
        request.header.base = seen
        request.seenSince = [sales: seen, lab: seen]
        request.watched = detection == .perRow ? [sales: seen] : [:]
        let result = try store.commit(request)

        #expect(result.conflicts.isEmpty)
        #expect(
            try store.values(sales, "sortName", "headcount") == [.string("b"), .int(1)])
        #expect(try store.read { try $0.exists(lab) } == false)
    }

    @Test func `what others have changed besides still collides by row`() throws {
        let temporary = try store()
        let store = temporary.store
        let sales = try store.add("Department", ["name": .string("a")])
        let seen = try store.head()
        try store.set(sales, "name", .string("b"))
        try store.add("Employee", ["department": .object(sales)])

        var request = SaveRequest(changes: [])
        request.header.base = seen
        request.watched = [sales: seen]
        request.changes = [store.insert(try store.newObject("Department"))]
        #expect {
            try store.commit(request)
        } throws: { error in
            (error as? StoreError)?.code == .conflict
        }
    }
}
