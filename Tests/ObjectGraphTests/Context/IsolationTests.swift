import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Dispatch
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct IsolationTests {
    @Test func `F107 performAndWait may be called from the context itself`() throws {
        let store = try StaffStore()
        let context = store.context()

        let depth = context.performAndWait {
            context.performAndWait {
                context.performAndWait { 3 }
            }
        }

        #expect(depth == 3)
    }

    @Test func `F107 work is done in the order in which it was asked for`() throws {
        let store = try StaffStore()
        let context = store.context()
        nonisolated(unsafe) var order: [Int] = []

        for number in 0..<20 { context.perform { order.append(number) } }
        context.performAndWait { order.append(20) }

        #expect(order == Array(0...20))
    }

    @Test func `F107 an error thrown inside comes out`() async throws {
        struct Refusal: Error {}
        let store = try StaffStore()
        let context = store.context()

        #expect(throws: Refusal.self) {
            try context.performAndWait { () throws in throw Refusal() }
        }
        await #expect(throws: Refusal.self) {
            try await context.perform { () throws in throw Refusal() }
        }
    }

    @Test func `F107 contexts that wait for each other in a ring get on`() throws {
        let store = try StaffStore()
        let contexts = (0..<4).map { store.context("\($0)") }
        let done = DispatchGroup()
        for round in 0..<200 {
            DispatchQueue.global().async(group: done) {
                let first = contexts[round % 4]
                let second = contexts[(round + 1) % 4]
                first.performAndWait {
                    let ada = Employee(context: first)
                    second.performAndWait { _ = Employee(context: second) }
                    first.delete(ada)
                }
            }
        }

        #expect(done.wait(timeout: .now() + 1_200) == .success)
        for context in contexts {
            context.performAndWait { #expect(!context.insertedObjects.isEmpty) }
        }
    }

    @Test func `F107 children of one parent save at once and lose nothing`() throws {
        let store = try StaffStore()
        let root = store.context()
        let children = (0..<4).map { _ in ManagedObjectContext(parent: root) }

        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let child = children[number]
            child.performAndWait {
                for round in 0..<25 {
                    let person = Employee(context: child)
                    person.lastName = "\(number)-\(round)"
                    #expect(throws: Never.self) { try child.save() }
                    #expect(throws: Never.self) { try child.count(FetchRequest<Employee>()) }
                }
            }
        }

        try root.performAndWait { () throws in
            #expect(root.insertedObjects.count == 100)
            try root.save()
        }
        try store.inContext { (context) throws in
            let names = try context.fetch(FetchRequest<Employee>()).map(\.lastName)
            #expect(Set(names).count == 100)
        }
    }

    @Test @MainActor
    func `F107 immediate work starts at once where the caller is in the context`() async throws {
        let store = try StaffStore()
        let main = store.container.viewContext
        nonisolated(unsafe) var order: [String] = []
        func enqueue() {
            main.perform { order.append("queued before") }
        }

        enqueue()
        try await main.perform { order.append("immediate") }
        try await main.perform(schedule: .enqueued) { order.append("enqueued") }

        #expect(order == ["immediate", "queued before", "enqueued"])
    }

    @Test func `F107 F109 objects cross to another actor by identifier`() async throws {
        actor Reader {
            let context: ManagedObjectContext

            init(_ context: ManagedObjectContext) {
                self.context = context
            }

            func name(of id: ManagedObjectID) async throws -> String? {
                let context = context
                return try await context.perform {
                    (try context.existingObject(with: id) as? Employee)?.lastName
                }
            }
        }
        let store = try StaffStore()
        let context = store.context()
        let id = try await context.perform {
            let ada = Employee(context: context)
            ada.lastName = "Lovelace"
            try context.save()
            return ada.objectID
        }

        #expect(try await Reader(store.context()).name(of: id) == "Lovelace")
    }

    @Test func `F110 perform ends the event`() throws {
        let store = try StaffStore()
        let context = store.context()

        context.performAndWait { _ = Employee(context: context) }
        context.performAndWait { _ = Department(context: context) }

        context.performAndWait {
            context.undo()
            #expect(context.insertedObjects.count == 1)
            context.undo()
            #expect(context.insertedObjects.isEmpty)
        }
    }

    @Test func `F107 a debug build stops where a context is touched off its queue`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let store = try StaffStore()
            let context = store.context("ledger")
            _ = context.hasChanges
        }

        let talk = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(talk.contains("The context 'ledger' of a private queue was used on "))
        #expect(talk.contains("; use perform."))
    }

    @Test func `F107 an object touched off its queue stops a debug build as well`() async {
        await #expect(processExitsWith: .failure) {
            let store = try StaffStore()
            let context = store.context()
            let ada = context.performAndWait { Employee(context: context) }
            ada.lastName = "Lovelace"
        }
    }

    @Test func `F108 relating objects of two contexts stops the program`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let store = try StaffStore()
            let (first, second) = (store.context(), store.context())
            let ada = first.performAndWait { Employee(context: first) }
            second.performAndWait { Department(context: second).employees = [ada] }
        }

        let talk = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(talk.contains("Objects of different contexts cannot be related"))
    }

    @Test func `S19 a context that nobody holds is released, and its coordinator stays`() throws {
        let store = try StaffStore()
        weak var weakContext: ManagedObjectContext?
        do {
            let context = store.context()
            context.performAndWait { _ = Employee(context: context) }
            weakContext = context
        }

        #expect(weakContext == nil)
        #expect(try store.inContext { try $0.count(FetchRequest<Employee>()) } == 0)
    }
}
