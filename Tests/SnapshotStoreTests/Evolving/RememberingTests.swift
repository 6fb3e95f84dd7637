import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Questions about a past in which the model was another one, and about many versions of one object.
struct RememberingTests {
    @Test func `the past is read in the model of now`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x"), attribute("gone"), attribute("size", .int64)]))
        let a = try evolving.store.add("A", ["x": .string("one"), "size": .int(2)])
        try evolving.store.set(a, "x", .string("two"))
        try evolving.store.set(a, "size", .int(10))
        let new = try evolving.open(
            entity(
                "A",
                [
                    attribute("added", .int64, default: .int(7)), attribute("size", .double),
                    attribute("y", was: "x"),
                ]))
        try new.set(a, "size", .double(9.5))
        try new.set(a, "added", .int(8))

        #expect(try new.found("A", "EVER y == 'one'") == [a])
        #expect(try new.found("A", "y CHANGED UNTIL 3") == [a])
        #expect(try new.found("A", "WAS size == 2 AT 3") == [a])
        #expect(try new.found("A", "size INCREASED UNTIL 4") == [a])
        #expect(try new.found("A", "size DECREASED SINCE 6") == [a])
        // Older states have what objects from before have, and the migration changed no object.
        #expect(try new.found("A", "WAS added == 7 AT 2") == [a])
        #expect(try new.found("A", "added CHANGED UNTIL 5") == [])
        #expect(try new.found("A", "added INCREASED SINCE 7") == [a])
        #expect(try new.found("A", "size CHANGED SINCE 5 UNTIL 5") == [])
        #expect(throws: QueryError.self) { try new.found("A", "gone CHANGED") }
        let then = try new.withModel(at: SequenceNumber(4))
        #expect(try then.found("A", "EVER x == 'one'") == [a])
    }

    @Test func `subentities are asked in their own places`() throws {
        let evolving = try Evolving(
            entity("Base", [attribute("name")]),
            entity("Sub", under: "Base", [attribute("a", .int64)]),
            entity("Twig", under: "Sub", [attribute("aa", .int64)]))
        let store = evolving.store
        let base = try store.add("Base", ["name": .string("1")])
        let twig = try store.add("Twig", ["name": .string("2"), "a": .int(1), "aa": .int(5)])
        for object in [base, twig] { try store.set(object, "name", .string("3")) }
        try store.set(twig, "a", .int(2))

        #expect(try store.found("Base", "name CHANGED") == [base, twig])
        #expect(try store.found("Base", "EVER name == '2'") == [twig])
        #expect(try store.found("Twig", "a INCREASED AND ALWAYS aa == 5") == [twig])
        #expect(try store.found("Twig", "aa CHANGED") == [])
    }

    @Test func `of many versions only those of the time in question are read, one at a time`()
        throws
    {
        let evolving = try Evolving(entity("A", [attribute("n", .int64), attribute("m", .int64)]))
        let store = evolving.store
        let a = try store.add("A", ["n": .int(0)])
        let other = try store.add("A", ["n": .int(0)])
        for number in 1...2_000 {
            try store.commit(
                SaveRequest(
                    header: EntryHeader(author: number == 700 ? "ada" : "bob"),
                    changes: [
                        store.update(a, "n", from: .int(Int64(number - 1)), to: .int(Int64(number)))
                    ]))
        }

        #expect(try store.found("A", "n DECREASED") == [])
        #expect(try store.found("A", "n CHANGED BY 'ada'") == [a])
        #expect(try store.found("A", "EVER n == 1234") == [a])
        #expect(try store.found("A", "ALWAYS n >= 0") == [a, other])
        #expect(try store.found("A", "WAS n == 1000 AT 1003") == [a])
        let query = try Filter(
            parsing: "n CHANGED SINCE 2000", for: #require(store.schema.entity(named: "A")),
            in: store.schema)
        var sequences: [UInt64] = []
        try store.read { snapshot in
            try snapshot.forEachChange(meeting: query.changesAsked, of: [a, other]) {
                _, change, _ in sequences.append(change.sequence.rawValue)
            }
        }
        #expect(sequences == [2000, 2001, 2002, 2003])
    }

    @Test func `a moment that the store does not know is refused`() throws {
        let evolving = try Evolving(entity("A", [attribute("n", .int64)]))
        let store = evolving.store
        try store.add("A", ["n": .int(0)])

        let error = #expect(throws: StoreError.self) { try store.found("A", "n CHANGED SINCE 9") }
        #expect(error?.code == .noSuchEntry)
        let tag = #expect(throws: StoreError.self) { try store.found("A", "WAS n == 0 AT 'x'") }
        #expect(tag?.code == .noSuchTag)
    }
}
