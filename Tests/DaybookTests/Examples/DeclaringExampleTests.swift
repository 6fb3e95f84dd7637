import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on declaring a model.
@Suite struct DeclaringExampleTests {
    // example
    final class Invoice: ManagedObject {
        @Attribute var id: UUID = UUID()
        @Attribute var written: Date = Date()
        @Attribute(.unique) var number: String
        @Attribute(.required) var customer: String
        @Attribute(default: .distantFuture) var due: Date
        @Attribute var currency: String = "EUR"
        @Attribute var remark: String?
        @Attribute var state: State = .open
        @Relationship(inverse: .itself) var corrections: Set<Invoice>

        convenience init(number: String, for customer: String, context: ManagedObjectContext) {
            self.init(context: context)
            self.number = number
            self.customer = customer
        }
    }

    enum State: String, AttributeValue {
        case open, paid, unknown

        static var unknownValue: State? { .unknown }
    }
    // end of example

    // example
    final class Product: ManagedObject {
        @Attribute(.unique, rules: [.pattern("[A-Z]{2}-[0-9]+")]) var code: String
        @Attribute(rules: [.minimumLength(1), .maximumLength(80)]) var name: String = ""
        @Attribute(rules: [.minimum(0), .maximum(100)]) var discount: Double?
        @Attribute(.confidential) var purchasePrice: Decimal?
        @Relationship(.cascade, inverse: \Picture.product, maximumCount: 3) var pictures: [Picture]
        @Transient var isSelected: Bool = false
    }

    final class Picture: ManagedObject {
        @Attribute var file: URL?
        @Relationship(isOptional: false) var product: Product?
    }
    // end of example

    // example
    final class Customer: ManagedObject {
        @Attribute([.indexed, .renamed("name")]) var fullName: String = ""
        @Attribute(.userInfo(["label": "Customer since"])) var since: Date?
        @Relationship([.deny, .renamed("bills")]) var orders: Set<Order>

        override class var renamingIdentifier: String? { "Client" }
        override class var userInfo: [String: String] { ["icon": "person"] }
    }
    // end of example

    final class Order: ManagedObject {
        @Attribute var number: Int = 0
    }

    // example
    class Vehicle: ManagedObject {
        @Attribute var wheels: Int = 4
        override class var isAbstractEntity: Bool { self == Vehicle.self }
    }
    // end of example

    final class Car: Vehicle {}

    @MainActor @Test func `the declarations of the page are a model and work`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("invoices.daybook"),
            model: [Invoice.self, Vehicle.self, Car.self])
        let context = container.viewContext

        let first = Invoice(number: "1", for: "Ada", context: context)
        let second = Invoice(number: "2", for: "Bob", context: context)
        second.corrections = [first]
        _ = Car(context: context)
        try context.save()

        #expect(first.id != second.id)
        #expect(first.due == .distantFuture)
        #expect(first.corrections == [second])
        #expect(try context.fetch(FetchRequest<Vehicle>()).map(\.wheels) == [4])
    }

    @MainActor @Test func `the rules of the page refuse what breaks them, all at once`() throws {
        let container = try PersistentContainer(inMemory: [Product.self, Picture.self])
        let context = container.viewContext
        let product = Product(context: context)
        product.code = "A-1"
        product.discount = 120
        product.pictures = (1...4).map { _ in Picture(context: context) }

        let error = try #require(throws: StoreError.self) { try context.save() }

        #expect(
            error.failures.map { "\($0.property ?? "") \($0.number)" }.sorted()
                == ["code 1680", "discount 1610", "name 1670", "pictures 1590"])
        product.code = "AB-1"
        product.name = "Bell"
        product.discount = nil
        product.isSelected = true
        context.delete(product.pictures[3])
        try context.save()
        #expect(product.isSelected)
        #expect(product.value(forKey: "pictures") as? [ManagedObject] == product.pictures)
    }
}

/// The example of the page on conditions.
@Suite struct ConditionsExampleTests {
    final class Department: ManagedObject {
        @Relationship(inverse: \Employee.department) var employees: Set<Employee>
    }

    final class Employee: ManagedObject {
        @Attribute(.indexed) var name: String = ""
        @Attribute var salary: Decimal = 0
        @Attribute var isActive: Bool = true
        @Relationship var department: Department?
    }

