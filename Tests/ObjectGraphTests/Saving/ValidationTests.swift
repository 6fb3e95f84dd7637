import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A refused edit of a truck, and the reason.
struct BadEdit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let number: Int
    let property: String
    let make: @Sendable (Truck) -> Void

    init(
        _ description: String, _ number: Int, _ property: String,
        _ make: @escaping @Sendable (Truck) -> Void
    ) {
        testDescription = description
        self.number = number
        self.property = property
        self.make = make
    }

    static let all: [BadEdit] = [
        BadEdit("no value", 1570, "keeper") { $0.setValue(nil, forKey: "keeper") },
        BadEdit("no object", 1570, "inspector") { $0.inspector = nil },
        BadEdit("number above", 1610, "seats") { $0.seats = 10 },
        BadEdit("number below", 1620, "seats") { $0.seats = 0 },
        BadEdit("decimal above", 1610, "price") { $0.price = 99.51 },
        BadEdit("decimal below", 1620, "price") { $0.price = -1 },
        BadEdit("number beyond its type", 1610, "seats") {
            $0.setStoredValue(.int(40_000), forKey: "seats")
        },
        BadEdit("date too late", 1630, "built") {
            $0.built = Date(timeIntervalSinceReferenceDate: 1_001)
        },
        BadEdit("date too early", 1640, "built") {
            $0.built = Date(timeIntervalSinceReferenceDate: -1)
        },
        BadEdit("infinite date", 1650, "built") {
            $0.built = Date(timeIntervalSinceReferenceDate: .infinity)
        },
        BadEdit("text too long", 1660, "name") { $0.name = "lorries" },
        BadEdit("data too long", 1660, "photo") { $0.photo = Data([1, 2, 3, 4, 5]) },
        BadEdit("text too short", 1670, "name") { $0.name = "x" },
        BadEdit("pattern in a part only", 1680, "plate") { $0.plate = "AB 1!" },
        BadEdit("another type", 1550, "name") { $0.setStoredValue(.int(1), forKey: "name") },
    ]
}

@Suite struct ValidationTests {
    private func failure(
        _ body: () throws -> Void
    ) throws -> StoreError {
        try #require(#expect(throws: StoreError.self) { try body() })
    }

    @Test(arguments: BadEdit.all)
    func `F31 J12 S80 each broken rule of a new object has its number`(edit: BadEdit) throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            edit.make(truck)

            let error = try failure { try context.save() }

