import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Previews of changes to a store that is open for reading.
@Suite struct ReadOnlyPreviewTests {
    private let set: StoreSet
    private let reader: PersistentStoreCoordinator
    private let store: PersistentStore

    init() throws {
        set = try StoreSet("staff")
        try set.hire("Byron", in: set.coordinator.persistentStores[0])
        reader = try PersistentStoreCoordinator(classes: staff)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        store = try reader.addPersistentStore(at: set.url("staff"), options: options)
    }

    /// Renames the one employee and hires another.
    private func edit(_ context: ManagedObjectContext) throws {
        let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
        ada.lastName = "Lovelace"
        Employee(context: context).lastName = "Babbage"
    }

    @Test func `changes to a store that is only read are refused, previewed or saved`() throws {
        let context = ManagedObjectContext(coordinator: reader)
        try context.performAndWait { () throws in
            try edit(context)
            #expect(try context.previewSave().refusal?.code == .readOnly)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .readOnly)
        }
    }

    @Test func `with imagined numbers they are previewed, and still not saved`() throws {
        let before = try Data(contentsOf: set.url("staff"))
        try store.store.imagineObjectNumbers()
        let context = ManagedObjectContext(coordinator: reader)
        try context.performAndWait { () throws in
            try edit(context)

            let preview = try context.previewSave()

            #expect(preview.refusal == nil)
            #expect(Set(preview.changes.map(\.object)).count == 2)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .readOnly)
        }
        #expect(try Data(contentsOf: set.url("staff")) == before)
    }
}