    @MainActor @Test func `the three forms of the page find the same`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("staff.daybook"),
            model: [Department.self, Employee.self])
        let context = container.viewContext
        let department = Department(context: context)
        let ada = Employee(context: context)
        ada.name = "Ada"
        ada.department = department
        Employee(context: context).name = "Bob"
        try context.save()
        let names = ["Ada", "Bob"]

        // example
        let research = Condition<Employee>("name IN %@ AND department == %@", names, department)
        let withKeyPaths = (\Employee.name).isIn(names) && \Employee.department == department
        let id = department.objectID
        let withMacro = Condition(
            #Predicate<Employee> { names.contains($0.name) && $0.department?.objectID == id })
        // end of example

        for condition in [research, withKeyPaths, withMacro] {
            let request = FetchRequest<Employee>(where: condition)
            #expect(try context.fetch(request) == [ada])
            #expect(!(try context.explain(request).contains("in memory")))
        }
    }

    @MainActor @Test func `the aggregates of the page are worked out`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("staff.daybook"),
            model: [Department.self, Employee.self])
        let context = container.viewContext
        for (name, salary) in [("Ada", 3_000), ("Bob", 2_000), ("Cid", 500)] as [(String, Decimal)]
        {
            let employee = Employee(context: context)
            employee.name = name
            employee.salary = salary
            employee.isActive = name != "Cid"
        }
        try context.save()

        // example
        let active = FetchRequest<Employee>(where: \.isActive == true)
        let payroll = try context.fetch(.sum(\Employee.salary), of: active)
        let mean = try context.fetch(.average(\Employee.salary), of: active)
        let last = try context.fetch(.maximum(\Employee.name))
        // end of example

        #expect(payroll == 5_000)
        #expect(mean == 2_500)
        #expect(last == "Cid")
    }
}

/// The example of composite attributes.
@Suite struct CompositeExampleTests {
    // example
    struct Address: CompositeAttribute {
        var street = ""
        var city: String?

        static let elements: [CompositeElement<Address>] = [
            CompositeElement(\.street), CompositeElement(\.city, .indexed),
        ]
    }

    final class Person: ManagedObject {
        @Attribute var name: String = ""
        @Composite var home = Address()
        @Composite var work: Address?
    }
    // end of example

    @MainActor @Test func `the elements of the page are found, and change one by one`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("people.daybook"), model: [Person.self])
        let context = container.viewContext
        let ada = Person(context: context)
        ada.home.city = "Bern"
        ada.work = Address()
        try context.save()

        // example, continued
        let fromBern = FetchRequest<Person>(where: \.home.city == "Bern")
        let sameAsText = FetchRequest<Person>(where: Condition("home.city == 'Bern'"))
        // end of example

        #expect(try context.fetch(fromBern) == [ada])
        #expect(try context.fetch(sameAsText) == [ada])
        ada.home.city = "Basel"
        #expect(ada.changedValues().keys.sorted() == ["home.city"])
        #expect(ada.work?.street == "")
    }
}

/// The example of derived attributes.
@Suite struct DerivedExampleTests {
    // example
    final class Department: ManagedObject {
        @Attribute var name: String = ""
        @Attribute([.derived("canonical:(name)"), .indexed]) private(set) var sortName: String = ""
        @Attribute([.derived("employees.@count"), .indexed]) private(set) var headcount: Int = 0
        @Attribute(.derived("employees.salary.@sum")) private(set) var payroll: Decimal = 0
        @Attribute(.derived("employees.salary.@max")) private(set) var highest: Decimal?
        @Relationship(inverse: \Employee.department) var employees: Set<Employee>
    }
    // end of example

    final class Employee: ManagedObject {
        @Attribute var salary: Decimal?
        @Relationship var department: Department?
    }

    @MainActor @Test func `the derived attributes of the page follow from what is saved`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("derived.daybook"),
            model: [Department.self, Employee.self])
        let context = container.viewContext
        let department = Department(context: context)
        department.name = "Café"
        let ada = Employee(context: context)
        ada.salary = 7
        ada.department = department
        try context.save()

        #expect(department.sortName == "cafe")
        #expect(department.headcount == 1)
        #expect(department.payroll == 7)
        #expect(department.highest == 7)
        let found = FetchRequest<Department>(where: Condition("headcount == 1"))
        #expect(try context.fetch(found) == [department])
    }
}
