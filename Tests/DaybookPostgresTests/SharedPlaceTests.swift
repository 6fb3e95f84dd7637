import DaybookPostgres
import DaybookSnapshotStore
import Testing

/// How the place of a shared store is written.
@Suite struct SharedPlaceTests {
    @Test(arguments: [
        "postgresql://ada:tr0ub4dor@db/books?sslmode=require&store=iso",
        "postgresql:host=db password=tr0ub4dor",
        "host=db password=tr0ub4dor?store=iso",
        "postgresql://ada@db/books?store=iso&password=tr0ub4dor",
        "postgresql://ada:tr0ub4dor@db/books?store=",
        "postgresql://ada:tr0ub4dor@db/books?store=iso",
    ])
    func `a place with a password in it is refused without repeating it`(_ text: String) {
        let error = #expect(throws: SharedJournalError.self) { try SharedPlace(parsing: text) }

        #expect(error?.code == .refused)
        #expect(error?.message.contains("tr0ub4dor") == false)
    }

    @Test func `a text that is no place is answered with the form of one`() {
        let error = #expect(throws: SharedJournalError.self) { try SharedPlace(parsing: "iso") }

        #expect(error?.message.contains("'postgresql:service=ledger?store=iso'") == true)
    }
}
