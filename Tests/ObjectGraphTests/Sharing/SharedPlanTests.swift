import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Plans by which a program brings a shared store to its version.
@Suite struct SharedPlanTests {
    private let server = ScriptedServer()

    private func options(_ name: String) -> PersistentStoreOptions {
        let link = SharedLink(
            to: "scripted", identify: { [server] in server.identity },
            connect: { [server] _, _ in ScriptedJournal(server, login: name) })
        var options = PersistentStoreOptions()
        options.sharing = StoreSharing(link)
        return options
    }

    @Test func `a plan takes a shared store to the program's version, on every machine`() throws {
        let (ada, ben) = (try LibraryFile(), try LibraryFile())
        try ada.program({
            try TestContainer.make($0, model: LibraryV1.models, options: options("ada"))
        }) { context in
            for name in ["Homer", "Jane Austen"] {
                let person = LibraryV1.Person(context: context)
                person.name = name
            }
            try context.save()
        }

        let taken = try ada.program({
            try TestContainer.make($0, migrationPlan: LibraryPlan.self, options: options("ada"))
        }) { context in try context.count(FetchRequest<LibraryV4.Person>()) }
        let found = try ben.program({
            try TestContainer.make($0, migrationPlan: LibraryPlan.self, options: options("ben"))
        }) { context in try context.count(FetchRequest<LibraryV4.Person>()) }

        #expect((taken, found) == (2, 2))
        #expect(Set(server.entries.map(\.login)) == ["ada"])
        let stores = try [ada, ben].map {
            try TestStore.open(at: $0.path, options: StoreOptions(isReadOnly: true))
        }
        #expect(try stores[0].headDigest() == stores[1].headDigest())
        #expect(try stores[0].headDigest() == server.head.digest)
    }
}
