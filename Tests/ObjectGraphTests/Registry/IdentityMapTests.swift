import DaybookObjectModel
import DaybookTestSupport
import Dispatch
import Synchronization
import Testing

@testable import DaybookObjectGraph

@Suite struct IdentityMapTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a map agrees with a dictionary, whichever objects live`(seed: UInt64) throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            var random = SeededGenerator(seed: seed)
            let map = IdentityMap()
            var held: [GraphID: Employee] = [:]

            for _ in 0..<20_000 {
                let id = GraphID(
                    store: UInt32.random(in: 0...2, using: &random),
                    object: ObjectID(
                        entity: binding.schema.number,
                        number: UInt64.random(in: 1...600, using: &random)))
                switch Int.random(in: 0...4, using: &random) {
                case 0, 1:
                    let employee = Employee(FaultSeed(binding: binding, graphID: id))
                    map.register(employee)
                    held[id] = employee
                case 2:
                    // Its object is released; the map may not know yet.
                    if held.removeValue(forKey: id) != nil { map.countEnd() }
                case 3:
                    // It is released and removes itself.
                    if let employee = held.removeValue(forKey: id) { map.forget(employee) }
                default:
                    if let employee = held.removeValue(forKey: id) { map.remove(employee) }
                }
                #expect(map[id] === held[id], "seed \(seed)")
            }

            #expect(Set(map.objects) == Set(held.values), "seed \(seed)")
            for (id, employee) in held { #expect(map[id] === employee, "seed \(seed)") }
        }
    }

    @Test func `removing an instance leaves the one that has taken its place`() throws {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let id = GraphID(store: 0, object: ObjectID(entity: binding.schema.number, number: 7))
            let first = Employee(FaultSeed(binding: binding, graphID: id))
            let second = Employee(FaultSeed(binding: binding, graphID: id))
            let map = IdentityMap()
            map.register(first)
            map.register(second)

            map.remove(first)
            #expect(map[id] === second)

            map.remove(second)
            #expect(map[id] == nil)
        }
    }

    @Test func `making an object for a record may register others meanwhile`() throws {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let map = IdentityMap()
            var held: [GraphID: ManagedObject] = [:]
            func register(_ number: UInt64) -> ManagedObject {
                let id = GraphID(
                    store: 0, object: ObjectID(entity: binding.schema.number, number: number))
                let object = map.object(id) {
                    // Each makes some others first, so that the table grows repeatedly.
                    for more in 1...3 where number * 4 + UInt64(more) < 4_000 {
                        _ = register(number * 4 + UInt64(more))
                    }
                    return Employee(FaultSeed(binding: binding, graphID: id))
                }
                held[id] = object
                return object
            }

            let first = register(1)

            #expect(register(1) === first)
            #expect(held.count > 100)
            #expect(Set(map.objects) == Set(held.values))
            for (id, object) in held { #expect(map[id] === object) }
        }
    }

    @Test func `an object that is released on another thread is found whole or not at all`() throws
    {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let map = IdentityMap()
            let id = GraphID(
                store: 0, object: ObjectID(entity: binding.schema.number, number: 1_000_000))

            for _ in 0..<2_000 {
                let handover = Handover(Employee(FaultSeed(binding: binding, graphID: id)))
                handover.withObject { map.register($0) }
                let done = DispatchSemaphore(value: 0)
                DispatchQueue.global().async {
                    handover.letGo()
                    done.signal()
                }
                // Either the object lives while it is used here, or it is not found.
                if let found = map[id] { #expect(found.graphID == id) }
                done.wait()
                #expect(map[id] == nil)
            }
        }
    }

    @Test func `an object that goes on its context's queue leaves nothing behind`() throws {
        let set = try StoreSet("staff")
        let ids = try set.hire("Lovelace", "Hopper", in: set.coordinator.persistentStores[0])

        try set.inContext { (context) throws in
            var objects = try ids.map { try context.existingObject(with: $0) }
            #expect(context.registry.count == 2)
            objects.removeLast()
            #expect(context.registry.count == 1)
            #expect(context.registeredObjects == Set(objects))
            objects = []
            #expect(context.registry.count == 0)
        }
    }

    @Test @MainActor
    func `an object that goes on the main queue leaves nothing behind in a context of it`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        let main = store.container.viewContext
        var objects = try ids.map { try main.existingObject(with: $0) }
        #expect(main.registry.count == 2)

        objects.removeLast()

        #expect(main.registry.count == 1)
        #expect(main.registeredObjects == Set(objects))
        objects = []
        #expect(main.registry.count == 0)
    }

    @Test func `a map that was large gives its room back and still finds what is left`() throws {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let map = IdentityMap()
            var employees = (1...5_000).map { number in
                Employee(
                    FaultSeed(
                        binding: binding,
                        graphID: GraphID(
                            store: 0,
                            object: ObjectID(entity: binding.schema.number, number: number))))
            }
            for employee in employees { map.register(employee) }
            #expect(map.capacity > 5_000)

            while employees.count > 10 { map.forget(employees.removeLast()) }

            #expect(map.count == 10)
            #expect(map.capacity == ObjectTable<Int>.leastCapacity)
            for employee in employees { #expect(map[employee.graphID] === employee) }
            #expect(Set(map.objects) == Set(employees))
        }
    }

    @Test func `an object that goes does not take the one out that has replaced it`() throws {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let map = IdentityMap()
            let id = GraphID(store: 0, object: ObjectID(entity: binding.schema.number, number: 1))
            let first = Employee(FaultSeed(binding: binding, graphID: id))
            let second = Employee(FaultSeed(binding: binding, graphID: id))
            map.register(first)
            map.register(second)

            map.forget(first)

            #expect(map[id] === second)
        }
    }

    @Test func `an object registered in place of another is the one that is found`() throws {
        let store = try StaffStore()
        try store.inContext { context in
            let binding = context.binding(forInserting: "Employee", as: Employee.self)
            let map = IdentityMap()
            let id = GraphID(store: 0, object: ObjectID(entity: binding.schema.number, number: 1))
            let first = Employee(FaultSeed(binding: binding, graphID: id))
            let second = Employee(FaultSeed(binding: binding, graphID: id))
            map.register(first)

            map.register(second)
            map.register(second)

            #expect(map[id] === second)
            #expect(map.objects == [second])
        }
    }
}

/// The only reference to an object, which another thread will release.
private final class Handover: @unchecked Sendable {
    // @unchecked Sendable because the object is handed over once and only released there.
    private var object: Employee?

    init(_ object: Employee) {
        self.object = object
    }

    func withObject(_ body: (Employee) -> Void) {
        if let object { body(object) }
    }

    func letGo() {
        object = nil
    }
}
