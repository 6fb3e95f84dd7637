import DaybookTestSupport
import Foundation
import Testing

/// What the compiler says when an object would leave its context, and that it lets values go.
@Suite struct IsolationMessageTests {
    private static let classes = """
        import Daybook
        import Foundation

        final class Person: ManagedObject {
            @Attribute var name: String = ""
            @Relationship var friend: Person?
        }

        func take(_ person: Person) {}

        actor Registry: ContextActor {
            nonisolated let context: ManagedObjectContext
            var all: [Person] = []

            init(_ context: ManagedObjectContext) { self.context = context }

            func people() throws -> [Person] { try context.fetch(FetchRequest<Person>()) }
            func identifiers() throws -> [ManagedObjectID] { try people().map(\\.objectID) }
            func snapshots() throws -> [ObjectSnapshot<Person>] { try people().map { try $0.snapshot() } }
            func keep(_ person: Person) { all.append(person) }
        }

        """

    @Test
    func `F107 an object does not leave the block, the stream or the fetch that it belongs to`()
        throws
    {
        try SwiftCompiler.expectErrors(
            of: Self.classes + """
                func outOfPerform(_ context: ManagedObjectContext) async throws {
                    take(try await context.perform { try context.fetch(FetchRequest<Person>())[0] })  // error: pass the objectID to another queue instead
                    let person: Person = try await context.perform { Person(context: context) }  // error: pass the objectID to another queue instead
                    take(person)
                }

                func intoPerform(_ first: ManagedObjectContext, _ second: ManagedObjectContext) async throws {
                    try await first.perform {
                        let person = Person(context: first)
                        second.perform { person.name = "" }  // error: capture of 'person' with non-Sendable type 'Person' in a '@Sendable' closure
                        try first.save()
                    }
                }

                func outOfAnActor(_ registry: Registry) async throws {
                    _ = await registry.all  // error: cannot exit actor-isolated context
                }

                func streamOutsideAnActor(_ context: ManagedObjectContext) async throws {
                    _ = context.stream(FetchRequest<Person>())  // error: cannot be called from outside of the actor
                }

                func valuesThatAreObjects(_ context: ManagedObjectContext) async throws {
                    _ = context.stream(FetchRequest<Person>(), { $0 })  // error: pass the objectID to another queue instead
                    _ = try await context.fetch(FetchRequest<Person>(), reporting: Progress(totalUnitCount: 1), { $0 })  // error: pass the objectID to another queue instead
                }

                struct Card: Sendable {
                    var person: Person?  // error: has non-Sendable type 'Person?'
                }
                """, examining: .types)
    }

    @Test func `F107 an object that was sent elsewhere, or that others still use, is refused`()
        throws
    {
        try SwiftCompiler.expectErrors(
            of: Self.classes + """
                func outOfAnActor(_ registry: Registry) async throws {
                    for person in try await registry.people() { take(person) }  // error: can not be returned from actor-isolated instance method 'people()' to nonisolated context
                }

                @MainActor func intoAnActor(_ registry: Registry, _ context: ManagedObjectContext) async {
                    let person = Person(context: context)
                    await registry.keep(person)  // error: sending 'person' risks causing data races
                    person.name = "still in use"
                }

                @MainActor func intoATask(_ person: Person) {
                    Task.detached { person.name = "" }  // error: risks causing data races between main actor-isolated code and concurrent execution
                }

                @MainActor func streamIntoATask(_ context: ManagedObjectContext) {
                    let stream = context.stream(FetchRequest<Person>())
                    Task.detached {  // error: risks causing data races between main actor-isolated code and concurrent execution
                        for try await person in stream { take(person) }
                    }
                }
                """, examining: .sending)
    }

    @Test func `F107 identifiers, snapshots and values go everywhere`() throws {
        let talk = try SwiftCompiler.talk(
            about: Self.classes + """
                struct Card: Sendable, Codable {
                    let name: String
                    let id: ManagedObjectID
                }

                func values(_ context: ManagedObjectContext, _ registry: Registry) async throws {
                    let id = try await context.perform { Person(context: context).objectID }
                    let snapshot = try await context.perform { try Person(context: context).snapshot() }
                    let others = try await registry.snapshots()
                    let task = Task.detached {
                        (id, snapshot.name, others.map(\\.name), try await registry.identifiers())
                    }
                    _ = try await task.value
                    await MainActor.run { print(snapshot.name) }
                    for try await name in context.stream(FetchRequest<Person>(), { $0.name }) { print(name) }
                    let progress = Progress(totalUnitCount: 1)
                    let cards = try await context.fetch(FetchRequest<Person>(), reporting: progress) {
                        Card(name: $0.name, id: $0.objectID)
                    }
                    print(cards)
                }

                @MainActor func objectsInTheirActor(_ context: ManagedObjectContext) async throws {
                    for try await person in context.stream(FetchRequest<Person>()) { take(person) }
                    let progress = Progress(totalUnitCount: 1)
                    for person in try await context.fetch(FetchRequest<Person>(), reporting: progress) {
                        take(person)
                    }
                }
                """, examining: .sending)
        #expect(talk.isEmpty, "\(talk)")
    }
}
