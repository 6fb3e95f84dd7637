import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Relationships that become to-one, to-many, ordered or unordered, or are kept at their other end.
@Suite struct RelationshipKindTests {
    /// How a relationship of A to B, and its inverse if it has one, are declared.
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let entities: [EntityDescription]
        /// Whether an A may have several B, and a B several A.
        let (isToMany, isShared): (Bool, Bool)
        let isOrdered: Bool

        init(
            _ title: String, many: Bool = false, ordered: Bool = false, inverse: Bool? = nil,
            inverseOrdered: Bool = false
        ) {
            testDescription = title
            isToMany = many || ordered
            isOrdered = ordered
            isShared = inverse ?? true
            let back = inverse.map {
                relationship("as", "A", inverse: "bs", many: $0, ordered: inverseOrdered)
            }
            entities = [
                entity(
                    "A",
                    to: [
                        relationship(
                            "bs", "B", inverse: back == nil ? nil : "as", many: many,
                            ordered: ordered)
                    ]), entity("B", to: back.map { [$0] } ?? []),
            ]
        }

        var hasInverse: Bool { entities[1].relationships.first != nil }
    }

    static let shapes = [
        Shape("to-one"), Shape("to-many", many: true), Shape("ordered", ordered: true),
        Shape("one to one", inverse: false), Shape("one to many", inverse: true),
        Shape("many to one", many: true, inverse: false),
        Shape("ordered to one", ordered: true, inverse: false),
        Shape("many to many", many: true, inverse: true),
        Shape("ordered to many", ordered: true, inverse: true),
        Shape("many to ordered", many: true, inverse: true, inverseOrdered: true),
    ]

    /// Three A and three B, and who has whom in a way that both shapes allow.
    private struct World {
        let (a, b): ([ObjectID], [ObjectID])
        let links: [[Int]]

        init(_ store: Store, _ shapes: [Shape]) throws {
            let isToMany = shapes.allSatisfy(\.isToMany)
            let isShared = shapes.allSatisfy(\.isShared)
            links =
                switch (isToMany, isShared) {
                case (true, true): [[2, 0], [0, 1], []]
                case (true, false): [[2, 0], [1], []]
                case (false, true): [[2], [2], []]
                case (false, false): [[2], [0], []]
                }
            let b = try (0..<3).map { _ in try store.add("B") }
            self.b = b
            a = try (0..<3).map { _ in try store.add("A") }
            for (index, list) in links.enumerated() {
                try store.link(a[index], to: list.map { b[$0] })
            }
        }

        /// What is there, seen from both ends.
        func expect(
            in store: Store, _ shape: Shape, isOrderKnown: Bool,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            for (index, list) in links.enumerated() {
                let found = try store.others("bs", of: a[index])
                let wanted = list.map { b[$0] }
                if shape.isOrdered, isOrderKnown {
                    #expect(found == wanted, sourceLocation: sourceLocation)
                } else {
                    #expect(found.sorted() == wanted.sorted(), sourceLocation: sourceLocation)
                }
            }
            guard shape.hasInverse else { return }
            for (index, object) in b.enumerated() {
                let owners = links.indices.filter { links[$0].contains(index) }.map { a[$0] }
                let found = try store.others("as", of: object)
                #expect(found.sorted() == owners, sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: shapes, shapes)
    func `objects go along to a relationship of another kind, and come back with it`(
        before: Shape, after: Shape
    ) throws {
        let evolving = try Evolving(before.entities[0], before.entities[1])
        let world = try World(evolving.store, [before, after])
        try world.expect(in: evolving.store, before, isOrderKnown: true)

        let new = try evolving.open(after.entities)

        try world.expect(in: new, after, isOrderKnown: before.isOrdered)
        try new.expectSound()
        let head = try new.head()
        guard head > evolving.openings[0].modelSequence, before.entities != after.entities else {
            return
        }
        try new.commit(try new.undoRequest(of: head))
        let back = try TestStore.open(at: evolving.temporary.path)
        try world.expect(in: back, before, isOrderKnown: true)
        try back.expectSound()

        try back.commit(try back.undoRequest(of: try back.head()))
        let again = try TestStore.open(at: evolving.temporary.path)
        try world.expect(in: again, after, isOrderKnown: before.isOrdered)
        try again.expectSound()
        try back.close()
        try again.close()
    }

    @Test(arguments: shapes, shapes)
    func `what is done with the new relationship counts, and old programs are stopped`(
        before: Shape, after: Shape
    ) throws {
        let isSame = before.entities == after.entities
        let evolving = try Evolving(before.entities[0], before.entities[1])
        let world = try World(evolving.store, [before, after])
        let new = try evolving.open(after.entities)
        let (a, b) = (world.a[2], world.b[1])

        try new.unlink(world.a[1], b)
        try new.link(a, to: [b])

        #expect(try new.others("bs", of: a) == [b])
        if after.hasInverse { #expect(try new.others("as", of: b).contains(a)) }
        for owner in world.a { try new.unlink(owner, world.b[2]) }
        #expect(try new.others("bs", of: world.a[0]).contains(world.b[2]) == false)
        try new.remove(world.b[2])
        try new.expectSound()
        let steps = new.schema.steps(from: evolving.openings[0].schema)
        let isStopped = steps.contains { !$0.isCompatible }
        #expect(steps.isEmpty == isSame)
        if isStopped {
            #expect {
                try evolving.openings[0].add("B")
            } throws: {
                ($0 as? StoreError)?.code == .modelSuperseded
            }
        }
    }

    @Test func `a relationship to many becomes one to one only where no object has several`() throws
    {
        let evolving = try Evolving(
            entity("A", to: [relationship("bs", "B", many: true)]), entity("B"))
        let b = try (0..<3).map { _ in try evolving.store.add("B") }
        for _ in 0..<12 { try evolving.store.add("A", members: ["bs": b]) }
        try evolving.store.add("A", members: ["bs": [b[0]]])
        let head = try evolving.store.head()

        let error = try #require(throws: StoreError.self) {
            try evolving.open(entity("A", to: [relationship("bs", "B")]), entity("B"))
        }

        #expect(error.code == .validation)
        #expect(error.failures.count == 10)
        #expect(error.details.first == "To make 'A.bs' to-one: 12 objects do not fit.")
        #expect(
            error.failures.first?.message
                == "'bs' of A/4 has 3 objects, and can have only one.")
        #expect(try evolving.store.head() == head)
    }

    @Test func `an owner is not lost where only one may be kept`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("b", "B", inverse: "as")]),
            entity("B", to: [relationship("as", "A", inverse: "b", many: true)]))
        let b = try evolving.store.add("B")
        for _ in 0..<2 { try evolving.store.add("A", ["b": .object(b)]) }

        let error = try #require(throws: StoreError.self) {
            try evolving.open(
                entity("A", to: [relationship("b", "B", inverse: "as")]),
                entity("B", to: [relationship("as", "A", inverse: "b")]))
        }

        #expect(error.code == .validation)
        #expect(
            error.failures.map(\.message) == [
                "'as' of B/1 has 2 objects, and can have only one."
            ])
    }

    @Test func `a relationship gets another name and becomes to-many in one step`() throws {
        let evolving = try Evolving(entity("A", to: [relationship("b", "B")]), entity("B"))
        let b = try evolving.store.add("B")
        let a = try evolving.store.add("A", ["b": .object(b)])
        var renamed = relationship("bs", "B", many: true)
        renamed.renamingIdentifier = "b"

        let new = try evolving.open(entity("A", to: [renamed]), entity("B"))

        #expect(try new.others("bs", of: a) == [b])
        let steps = new.schema.steps(from: evolving.openings[0].schema).map(\.description)
        #expect(steps == ["rename 'A.b' to 'A.bs'", "make 'A.bs' to-many"])
    }

    @Test func `friends become a best friend, and friends again`() throws {
        func model(many: Bool) -> EntityDescription {
            entity("A", to: [relationship("friends", "A", inverse: "friends", many: many)])
        }
        let evolving = try Evolving(model(many: true))
        let objects = try (0..<3).map { _ in try evolving.store.add("A") }
        try evolving.store.befriend(objects[0], objects[1])

        let single = try evolving.open(model(many: false))
        #expect(try single.others("friends", of: objects[0]) == [objects[1]])
        #expect(try single.others("friends", of: objects[1]) == [objects[0]])
        try single.expectSound()
        // The first model again would be that of an older program.
        var annotated = model(many: true)
        annotated.userInfo = ["note": "again"]
        let again = try evolving.open(annotated)

        #expect(try again.others("friends", of: objects[1]) == [objects[0]])
        #expect(try again.others("friends", of: objects[2]).isEmpty)
        try again.expectSound()
    }

    @Test func `two relationships that both have objects do not become one`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("b", "B")]),
            entity("B", to: [relationship("as", "A", many: true)]))

        let error = try #require(throws: StoreError.self) {
            try evolving.open(
                entity("A", to: [relationship("b", "B", inverse: "as")]),
                entity("B", to: [relationship("as", "A", inverse: "b", many: true)]))
        }

        #expect(error.code == .model)
        #expect(
            error.details.first?.hasPrefix("'B.as' would be kept at its other end") == true,
            "\(error.details)")
    }

    @Test func `undoing is refused when later entries have used the new relationship`() throws {
        let evolving = try Evolving(entity("A", to: [relationship("bs", "B")]), entity("B"))
        let b = try (0..<2).map { _ in try evolving.store.add("B") }
        let a = try evolving.store.add("A", ["bs": .object(b[0])])
        let new = try evolving.open(
            entity("A", to: [relationship("bs", "B", many: true)]), entity("B"))
        let migration = try new.head()
        try new.link(a, to: [b[1]])

        let error = try #require(throws: StoreError.self) {
            try new.undoRequest(of: migration)
        }

        #expect(error.code == .undoBlocked)
        #expect(error.details.count == 1)
    }
}

