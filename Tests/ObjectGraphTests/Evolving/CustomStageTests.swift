import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// What the closure of a custom stage sees, and what becomes of what it does.
@Suite struct CustomStageTests {
    @Test
    func `the contexts of a stage show the rows by their versions, and the old one cannot save`()
        throws
    {
        enum Plan: SchemaMigrationPlan {
            static let seen = Mutex<[String]>([])
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self) { old, new in
                    let homer = try old.fetch(
                        FetchRequest<LibraryV1.Person>(where: \LibraryV1.Person.name == "Homer"))
                    let same = homer.first.flatMap { new.object(with: $0.objectID) }
                    let books = (same as? LibraryV2.Person)?.books.map(\.isbn) ?? []
                    homer.first?.name = "Virgil"
                    var outcome = "saved"
                    do {
                        try old.save()
                    } catch let error as StoreError where error.code == .readOnly {
                        outcome = "read only"
                    }
                    let name = same?.value(forKey: "firstName") ?? "none"
                    seen.withLock { [outcome] in $0 = books + ["\(name)", outcome] }
                    try LibraryPlan.split(old, new)
                    try new.save()
                    // Saved into what lies under the context, and not in the store.
                    let last = try new.fetch(
                        FetchRequest<LibraryV2.Person>(
                            where: \LibraryV2.Person.lastName == "Austen"))
                    seen.withLock { $0 += last.compactMap(\.firstName) }
                }
            ]
        }
        let file = try LibraryFile()
        try file.fill()

        try file.program(Plan.self) { _ in }

        #expect(Plan.seen.withLock { $0 } == ["1", "none", "read only", "Jane"])
        #expect(try file.head() == 3)
    }

    @Test func `large data that a stage sets are there afterwards`() throws {
        enum Before: VersionedSchema {
            static let models: [ManagedObject.Type] = [Photo.self]
            final class Photo: ManagedObject {
                @Attribute var seed: Int = 0
            }
        }
        enum After: VersionedSchema {
            static let models: [ManagedObject.Type] = [Photo.self]
            final class Photo: ManagedObject {
                @Attribute var image: Data?
            }
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [Before.self, After.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: Before.self, toVersion: After.self) { old, new in
                    for photo in try old.fetch(FetchRequest<Before.Photo>()) {
                        let same = new.object(with: photo.objectID) as? After.Photo
                        same?.image = Data(repeating: UInt8(photo.seed), count: 200_000)
                    }
                }
            ]
        }
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("photos.daybook")
        do {
            let first = try TestContainer.make(url, model: Before.models)
            let context = first.newBackgroundContext()
            try context.performAndWait { () throws in
                Before.Photo(context: context).seed = 7
                try context.save()
            }
        }

        let container = try TestContainer.make(url, migrationPlan: Plan.self)

        let reading = container.newBackgroundContext()
        let images = try reading.performAndWait {
            try reading.fetch(FetchRequest<After.Photo>()).map(\.image)
        }
        #expect(images == [Data(repeating: 7, count: 200_000)])
        #expect(try Store.verify(path: url.path).findings.isEmpty)
    }

    @Test func `objects that do not fit when the closure is done keep the stage from being taken`()
        throws
    {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self) { _, new in
                    try new.fetch(FetchRequest<LibraryV2.Person>()).first?.lastName = "One"
                }
            ]
        }
        let file = try LibraryFile()
        try file.fill()

        let error = try #require(throws: StoreError.self) {
            try file.program(Plan.self) { _ in }
        }

        #expect(error.code == .validation)
        #expect(error.failures.count == 2)
        #expect(error.details.first?.contains("2 objects do not fit") == true)
        #expect(try file.head() == 2)
        #expect(try Store.verify(path: file.path).isSound)
    }

    @Test func `values that a closure makes equal are found although the index is built with them`()
        throws
    {
        enum Before: VersionedSchema {
            static let models: [ManagedObject.Type] = [Tag.self]
            final class Tag: ManagedObject { @Attribute var word: String = "" }
        }
        enum After: VersionedSchema {
            static let models: [ManagedObject.Type] = [Tag.self]
            final class Tag: ManagedObject { @Attribute(.unique) var word: String }
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [Before.self, After.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: Before.self, toVersion: After.self) { _, new in
                    for tag in try new.fetch(FetchRequest<After.Tag>()) {
                        tag.word = tag.word.lowercased()
                    }
                }
            ]
        }
        enum Merging: SchemaMigrationPlan {
            static let schemas = Plan.schemas
            static let stages: [MigrationStage] = [
                .custom(fromVersion: Before.self, toVersion: After.self) { _, new in
                    var words: Set<String> = []
                    for tag in try new.fetch(FetchRequest<After.Tag>()) {
                        if words.insert(tag.word.lowercased()).inserted {
                            tag.word = tag.word.lowercased()
                        } else {
                            new.delete(tag)
                        }
                    }
                }
            ]
        }
        let file = try LibraryFile()
        try file.program(Before.self) { context throws in
            for word in ["A", "a", "b"] { Before.Tag(context: context).word = word }
            try context.save()
        }

        let error = try #require(throws: StoreError.self) {
            try file.program(Plan.self) { _ in }
        }
        #expect(error.code == .validation)
        #expect(try file.head() == 2)
        try file.program(Merging.self) { context throws in
            let tags = try context.fetch(FetchRequest<After.Tag>())
            #expect(tags.map(\.word).sorted() == ["a", "b"])
        }
        #expect(try Store.verify(path: file.path).isSound)
    }

    @Test func `a stage whose closure changes nothing is an entry all the same`() throws {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [LibraryV2.self, LibraryV3.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: LibraryV2.self, toVersion: LibraryV3.self) { _, _ in }
            ]
        }
        let file = try LibraryFile()
        try file.program(LibraryV2.self) { context throws in
            LibraryV2.Person(context: context).lastName = "Homer"
            try context.save()
        }

        try file.program(Plan.self) { context throws in
            let persons = try context.fetch(FetchRequest<LibraryV3.Person>())
            #expect(persons.map(\.familyName) == ["Homer"])
        }

        #expect(try file.head() == 3)
    }

    @Test func `a closure that throws leaves the store as it was`() throws {
        struct Refusal: Error {}
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self) { old, new in
                    try LibraryPlan.split(old, new)
                    try new.save()
                    throw Refusal()
                }
            ]
        }
        let file = try LibraryFile()
        try file.fill()

        #expect(throws: Refusal.self) { try file.program(Plan.self) { _ in } }

        #expect(try file.head() == 2)
        try file.program(ShortPlan.self) { _ in }
        #expect(try file.head() == 3)
    }

    @Test func `a closure runs again on what others have saved while it ran`() throws {
        enum Plan: SchemaMigrationPlan {
            static let url = Mutex<URL?>(nil)
            static let runs = Mutex<[Int]>([])
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self) { old, new in
                    let count = try old.count(FetchRequest<LibraryV1.Person>())
                    let run = runs.withLock {
                        $0.append(count)
                        return $0.count
                    }
                    if run < 3, let url = url.withLock({ $0 }) {
                        let other = try TestContainer.make(url, model: LibraryV1.models)
                        let context = other.newBackgroundContext()
                        try context.performAndWait { () throws in
                            LibraryV1.Person(context: context).name = "New \(run)"
                            try context.save()
                        }
                        try LibraryFile.close(other)
                    }
                    // What is read stays what it was when the closure began.
                    let later = [
                        try old.count(FetchRequest<LibraryV1.Person>()),
                        try new.count(FetchRequest<LibraryV2.Person>()),
                    ]
                    runs.withLock { $0[run - 1] += later == [count, count] ? 0 : 100 }
                    try LibraryPlan.split(old, new)
                }
            ]
        }
        let file = try LibraryFile()
        try file.fill()
        Plan.url.withLock { $0 = file.url }

        try file.program(Plan.self) { context throws in
            let names = try context.fetch(FetchRequest<LibraryV2.Person>()).map(\.lastName)
            #expect(names.sorted() == ["1", "2", "Austen", "Homer", "Lovelace"])
        }

        #expect(Plan.runs.withLock { $0 } == [3, 4, 5])
        #expect(try file.head() == 5)
    }

    @Test func `a closure that others overtake each time runs as often as it may, and no more`()
        throws
    {
        enum Plan: SchemaMigrationPlan {
            static let url = Mutex<URL?>(nil)
            static let runs = Mutex(0)
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                .custom(
                    fromVersion: LibraryV1.self, toVersion: LibraryV2.self, maxAttempts: 2
                ) { old, new in
                    let run = runs.withLock {
                        $0 += 1
                        return $0
                    }
                    if let url = url.withLock({ $0 }) {
                        let other = try TestContainer.make(url, model: LibraryV1.models)
                        let context = other.newBackgroundContext()
                        try context.performAndWait { () throws in
                            LibraryV1.Person(context: context).name = "New \(run)"
                            try context.save()
                        }
                        try LibraryFile.close(other)
                    }
                    try LibraryPlan.split(old, new)
                }
            ]
        }
        let file = try LibraryFile()
        try file.fill()
        Plan.url.withLock { $0 = file.url }

        let error = try #require(throws: StoreError.self) {
            try file.program(Plan.self) { _ in }
        }

        #expect(error.code == .conflict)
        #expect(Plan.runs.withLock { $0 } == 2)
        #expect(try file.head() == 4)
    }
}
