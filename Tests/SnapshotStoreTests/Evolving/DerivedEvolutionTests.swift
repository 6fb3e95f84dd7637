import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@Suite struct DerivedEvolutionTests {
    private func shelf(_ derived: AttributeDescription...) -> EntityDescription {
        EntityDescription(
            name: "Shelf",
            attributes: [AttributeDescription(name: "name", type: .string)] + derived,
            relationships: [
                RelationshipDescription(
                    name: "books", destinationName: "Book", inverseName: "shelf", isToMany: true)
            ])
    }

    private func book(_ pages: AttributeType = .int64) -> EntityDescription {
        EntityDescription(
            name: "Book", attributes: [AttributeDescription(name: "pages", type: pages)],
            relationships: [
                RelationshipDescription(
                    name: "shelf", destinationName: "Shelf", inverseName: "books")
            ])
    }

    private func derived(
        _ text: String, _ type: AttributeType = .int64, isIndexed: Bool = false
    ) -> AttributeDescription {
        AttributeDescription(
            name: "found", type: type, isIndexed: isIndexed, derivation: Derivation(text))
    }

    /// A store with a shelf of two books, and an empty one.
    private func filled(
        _ shelf: EntityDescription
    ) throws -> (Evolving, full: ObjectID, empty: ObjectID) {
        let evolving = try Evolving(shelf, book())
        let store = evolving.store
        let full = try store.add("Shelf", ["name": .string("Á")])
        let empty = try store.add("Shelf")
        try store.add("Book", ["shelf": .object(full), "pages": .int(100)])
        try store.add("Book", ["shelf": .object(full), "pages": .int(20)])
        return (evolving, full, empty)
    }

    /// Checks that folding the journal again gives the same tables.
    private func checkReplay(_ store: Store) throws {
        #expect(try store.verify().isSound)
        let digests = try store.projectionDigest()
        try store.rebuild()
        #expect(try store.projectionDigest() == digests)
    }

    @Test func `a derived attribute that is added has its values for every object`() throws {
        let (evolving, full, empty) = try filled(shelf())
        let before = try evolving.store.head()

        let store = try evolving.open(shelf(derived("books.pages.@sum", isIndexed: true)), book())

        #expect(try store.head() == before.next)
        #expect(try store.value("found", of: full) == .int(120))
        #expect(try store.value("found", of: empty) == .int(0))
        #expect(try store.found("Shelf", "found > 100") == [full])
        let property = store.property("found", of: full)
        #expect(try store.read(at: before) { try $0.value(of: property, in: full) } == .null)
        try checkReplay(store)
    }

    @Test func `another expression is worked out anew, and the step says so`() throws {
        let (evolving, full, empty) = try filled(shelf(derived("books.pages.@sum")))

        let changed = shelf(derived("books.pages.@min"))
        let store = try evolving.open(changed, book(), migration: .compatible)

        #expect(try store.value("found", of: full) == .int(20))
        #expect(try store.value("found", of: empty) == .null)
        let steps = store.schema.steps(from: evolving.openings[0].schema)
        #expect(steps.map(\.kind) == [.changeDerivation])
        #expect(
            steps.map(\.description) == ["derive 'Shelf.found' from 'books.pages.@min'"])
        try checkReplay(store)
    }

    @Test func `values that are worked out anew are not judged by what they were before`() throws {
        let (evolving, full, _) = try filled(shelf(derived("books.pages.@sum")))
        try evolving.store.add("Book", ["shelf": .object(full), "pages": .int(40_000)])

        let store = try evolving.open(shelf(derived("books.@count", .int16)), book())

        #expect(try store.value("found", of: full) == .int(3))
        try checkReplay(store)
    }

    @Test func `values that are worked out anew and do not fit are refused`() throws {
        let (evolving, full, _) = try filled(shelf(derived("books.@count")))
        try evolving.store.add("Book", ["shelf": .object(full), "pages": .int(40_000)])
        let head = try evolving.store.head()

        let error = #expect(throws: StoreError.self) {
            try evolving.open(shelf(derived("books.pages.@sum", .int16)), book())
        }

        #expect(error?.code == .validation)
        #expect(try evolving.store.head() == head)
    }

    @Test func `an attribute that was set and becomes derived is another attribute`() throws {
        let plain = AttributeDescription(name: "found", type: .int64)
        let (evolving, full, _) = try filled(shelf(plain))
        try evolving.store.set(full, "found", .int(7))

        let store = try evolving.open(shelf(derived("books.@count")), book())
        #expect(try store.value("found", of: full) == .int(2))

        let migration = try store.head()
        try store.commit(store.undoRequest(of: migration))
        try evolving.open(shelf(plain), book())
        #expect(try evolving.store.value("found", of: full) == .int(7))
        try checkReplay(evolving.store)
    }

    @Test func `a derived attribute that is removed and comes back has the values of today`() throws
    {
        let (evolving, full, _) = try filled(shelf(derived("books.@count")))
        try evolving.open(shelf(), book())
        let removal = try evolving.store.head()
        try evolving.store.add("Book", ["shelf": .object(full)])

        try evolving.store.commit(evolving.store.undoRequest(of: removal))

        let store = try evolving.open(shelf(derived("books.@count")), book())
        #expect(try store.value("found", of: full) == .int(3))
        try checkReplay(store)
    }

    @Test func `undoing the entry that added a derived attribute takes it away`() throws {
        let (evolving, full, _) = try filled(shelf())
        let store = try evolving.open(shelf(derived("books.@count")), book())
        let migration = try store.head()
        try store.add("Book", ["shelf": .object(full)])

        try store.commit(store.undoRequest(of: migration))

        let after = try evolving.open(shelf(), book())
        #expect(after.schema.derivations.isEmpty)
        try checkReplay(after)
    }

    @Test func `an older program keeps up what it does not know`() throws {
        let (evolving, full, _) = try filled(shelf())
        let older = evolving.store
        let newer = try evolving.open(
            shelf(derived("books.pages.@max")), book(), migration: .compatible)

        let book = try older.add("Book", ["shelf": .object(full), "pages": .int(500)])
        #expect(try newer.value("found", of: full) == .int(500))
        let shelf = try older.add("Shelf")
        #expect(try newer.value("found", of: shelf) == .null)
        try older.set(book, "shelf", .object(shelf))
        #expect(try newer.value("found", of: full) == .int(100))
        #expect(try newer.value("found", of: shelf) == .int(500))
        try older.set(full, "name", .string("B"))
        try older.remove(book)
        #expect(try newer.value("found", of: shelf) == .null)
        try checkReplay(newer)
    }

    @Test func `what a source is converted to is what is summed`() throws {
        let (evolving, full, _) = try filled(shelf(derived("books.pages.@sum")))

        let store = try evolving.open(
            shelf(derived("books.pages.@sum", .decimal)), book(.decimal))

        #expect(try store.value("found", of: full) == .decimal(120))
        try store.add("Book", ["shelf": .object(full), "pages": .decimal(0.5)])
        #expect(try store.value("found", of: full) == .decimal(120.5))
        try checkReplay(store)
    }

    @Test func `objects that come under an entity with a derived attribute have it`() throws {
        let plain = EntityDescription(
            name: "Box", attributes: [AttributeDescription(name: "name", type: .string)])
        let evolving = try Evolving(
            plain,
            EntityDescription(
                name: "Crate", attributes: [AttributeDescription(name: "label", type: .string)]))
        let crate = try evolving.store.add("Crate", ["label": .string("Ü")])

        let thing = EntityDescription(
            name: "Thing",
            attributes: [
                AttributeDescription(name: "label", type: .string),
                AttributeDescription(
                    name: "key", type: .string,
                    derivation: .text(.canonical, attribute: "label")),
            ])
        let store = try evolving.open(
            plain, thing, EntityDescription(name: "Crate", superentityName: "Thing"))

        #expect(try store.value("label", of: crate) == .string("Ü"))
        #expect(try store.value("key", of: crate) == .string("u"))
        try checkReplay(store)
    }
}
