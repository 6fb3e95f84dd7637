import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// A reader's position, kept in the store.
@Suite struct CursorTests {
    @Test func `a cursor stays where it was set, even after the store is reopened`() throws {
        let temporary = try TemporaryStore(.sample)
        let head = try temporary.store.head()

        try temporary.store.setCursor("billing", to: .zero)
        try temporary.store.setCursor("billing", to: head)
        try temporary.store.setCursor("archive", to: .zero)

        let again = try TestStore.open(at: temporary.path)
        #expect(try again.position(ofCursor: "billing") == head)
        #expect(try again.position(ofCursor: "archive") == .zero)
        #expect(try again.position(ofCursor: "nobody") == nil)
        #expect(try again.cursors().map(\.name) == ["archive", "billing"])
    }

    @Test func `a cursor can be forgotten`() throws {
        let temporary = try TemporaryStore(.sample)
        try temporary.store.setCursor("billing", to: .zero)

        try temporary.store.setCursor("billing", to: nil)

        #expect(try temporary.store.cursors().isEmpty)
    }

    @Test func `a cursor is not set after the head`() throws {
        let temporary = try TemporaryStore(.sample)
        let head = try temporary.store.head()

        let error = #expect(throws: StoreError.self) {
            try temporary.store.setCursor("billing", to: head.next)
        }

        #expect(error?.code == .noSuchEntry)
        #expect(try temporary.store.cursors().isEmpty)
    }

    @Test func `setting a cursor does not move the head or break verification`() throws {
        let temporary = try TemporaryStore(.sample)
        let head = try temporary.store.head()

        try temporary.store.setCursor("billing", to: head)

        #expect(try temporary.store.head() == head)
        #expect(try Store.verify(path: temporary.path).findings.isEmpty)
    }

    @Test func `a cursor does not move with the entry of a stage, and nothing is saved`() throws {
        let temporary = try TemporaryStore(.sample)
        var model = ManagedObjectModel.sample
        model.entities.append(EntityDescription(name: "Remark"))
        let (staged, base) = try temporary.store.staged(to: model, as: "Remarks")
        var request = SaveRequest()
        request.cursor = CursorMove(
            of: "billing", from: nil,
            to: StoreCursor(name: "billing", at: try staged.place(after: base)))

        let error = #expect(throws: StoreError.self) { try staged.commit(request) }

        #expect(error?.code == .model)
        #expect(try temporary.store.head() == base)
        #expect(try temporary.store.cursors().isEmpty)
        try staged.close()
    }
}
