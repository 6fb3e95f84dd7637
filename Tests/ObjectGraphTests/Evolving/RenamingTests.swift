import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The classes of a library as its first program has them.
private enum Older {
    final class Reader: ManagedObject {
        @Attribute(.unique) var name: String
        @Attribute var visits: Int = 0
        @Relationship(inverse: \Volume.holder) var volumes: Set<Volume>
        @Relationship(inverse: .itself) var friends: Set<Reader>
    }
    final class Volume: ManagedObject {
        @Attribute var label: String = ""
        @Relationship var holder: Reader?
        @Relationship var wishers: [Reader]
    }
    static let classes = [Reader.self, Volume.self]
}

/// The same after everything has got another name.
private enum Newer {
    final class Member: ManagedObject {
        @Attribute([.unique, .renamed("name")]) var title: String
        @Attribute var visits: Int = 0
        @Relationship(.renamed("volumes"), inverse: \Book.borrower) var books: Set<Book>
        @Relationship(.renamed("friends"), inverse: .itself) var peers: Set<Member>

        override class var renamingIdentifier: String? { "Reader" }
    }
    final class Book: ManagedObject {
        @Attribute(.renamed("label")) var heading: String = ""
        @Relationship(.renamed("holder")) var borrower: Member?
        @Relationship(.renamed("wishers")) var queue: [Member]

        override class var renamingIdentifier: String? { "Volume" }
    }
    static let classes = [Member.self, Book.self]
}

/// The first program's reader with only one attribute renamed, in a class of another name.
private enum Between {
    final class Person: ManagedObject {
        @Attribute([.unique, .renamed("name")]) var title: String
        @Attribute var visits: Int = 0
        @Relationship(inverse: \Volume.holder) var volumes: Set<Volume>
        @Relationship(inverse: .itself) var friends: Set<Person>

        override class var entityName: String { "Reader" }
    }
    final class Volume: ManagedObject {
        @Attribute var label: String = ""
        @Relationship var holder: Person?
        @Relationship var wishers: [Person]
    }
    static let classes = [Person.self, Volume.self]
}

/// Programs with different models that open one file in turn.
private final class SharedFile {
    private let folder: TemporaryDirectory
    private var url: URL { folder.url.appendingPathComponent("library.daybook") }

    init() throws { folder = try TemporaryDirectory() }

    /// Runs a program from opening to closing.
    func program<Result>(
        with classes: [ManagedObject.Type], _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let container = try TestContainer.make(url, model: classes)
        let context = container.newBackgroundContext()
        let result = try context.performAndWait { try body(context) }
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        return result
    }

    /// Opens the file and leaves it open.
    func open(_ classes: [ManagedObject.Type]) throws -> PersistentContainer {
        try TestContainer.make(url, model: classes)
    }

    /// The first program's library.
    func fill() throws {
        try program(with: Older.classes) { context in
            let ada = Older.Reader(context: context)
            ada.name = "Ada"
            ada.visits = 3
            let bob = Older.Reader(context: context)
            bob.name = "Bob"
            ada.friends = [bob]
            let volume = Older.Volume(context: context)
            volume.label = "Emma"
            volume.holder = ada
            volume.wishers = [bob, ada]
            try context.save()
        }
    }
}

@Suite struct RenamingTests {
    @Test func `a renamed attribute has the values that it had under its earlier name`() throws {
        let file = try SharedFile()
        try file.fill()

        try file.program(with: Between.classes) { context in
            let request = FetchRequest<Between.Person>(where: \Between.Person.title == "Ada")
            let ada = try #require(try context.fetch(request).first)
            #expect(ada.visits == 3)
            #expect(ada.friends.map(\.title) == ["Bob"])
            #expect(ada.volumes.map(\.label) == ["Emma"])
            ada.title = "Ada L."
            try context.save()
        }
        try file.program(with: Between.classes) { context in
            let names = try context.fetch(FetchRequest<Between.Person>()).map(\.title)
            #expect(Set(names) == ["Ada L.", "Bob"])
        }
    }

