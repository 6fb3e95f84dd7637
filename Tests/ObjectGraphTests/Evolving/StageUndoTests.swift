import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Custom stages are taken back with the model that they have set.
@Suite struct StageUndoTests {
    /// Every object with its values and members, by the model in force.
    private func contents(_ file: LibraryFile) throws -> [String: ObjectState] {
        try file.store { store in
            try store.read { snapshot in
                var found: [String: ObjectState] = [:]
                for entity in snapshot.schema.entities {
                    try snapshot.objects(of: [entity.number]) { object in
                        found[snapshot.schema.name(of: object)] = try snapshot.state(of: object)
                        return .proceed
                    }
                }
                return found
            }
        }
    }

    private func undo(_ sequence: UInt64, _ file: LibraryFile) throws {
        let store = try TestStore.open(at: file.path)
        try store.commit(try store.undoRequest(of: SequenceNumber(sequence)))
        try store.close()
    }

    @Test func `undoing a custom stage brings back the model, the values and the deleted objects`()
        throws
    {
        let file = try LibraryFile()
        try file.fill()
        let first = try contents(file)
        try file.program(LibraryPlan.self) { _ in }

        try undo(5, file)
        try undo(4, file)
        try undo(3, file)

        let back = try contents(file)
        #expect(Set(back.keys) == Set(first.keys))
        for (name, state) in first {
            let values = try #require(back[name]?.values)
            // Rows go on having the fields of what was removed, and nobody is shown it.
            let rest = values.dropFirst(state.values.count).filter { !$0.isNull }
            #expect(Array(values.prefix(state.values.count)) == state.values, "\(name)")
            #expect(rest.isEmpty, "\(name)")
            #expect(back[name]?.members == state.members, "\(name)")
        }
        try file.program(LibraryV1.self) { context throws in
            let persons = try context.fetch(FetchRequest<LibraryV1.Person>())
            #expect(
                persons.map(\.name).sorted() == ["Ada Lovelace", "Homer", "Jane Austen"])
            #expect(persons.map(\.books.count) == [1, 1, 1])
            let books = try context.fetch(FetchRequest<LibraryV1.Book>())
            #expect(
                books.map { "\($0.isbn)\($0.shelf ?? "-")" }.sorted() == ["0A", "1B", "2-", "3A"])
            persons.first?.name = "Somebody"
            try context.save()
        }
        #expect(try Store.verify(path: file.path).isSound)
    }

    @Test func `a program of the version that was taken back can no longer save`() throws {
        let file = try LibraryFile()
        try file.fill()
        let newer = try TestContainer.make(file.url, migrationPlan: ShortPlan.self)
        let context = newer.newBackgroundContext()
        try undo(3, file)

        try context.performAndWait { () throws in
            LibraryV2.Person(context: context).lastName = "Late"
            let error = try #require(throws: StoreError.self) { try context.save() }
            #expect(error.code == .modelSuperseded)
            #expect(error.message.contains("entry 4"))
        }
        try LibraryFile.close(newer)
    }

    @Test func `a context does not take back, or redo, an entry that sets a model`() throws {
        let file = try LibraryFile()
        try file.fill()
        try file.program(LibraryPlan.self) { context throws in
            let error = try #require(throws: StoreError.self) {
                try context.undo(entry: SequenceNumber(5))
            }
            #expect(error.code == .undoBlocked)
            #expect(error.message.contains("Entry 5 sets a model"))
            #expect(!context.hasChanges)
        }
        try undo(5, file)
        try file.program(LibraryV3.self) { context throws in
            let five = SequenceNumber(5)...SequenceNumber(5)
            let error = try #require(throws: StoreError.self) { try context.redo(entries: five) }
            #expect(error.code == .undoBlocked)
            #expect(error.message.contains("Entry 6 sets a model"))
            #expect(!context.hasChanges)
        }
    }

    @Test func `a stage is not taken back when later entries have changed what it made`() throws {
        let file = try LibraryFile()
        try file.fill()
        try file.program(LibraryPlan.self) { context throws in
            let shelf = try #require(try context.fetch(FetchRequest<LibraryV4.Shelf>()).first)
            shelf.label = "Z"
            try context.save(author: "mover")
        }

        let error = try #require(throws: StoreError.self) { try undo(5, file) }

        #expect(error.code == .undoBlocked)
        #expect(error.details.contains { $0.contains("Entry 6 by mover") })
        #expect(try file.head() == 6)
        try undo(6, file)
        try undo(5, file)
        try file.program(LibraryV3.self) { context throws in
            #expect(try context.count(FetchRequest<LibraryV3.Book>()) == 4)
        }
    }

    @Test func `a stage is not taken back when later entries use values that it has changed`()
        throws
    {
        enum Before: VersionedSchema {
            static let models: [ManagedObject.Type] = [Note.self]
            final class Note: ManagedObject { @Attribute var text: String = "" }
        }
        enum After: VersionedSchema {
            static let models: [ManagedObject.Type] = [Note.self]
            final class Note: ManagedObject {
                @Attribute var text: String = ""
                @Attribute var length: Int?
            }
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [Before.self, After.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: Before.self, toVersion: After.self) { _, new in
                    for note in try new.fetch(FetchRequest<After.Note>()) {
                        note.text = note.text.uppercased()
                    }
                }
            ]
        }
        let file = try LibraryFile()
        try file.program(Before.self) { context throws in
            Before.Note(context: context).text = "four"
            try context.save()
        }
        try file.program(Plan.self) { context throws in
            let notes = try context.fetch(FetchRequest<After.Note>())
            #expect(notes.map(\.text) == ["FOUR"])
            notes.first?.text = "FIVE"
            try context.save(author: "Ada")
        }

        let error = try #require(throws: StoreError.self) { try undo(3, file) }
        #expect(error.code == .undoBlocked)
        #expect(error.details.contains { $0.contains("Entry 4 by Ada") })
        try undo(4, file)
        try undo(3, file)

        try file.program(Before.self) { context throws in
            #expect(try context.fetch(FetchRequest<Before.Note>()).map(\.text) == ["four"])
        }
    }
}
