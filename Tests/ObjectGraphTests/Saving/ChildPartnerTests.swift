import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// Partners, a relationship that is its own inverse, where a child and its parent both make pairs.
struct ChildPartnerTests {
    /// A root in which ann and bob were paired after a child has read that nobody is paired.
    private struct Case {
        let store: ClubStore
        let root: ManagedObjectContext
        let child: ManagedObjectContext
        let names = ["ann", "bob", "cleo"]

        init(_ policy: MergePolicy) throws {
            store = try ClubStore()
            let names = names
            try store.inContext { context in
                for name in names { Player(context: context).name = name }
                try context.save()
            }
            root = store.container.newBackgroundContext()
            child = ManagedObjectContext(parent: root)
            child.mergePolicy = policy
            child.retainsRegisteredObjects = true
            try child.performAndWait { () throws in
                for player in try child.fetch(FetchRequest<Player>()) {
                    #expect(player.partner == nil)
                }
            }
            try root.performAndWait { () throws in
                try root.player("ann").partner = try root.player("bob")
                root.processPendingChanges()
            }
        }

        /// Who is paired with whom.
        func pairs(in context: ManagedObjectContext) throws -> [String: String] {
            try context.performAndWait { () throws in
                var pairs: [String: String] = [:]
                for player in try context.fetch(FetchRequest<Player>()) {
                    pairs[player.name] = player.partner?.name
                }
                return pairs
            }
        }
    }

    @Test(arguments: ["ann", "bob"])
    func `where the child wins both former partners are alone, in the parent and in the store`(
        taken: String
    ) throws {
        let pairing = try Case(.mergeByPropertyObjectTrump)
        try pairing.child.performAndWait { () throws in
            try pairing.child.player("cleo").partner = try pairing.child.player(taken)
            try pairing.child.save()
        }

        let expected = ["cleo": taken, taken: "cleo"]
        #expect(try pairing.pairs(in: pairing.root) == expected)
        try pairing.root.performAndWait { _ = try pairing.root.save() }
        #expect(
            try pairing.pairs(in: pairing.store.container.newBackgroundContext()) == expected)
    }

    @Test(arguments: ["ann", "bob"])
    func `where the parent wins nobody is the partner of two`(taken: String) throws {
        let pairing = try Case(.mergeByPropertyStoreTrump)
        try pairing.child.performAndWait { () throws in
            try pairing.child.player("cleo").partner = try pairing.child.player(taken)
            try pairing.child.save()
        }

        let expected = ["ann": "bob", "bob": "ann"]
        #expect(try pairing.pairs(in: pairing.root) == expected)
        try pairing.root.performAndWait { _ = try pairing.root.save() }
        #expect(
            try pairing.pairs(in: pairing.store.container.newBackgroundContext()) == expected)
    }

    @Test func `the default policy refuses and names the partner that is taken`() throws {
        let pairing = try Case(.error)

        let error = try pairing.child.performAndWait { () throws in
            try pairing.child.player("cleo").partner = try pairing.child.player("bob")
            return #expect(throws: StoreError.self) { try pairing.child.save() }
        }

        #expect(error?.code == .conflict)
        #expect(error?.conflicts.contains { $0.kind == .reference } == true)
        #expect(try pairing.pairs(in: pairing.root) == ["ann": "bob", "bob": "ann"])
    }
}

extension ManagedObjectContext {
    fileprivate func player(_ name: String) throws -> Player {
        try #require(try fetch(FetchRequest<Player>()).first { $0.name == name })
    }
}