            #expect(error.code == .validation)
            #expect(error.number == edit.number)
            #expect(error.failures.map(\.number) == [edit.number])
            #expect(error.failures.first?.property == edit.property)
            #expect(error.failures.first?.object == truck.objectID.object)
        }
    }

    @Test(arguments: BadEdit.all)
    func `F31 F36 each broken rule of a saved object has its number`(edit: BadEdit) throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            try context.save()
            edit.make(truck)

            let error = try failure { try context.save() }

            #expect(error.number == edit.number)
            #expect(error.failures.map(\.property) == [edit.property])
        }
    }

    @Test func `F31 values at the edge of their rules are saved`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            for (seats, price, seconds) in [(1, 0, 0), (9, Decimal(string: "99.5"), 1_000)] {
                let truck = Truck.valid(in: context)
                truck.seats = Int16(seats)
                truck.price = price
                truck.built = Date(timeIntervalSinceReferenceDate: Double(seconds))
                truck.name = seats == 1 ? "ab" : "abcde"
                truck.photo = Data([1, 2, 3, 4])
                truck.plate = "ABC 123"
            }

            #expect(try context.save() != nil)
        }
    }

    @Test func `F31 several failures come in one error with the number 1560`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let first = Truck.valid(in: context)
            first.seats = 10
            first.name = "x"
            let second = Truck.valid(in: context)
            second.setValue(nil, forKey: "keeper")

            let error = try failure { try context.save() }

            #expect(error.number == 1560)
            #expect(error.failures.count == 3)
            #expect(error.details == error.failures.map(\.message))
            #expect(Set(error.failures.map(\.number)) == [1610, 1670, 1570])
        }
    }

    @Test func `F31 a message names object and property and no value`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            truck.name = "confidential"

            let error = try failure { try context.save() }

            #expect(
                error.message
                    == "Nothing was saved: 'name' of \(truck.objectID) is longer than its maximum "
                    + "length of 5.")
            #expect(!error.description.contains("confidential"))
        }
    }

    @Test func `F32 the rules can be read from the entity`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)

            let seats = truck.entity.attributes.first { $0.name == "seats" }
            let plate = truck.entity.attributes.first { $0.name == "plate" }

            #expect(seats?.rules == AttributeRules(minimum: .int(1), maximum: .int(9)))
            #expect(plate?.rules.pattern == "[A-Z]{1,3} [0-9]+")
        }
    }

    // MARK: - Counts

    @Test(arguments: [0, 1, 2, 3, 4])
    func `F33 a count is checked where a relationship leads somewhere`(count: Int) throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let convoy = Convoy(context: context)
            convoy.trucks = Set((0..<count).map { _ in Truck.valid(in: context) })

            let expected = [0: nil, 1: 1580, 2: nil, 3: nil, 4: 1590][count] ?? nil
            if let expected {
                let error = try failure { try context.save() }
                #expect(error.failures.map(\.number) == [expected])
                #expect(error.failures.first?.property == "trucks")
            } else {
                #expect(try context.save() != nil)
            }
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4])
    func `F33 S87 a count is checked at the end that is not stored`(count: Int) throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let garage = Garage(context: context)
            garage.permit = Permit(context: context)
            for _ in 0..<count { Truck.valid(in: context).garage = garage }

            let expected = [0: nil, 1: 1580, 2: nil, 3: nil, 4: 1590][count] ?? nil
            if let expected {
                let error = try failure { try context.save() }
                #expect(error.failures.map(\.number) == [expected])
                #expect(error.failures.first?.object == garage.objectID.object)
            } else {
                #expect(try context.save() != nil)
            }
        }
    }

    @Test func `S87 F33 deleting a member leaves too few, and the save is refused`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let garage = Garage(context: context)
            garage.permit = Permit(context: context)
            let trucks = (0..<2).map { _ in Truck.valid(in: context) }
            garage.trucks = Set(trucks)
            try context.save()

            context.delete(trucks[0])

            let error = try failure { try context.save() }
            #expect(error.failures.map(\.number) == [1580])
            #expect(error.failures.first?.object == garage.objectID.object)
            context.delete(trucks[1])
            #expect(try context.save() != nil)
        }
    }

    @Test func `S87 F31 nullifying a mandatory inverse is refused`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let garage = Garage(context: context)
            let permit = Permit(context: context)
            garage.permit = permit
            try context.save()

            context.delete(permit)

            let error = try failure { try context.save() }
            #expect(error.number == 1570)
            #expect(error.failures.first?.property == "permit")
            #expect(garage.permit == nil)
            garage.permit = Permit(context: context)
            #expect(try context.save() != nil)
        }
    }

    // MARK: - When

    @Test func `F30 S79 after a refused save all is pending and mending it lets it through`() throws
    {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let bad = Truck.valid(in: context)
            let good = Truck.valid(in: context)
            bad.seats = 0
            let head = try store.store.head()

            _ = try failure { try context.save() }

            #expect(try store.store.head() == head)
            #expect(context.insertedObjects.isSuperset(of: [bad, good]))
            #expect(bad.seats == 0)
            bad.seats = 1
            #expect(try context.save() != nil)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F36 a default does not come back for a value that was taken away`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            try context.save()
            truck.setValue(nil, forKey: "seats")

            let error = try failure { try context.save() }

            #expect(error.number == 1570)
            #expect(truck.storedValue(forKey: "seats") == .null)
        }
    }

    @Test func `S89 F35 a denied delete is judged at the save`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            let inspector = try #require(truck.inspector)
            try context.save()

            context.delete(inspector)
            let error = try failure { try context.save() }
            #expect(error.number == 1600)
            #expect(error.failures.first?.property == "trucks")
            #expect(context.deletedObjects == [inspector])

            context.delete(truck)
            #expect(try context.save() != nil)
            #expect(try context.count(FetchRequest<Inspector>()) == 0)
        }
    }

    @Test func `S89 a denied delete goes through when the relationship was emptied first`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            let inspector = try #require(truck.inspector)
            try context.save()
            truck.inspector = Inspector(context: context)

            context.delete(inspector)

            #expect(try context.save() != nil)
        }
    }

    @Test func `S102 F31 a child's save is validated and leaves the parent as it is`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (parent) throws in
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                let truck = Truck.valid(in: child)
                truck.seats = 0

                let error = try failure { try child.save() }

                #expect(error.number == 1620)
                #expect(child.hasChanges)
            }
            #expect(!parent.hasChanges)
        }
    }
}