extension Store {
    /// Adds members to 'bs', or sets it, at whatever end it is stored.
    fileprivate func link(_ a: ObjectID, to others: [ObjectID]) throws {
        let property = self.property("bs", of: a)
        let had = try others_(a)
        for (place, other) in others.enumerated() {
            if property.isStoredToMany {
                let order =
                    property.relationship?.isOrdered == true ? Double(had + place + 10) : 0
                try save(
                    a,
                    MembershipEdit(
                        property: property.number, added: [Member(object: other, order: order)]))
            } else if property.slot != nil {
                try set(a, "bs", .object(other))
            } else {
                let back = self.property("as", of: other)
                if back.isStoredToMany {
                    let order = back.relationship?.isOrdered == true ? Double(place + 10) : 0
                    try save(
                        other,
                        MembershipEdit(
                            property: back.number, added: [Member(object: a, order: order)]))
                } else {
                    try set(other, "as", .object(a))
                }
            }
        }
    }

    private func others_(_ a: ObjectID) throws -> Int { try others("bs", of: a).count }

    /// Takes an object out of 'bs', if it is there, and others' claim to it where it can have one only.
    fileprivate func unlink(_ a: ObjectID, _ b: ObjectID) throws {
        guard try others("bs", of: a).contains(b) else { return }
        let property = self.property("bs", of: a)
        if property.isStoredToMany {
            let members = try read { try $0.members(of: property, in: a) as [Member] }
            try save(
                a,
                MembershipEdit(
                    property: property.number, removed: members.filter { $0.object == b }))
        } else if property.slot != nil {
            try set(a, "bs", .null)
        } else {
            let back = self.property("as", of: b)
            guard back.isStoredToMany else { return try set(b, "as", .null) }
            let members = try read { try $0.members(of: back, in: b) as [Member] }
            try save(
                b, MembershipEdit(property: back.number, removed: members.filter { $0.object == a })
            )
        }
    }

    /// Makes two objects friends, at both ends.
    fileprivate func befriend(_ one: ObjectID, _ other: ObjectID) throws {
        let number = self.property("friends", of: one).number
        let changes = [(one, other), (other, one)].map { owner, friend in
            Change(
                object: owner,
                kind: .update(
                    edits: [],
                    members: [
                        MembershipEdit(property: number, added: [Member(object: friend)])
                    ]))
        }
        try commit(SaveRequest(changes: changes))
    }

    private func save(_ object: ObjectID, _ edit: MembershipEdit) throws {
        try commit(
            SaveRequest(changes: [Change(object: object, kind: .update(edits: [], members: [edit]))]
            ))
    }
}
