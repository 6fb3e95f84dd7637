import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Laws of classes, and every way in which a program saves.
@Suite struct LawSavingTests {
    class Account: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var balance: Decimal = 0
        @Attribute var isClosed: Bool = false
        @Relationship var parent: Account?

        var title: String { name }

        override class var laws: [Law] {
            [
                Law(
                    "No great loss", \Account.balance, never: .decreased, byMoreThan: 100,
                    unless: .note, .authorIn(["ada"])),
                Law("Closed stays closed", "ONCE isClosed == TRUE ALWAYS"),
            ]
        }
    }

    final class Savings: Account {
        @Attribute var rate: Double = 0

        override class var laws: [Law] {
            super.laws + [Law("Rates stay", \Savings.rate, never: .changed)]
        }
    }

    private let folder: TemporaryDirectory
    private let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("bank.daybook"), model: [Account.self, Savings.self])
    }

    private func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    private func open(_ context: ManagedObjectContext, balance: Decimal = 500) throws -> Savings {
        let account = Savings(context: context)
        account.balance = balance
        try context.save()
        return account
    }

    private func expectRefusal(_ body: () throws -> Void) -> StoreError? {
        let error = #expect(throws: StoreError.self) { try body() }
        #expect(error?.code == .law)
        return error
    }

    /// No entity of a model, so that its law is one of each of its subclasses.
    class Kept: ManagedObject {
        override class var laws: [Law] { [Law("Kept", "NEVER DELETED")] }
    }
    final class Letter: Kept {
        @Attribute var text: String = ""
    }
    final class Parcel: Kept {
        @Attribute var weight: Double = 0
    }

    final class Stricter: Account {
        override class var laws: [Law] {
            super.laws + [
                Law("No great loss", \Account.balance, never: .decreased, byMoreThan: 10)
            ]
        }
    }

    @Test func `classes of a model may have a law from the same class outside of it`() throws {
        let model = try PersistentStoreCoordinator(classes: [Letter.self, Parcel.self])
            .managedObjectModel

        for name in ["Letter", "Parcel"] {
            #expect(model.entitiesByName[name]?.laws == [LawDescription("Kept", "NEVER DELETED")])
        }
    }

    @Test func `a law of a subclass by the name of an inherited one is a mistake and not lost`() {
        let error = #expect(throws: ModelError.self) {
            try PersistentStoreCoordinator(classes: [Account.self, Stricter.self])
        }

        #expect(error?.description.contains("'Stricter' has two laws \"No great loss\"") == true)
    }

    @Test func `classes declare laws, each once, and by the names of properties`() throws {
        let model = container.persistentStoreCoordinator.managedObjectModel

        #expect(
            model.entitiesByName["Account"]?.laws == [
                LawDescription("Closed stays closed", "ONCE isClosed == TRUE ALWAYS"),
                LawDescription(
                    "No great loss",
                    "balance NEVER DECREASED BY MORE THAN 100 UNLESS NOTE OR AUTHOR IN {\"ada\"}"),
            ])
        #expect(
            model.entitiesByName["Savings"]?.laws
                == [LawDescription("Rates stay", "rate NEVER CHANGED")])
    }

    @Test func `a law about what is no property is a mistake of the model`() {
        final class Odd: ManagedObject {
            @Attribute var name: String = ""
            var title: String { name }
            override class var laws: [Law] { [Law("Odd", \Odd.title, never: .changed)] }
        }
        let error = #expect(throws: ModelError.self) {
            try TestContainer.make(inMemory: [Odd.self])
        }
        #expect(
            error?.description.contains("The law \"Odd\" of 'Odd' is about no property") == true)
    }

    @Test func `a refused save loses nothing, and saves once it says what is needed`() throws {
        try inContext { context in
            let account = try open(context)
            account.balance = 100
            account.name = "Ada"

            let error = expectRefusal { try context.save() }

            #expect(context.hasChanges && account.balance == 100 && account.name == "Ada")
            let breach = try #require(error?.breaches.first)
            let stores = container.persistentStoreCoordinator.persistentStores
            #expect(breach.storeIdentifier == stores[0].identifier)
            #expect(breach.description.hasPrefix("Savings/1: balance 500 → 100 breaks the law"))
            #expect(
                error?.message.hasSuffix("or give a note, or the author \"ada\".") == true,
                "\(error?.message ?? "")")
            #expect(try context.save(author: "ada") != nil)
            account.balance = 0
            try context.save()
        }
    }

    @Test func `a child is judged when its changes reach the store`() throws {
        let parent = container.newBackgroundContext()
        try parent.performAndWait { _ = try open(parent) }
        let child = ManagedObjectContext(parent: parent)

        try child.performAndWait {
            let account = try #require(try child.fetch(FetchRequest<Account>()).first)
            account.balance = 0
            try child.save()
        }

        try parent.performAndWait {
            #expect(expectRefusal { try parent.save() }?.breaches.count == 1)
            #expect(parent.hasChanges)
            try parent.save(note: "Withdrawn")
        }
    }

    @Test func `the value that others have saved is what a change starts from`() throws {
        try inContext { context in
            let account = try open(context)
            context.mergePolicy = .mergeByPropertyObjectTrump
            account.balance = 450
            try inContext { other in
                let same = try #require(try other.fetch(FetchRequest<Account>()).first)
                same.balance = 900
                try other.save()
            }

            let error = expectRefusal { try context.save() }

            #expect(error?.breaches.first?.old == .decimal(900))
        }
    }

    @Test func `batches are held to it, as a whole`() throws {
        try inContext { context in
            _ = try open(context)
            _ = try open(context, balance: 50)
            let update = BatchUpdateRequest<Account>(assigning: [.set(\.balance, to: 0)])

            let error = expectRefusal { _ = try context.execute(update) }

            #expect(error?.breaches.count == 1)
            #expect(try context.fetch(FetchRequest<Account>(where: \.balance == 0)).isEmpty)
            context.author = "ada"
            _ = try context.execute(update)
            #expect(try context.count(FetchRequest<Account>(where: \.balance == 0)) == 2)
        }
    }

    @Test func `undo of what was saved is a save like any other`() throws {
        let rise = try inContext { context in
            let account = try open(context)
            account.balance = 900
            return try #require(try context.save())
        }
        let closing = try inContext { context in
            let account = try #require(try context.fetch(FetchRequest<Account>()).first)
            account.isClosed = true
            return try #require(try context.save())
        }

        #expect(expectRefusal { try container.undo(closing, note: "Why not") } != nil)
        #expect(expectRefusal { try container.undo(rise) } != nil)
        try container.undo(rise, note: "A mistake")

        try inContext { context in
            let account = try #require(try context.fetch(FetchRequest<Account>()).first)
            #expect(account.balance == 500 && account.isClosed)
            account.isClosed = false
            #expect(expectRefusal { try context.save() } != nil)
            context.rollback()
            #expect(account.isClosed)
        }
        #expect(try container.breaches().isEmpty)
    }

    @Test func `the past is judged by any law, with entry, author and note`() throws {
        let sequence = try inContext { context in
            let account = try open(context)
            account.balance = 400
            return try #require(
                try context.save(author: "bob", note: "Fee", info: ["ticket": "7"]))
        }
        let store = container.persistentStoreCoordinator.persistentStores[0]
        let law = Law("Balances stay", \Account.balance, never: .decreased)

        let found = try store.breaches(of: law, by: Account.self)

        let breach = try #require(found.first)
        #expect(found.count == 1 && breach.sequence == sequence)
        #expect(breach.author == "bob" && breach.note == "Fee" && breach.info == ["ticket": "7"])
        #expect(breach.objectID.entityName == "Savings")
        #expect(breach.breach.old == .decimal(500) && breach.breach.new == .decimal(400))
        #expect(breach.description.hasPrefix("entry \(sequence) by 'bob' at "))
        #expect(throws: QueryError.self) {
            try store.breaches(of: Law("Bad", "balance FALLS"), by: Account.self)
        }
        #expect(throws: QueryError.self) {
            try store.breaches(of: Law("Bad", \Account.title, never: .changed), by: Account.self)
        }
        #expect(throws: StoreError.self) {
            try store.breaches(of: Law("Bad", "NEVER DELETED"), by: Employee.self)
        }
    }
}