    @Test func `renamed entities and relationships lead to what they led to`() throws {
        let file = try SharedFile()
        try file.fill()

        try file.program(with: Newer.classes) { context in
            let book = try #require(try context.fetch(FetchRequest<Newer.Book>()).first)

            #expect(book.heading == "Emma")
            #expect(book.borrower?.title == "Ada")
            #expect(book.queue.map(\.title) == ["Bob", "Ada"])
            #expect(book.borrower?.books == [book])
            #expect(book.borrower?.peers.map(\.title) == ["Bob"])
        }
    }

    @Test func `an older program reads and writes under its names after a newer one has renamed`()
        throws
    {
        let file = try SharedFile()
        try file.fill()
        try file.program(with: Newer.classes) { context in
            let bob = try #require(
                try context.fetch(FetchRequest<Newer.Member>(where: \Newer.Member.title == "Bob"))
                    .first)
            bob.visits = 8
            bob.books = Set(try context.fetch(FetchRequest<Newer.Book>()))
            try context.save()
        }

        try file.program(with: Older.classes) { context in
            let volume = try #require(try context.fetch(FetchRequest<Older.Volume>()).first)
            #expect(volume.holder?.name == "Bob")
            #expect(volume.holder?.visits == 8)
            volume.label = "Persuasion"
            volume.wishers.removeLast()
            let cleo = Older.Reader(context: context)
            cleo.name = "Cleo"
            cleo.friends = [try #require(volume.holder)]
            try context.save()
        }

        try file.program(with: Newer.classes) { context in
            let book = try #require(try context.fetch(FetchRequest<Newer.Book>()).first)
            #expect(book.heading == "Persuasion")
            #expect(book.queue.map(\.title) == ["Bob"])
            #expect(Set(book.borrower?.peers.map(\.title) ?? []) == ["Ada", "Cleo"])
            #expect(try context.fetch(FetchRequest<Newer.Member>()).count == 3)
        }
    }

