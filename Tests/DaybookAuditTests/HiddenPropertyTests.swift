import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Properties that are hidden by name, and whatever else tells their values.
@Suite struct HiddenPropertyTests {
    private static func model(
        _ attributes: [AttributeDescription], to relationships: [RelationshipDescription] = []
    ) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                attributes: attributes + [AttributeDescription(name: "town", type: .string)],
                relationships: relationships)
        ])
    }

    private static func table(of store: Store, hiding name: String) throws -> String {
        let bytes = try Exporting.bytes(
            of: store, as: "csv", confidentiality: Confidentiality(.omit, properties: [name]))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sets later models one after the other, and has the store opened with the last.
    private static func evolve(
        _ temporary: TemporaryStore, to models: [ManagedObjectModel],
        _ body: (Store) throws -> Void
    ) throws {
        var options = StoreOptions.counting()
        options.migration = .automatic
        for model in models {
            _ = try Store.migrate(at: temporary.path, to: model, options: options)
        }
        let store = try TestStore.open(at: temporary.path, options: .counting())
        try body(store)
        try store.close()
    }

    @Test func `what is derived from a hidden attribute is hidden`() throws {
        let temporary = try TemporaryStore(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person",
                    attributes: [
                        AttributeDescription(name: "name", type: .string),
                        AttributeDescription(
                            name: "nameKey", type: .string,
                            derivation: .text(.canonical, attribute: "name")),
                        AttributeDescription(name: "salary", type: .int64),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "team", destinationName: "Team", inverseName: "members")
                    ]),
                EntityDescription(
                    name: "Team",
                    attributes: [
                        AttributeDescription(
                            name: "total", type: .int64,
                            derivation: .aggregate(
                                .sum, attribute: "salary", relationship: "members"))
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "members", destinationName: "Person", inverseName: "team",
                            isToMany: true)
                    ]),
            ]))
        let store = temporary.store
        let (team, person) = (try store.newObject("Team"), try store.newObject("Person"))
        let values: [String: Value] = [
            "name": .string("Zo\u{EB}"), "salary": .int(4321), "team": .object(team),
        ]
        try store.commit(SaveRequest(changes: [store.insert(team), store.insert(person, values)]))

        let withoutName = try Self.table(of: store, hiding: "Person.name")
        let withoutSalary = try Self.table(of: store, hiding: "Person.salary")

        #expect(!withoutName.contains("Zo\u{EB}") && !withoutName.contains("zoe"))
        #expect(withoutName.contains(",total,,4321"))
        #expect(!withoutSalary.contains("4321"))
        #expect(withoutSalary.contains(",nameKey,,zoe"))
    }

    @Test func `a relationship is hidden as what it was before its kind changed, too`() throws {
        func model(isToMany: Bool) -> ManagedObjectModel {
            Self.model(
                [],
                to: [
                    RelationshipDescription(
                        name: "boss", destinationName: "Person", isToMany: isToMany)
                ])
        }
        let temporary = try TemporaryStore(model(isToMany: false))
        let store = temporary.store
        let (ada, bob) = (try store.newObject("Person"), try store.newObject("Person"))
        try store.commit(
            SaveRequest(changes: [store.insert(ada), store.insert(bob, ["boss": .object(ada)])]))

        try Self.evolve(temporary, to: [model(isToMany: true)]) { store in
            let table = try Self.table(of: store, hiding: "Person.boss")
            #expect(table.contains(",boss,(confidential),(confidential)"))
            #expect(!table.contains(",boss,,Person/"))
        }
    }

    @Test(arguments: [
        "jsonl", "csv", "debezium", "git", "prov", "json-patch", "cloudevents", "ocsf",
    ])
    func `what was removed from the model is told unless it is hidden`(format: String) throws {
        let temporary = try TemporaryStore(
            Self.model([AttributeDescription(name: "code", type: .string)]))
        let store = temporary.store
        let person = try store.newObject("Person")
        try store.commit(
            SaveRequest(changes: [store.insert(person, ["code": .string("hush")])]))

        try Self.evolve(temporary, to: [Self.model([])]) { store in
            func text(hiding name: String) throws -> String {
                let bytes = try Exporting.bytes(
                    of: store, as: format,
                    confidentiality: Confidentiality(.omit, properties: [name]))
                return String(decoding: bytes, as: UTF8.self)
            }
            let told = try text(hiding: "Person.town")
            let hidden = try text(hiding: "Person.code")
            #expect(told.contains("hush"))
            #expect(!hidden.contains("hush"))
        }
    }

    @Test func `an object that is hidden has one hash, whatever its entity is called`() throws {
        func model(_ team: String, from earlier: String? = nil) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person",
                    relationships: [RelationshipDescription(name: "team", destinationName: team)]),
                EntityDescription(
                    name: team, attributes: [AttributeDescription(name: "name", type: .string)],
                    renamingIdentifier: earlier),
            ])
        }
        func insert(_ people: [ObjectID], into team: ObjectID, in store: Store) throws {
            let changes = people.map { store.insert($0, ["team": .object(team)]) }
            try store.commit(SaveRequest(changes: changes))
        }
        let temporary = try TemporaryStore(model("Team"))
        let team = try temporary.store.newObject("Team")
        try temporary.store.commit(SaveRequest(changes: [temporary.store.insert(team)]))
        try insert([temporary.store.newObject("Person")], into: team, in: temporary.store)

        try Self.evolve(temporary, to: [model("Club", from: "Team")]) { store in
            try insert([store.newObject("Person")], into: team, in: store)
            let bytes = try Exporting.bytes(
                of: store, as: "csv",
                confidentiality: Confidentiality(
                    .hash(secret: Array("0123456789abcdef".utf8)), properties: ["Person.team"]))
            let hashes = String(decoding: bytes, as: UTF8.self)
                .matches(of: /,team,,(hmac-sha256:[0-9a-f]{64})/).map { String($0.output.1) }
            #expect(hashes.count == 2)
            #expect(Set(hashes).count == 1)
        }
    }

    @Test func `a name stands for all properties that were ever called so`() throws {
        let code = AttributeDescription(name: "code", type: .string)
        let number = AttributeDescription(name: "code", type: .int64)
        let temporary = try TemporaryStore(Self.model([code]))
        let store = temporary.store
        let person = try store.newObject("Person")
        try store.commit(
            SaveRequest(changes: [store.insert(person, ["code": .string("hush")])]))

        try Self.evolve(temporary, to: [Self.model([])]) { store in
            let hidden = try Self.table(of: store, hiding: "Person.code")
            let shown = try Self.table(of: store, hiding: "Person.town")
            #expect(!hidden.contains("hush"))
            #expect(shown.contains(",code,,hush"))
        }
        try Self.evolve(temporary, to: [Self.model([number])]) { store in
            let hidden = try Self.table(of: store, hiding: "Person.code")
            #expect(!hidden.contains("hush"))
        }
    }

    @Test func `an attribute that moved up from several entities is hidden in all of them`() throws
    {
        let code = AttributeDescription(name: "code", type: .string)
        func model(isAbove: Bool) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(name: "Thing", attributes: isAbove ? [code] : []),
                EntityDescription(
                    name: "Left", superentityName: "Thing", attributes: isAbove ? [] : [code]),
                EntityDescription(
                    name: "Right", superentityName: "Thing", attributes: isAbove ? [] : [code]),
            ])
        }
        let temporary = try TemporaryStore(model(isAbove: false))
        let store = temporary.store
        let things = (try store.newObject("Left"), try store.newObject("Right"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(things.0, ["code": .string("hush")]),
                store.insert(things.1, ["code": .string("mum")]),
            ]))

        try Self.evolve(temporary, to: [model(isAbove: true)]) { store in
            let table = try Self.table(of: store, hiding: "Thing.code")
            #expect(!table.contains("hush") && !table.contains("mum"))
        }
    }

    @Test func `an earlier name stands for what took over its values`() throws {
        let number = AttributeDescription(name: "code", type: .int64)
        let text = AttributeDescription(name: "label", type: .string, renamingIdentifier: "code")
        let temporary = try TemporaryStore(Self.model([number]))
        let person = try temporary.store.newObject("Person")
        try temporary.store.commit(
            SaveRequest(changes: [temporary.store.insert(person, ["code": .int(4321)])]))

        try Self.evolve(temporary, to: [Self.model([text])]) { store in
            let header = EntryHeader(base: try store.head())
            try store.commit(SaveRequest(header: header, changes: [store.delete(person)]))
            for name in ["Person.code", "Person.label"] {
                let table = try Self.table(of: store, hiding: name)
                #expect(!table.contains("4321"), "\(name)")
            }
        }
    }
}