    @Test func `an older and a newer program that are open at once see what the other saves`()
        throws
    {
        let file = try SharedFile()
        try file.fill()
        let older = try file.open(Older.classes)
        let newer = try file.open(Newer.classes)
        let olderContext = older.newBackgroundContext()
        let newerContext = newer.newBackgroundContext()

        for round in 1...3 {
            try olderContext.performAndWait { () throws in
                _ = try olderContext.mergeChanges()
                let ada = try #require(
                    try olderContext.fetch(
                        FetchRequest<Older.Reader>(where: \Older.Reader.name == "Ada")
                    ).first)
                #expect(ada.visits == 3 + 2 * (round - 1))
                ada.visits += 1
                try olderContext.save()
            }
            try newerContext.performAndWait { () throws in
                _ = try newerContext.mergeChanges()
                let ada = try #require(
                    try newerContext.fetch(
                        FetchRequest<Newer.Member>(where: \Newer.Member.title == "Ada")
                    ).first)
                #expect(ada.visits == 4 + 2 * (round - 1))
                ada.visits += 1
                try newerContext.save()
            }
        }
    }

    @Test func `values of before a renaming are read in the past under today's names`() throws {
        let file = try SharedFile()
        try file.fill()
        try file.program(with: Newer.classes) { context in
            for member in try context.fetch(FetchRequest<Newer.Member>()) { member.title += "!" }
            try context.save()
        }

        let container = try file.open(Newer.classes)
        let past = try container.context(at: .sequence(SequenceNumber(2)))
        try past.performAndWait { () throws in
            let titles = try past.fetch(FetchRequest<Newer.Member>()).map(\.title)
            #expect(Set(titles) == ["Ada", "Bob"])
        }
    }

    @Test func `an identifier kept as text or coded leads to its object after a rename`() throws {
        let file = try SharedFile()
        try file.fill()
        let (uri, coded) = try file.program(with: Older.classes) { context in
            let request = FetchRequest<Older.Reader>(where: \Older.Reader.name == "Ada")
            let id = try #require(try context.fetch(request).first).objectID
            return (id.uriRepresentation(), try JSONEncoder().encode(id))
        }
        let newer = try file.open(Newer.classes)
        let context = newer.newBackgroundContext()

        let id = try #require(
            newer.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
        let decoded = try JSONDecoder().decode(ManagedObjectID.self, from: coded)

        #expect(id.entityName == "Member")
        #expect(id == decoded)
        try context.performAndWait {
            for id in [id, decoded] {
                let ada = try #require(try context.existingObject(with: id) as? Newer.Member)
                #expect(ada.title == "Ada")
            }
        }
    }

    @Test func `a context of the past shows names, and what was removed, as they were then`() throws
    {
        let file = try SharedFile()
        try file.fill()
        let first = try file.open(Older.classes).persistentStoreCoordinator.persistentStores[0]
            .head()
        try file.program(with: Newer.classes) { _ in }
        let newer = try file.open(Newer.classes)

        let then = try newer.context(at: .sequence(first), model: .then)
        let today = try newer.context(at: .sequence(first), model: .current)

        try then.performAndWait {
            let readers = try then.fetch(FetchRequest<ManagedObject>(entityName: "Reader"))
            #expect(
                Set(readers.compactMap { $0.value(forKey: "name") as? String }) == ["Ada", "Bob"])
            let volume = try #require(
                try then.fetch(FetchRequest<ManagedObject>(entityName: "Volume")).first)
            let holder = try #require(volume.value(forKey: "holder") as? ManagedObject)
            #expect(holder.value(forKey: "visits") as? Int64 == 3)
            let uri = holder.objectID.uriRepresentation()
            #expect(uri.absoluteString.contains("/Reader/"))
            let same = newer.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
            #expect(same == holder.objectID)
        }
        try today.performAndWait {
            let names = try today.fetch(FetchRequest<Newer.Member>()).map(\.title)
            #expect(Set(names) == ["Ada", "Bob"])
        }
    }

    @Test func `opening with another model reports its progress and can be cancelled`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("s.daybook")
        func model(indexed: Bool) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "A",
                    attributes: [
                        AttributeDescription(name: "x", type: .string, isIndexed: indexed)
                    ])
            ])
        }
        let old = try TestContainer.make(url, managedObjectModel: model(indexed: false))
        let entity = try #require(
            old.persistentStoreCoordinator.managedObjectModel.entitiesByName["A"])
        let head = try old.performAndSave { context in
            for number in 0..<10 {
                let object = ManagedObject(entity: entity, insertInto: context)
                object.setValue("\(number)", forKey: "x")
            }
        }
        var options = PersistentStoreOptions()
        let cancelled = Progress(totalUnitCount: 0)
        cancelled.cancel()
        options.migrationProgress = cancelled

        let refusal = #expect(throws: StoreError.self) {
            try TestContainer.make(
                url, managedObjectModel: model(indexed: true), options: options)
        }
        let progress = Progress(totalUnitCount: 0)
        options.migrationProgress = progress
        let new = try TestContainer.make(
            url, managedObjectModel: model(indexed: true), options: options)

        #expect(refusal?.code == .cancelled)
        #expect(progress.completedUnitCount == progress.totalUnitCount)
        #expect(progress.totalUnitCount > 0)
        #expect(try new.persistentStoreCoordinator.persistentStores[0].head() == head.next)
    }
}

extension PersistentContainer {
    /// Saves what `body` does.
    fileprivate func performAndSave(
        _ body: (ManagedObjectContext) throws -> Void
    ) throws -> SequenceNumber {
        let context = newBackgroundContext()
        try context.performAndWait {
            try body(context)
            try context.save()
        }
        return try persistentStoreCoordinator.persistentStores[0].head()
    }
}
