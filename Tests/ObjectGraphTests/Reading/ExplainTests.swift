import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// What `explain` says about indexes, and what is found meanwhile.
@Suite struct ExplainTests {
    private let folder: TemporaryDirectory
    private var url: URL { folder.url.appendingPathComponent("s.daybook") }

    /// A store of three teams with two people each.
    init() throws {
        folder = try TemporaryDirectory()
        let container = try TestContainer.make(url, managedObjectModel: Self.model(indexed: false))
        try Self.change(container) { context, entities in
            for name in ["Éa", "Eb", "c"] {
                let team = ManagedObject(
                    entity: try #require(entities["Team"]), insertInto: context)
                team.setValue(name, forKey: "name")
                for nick in ["x", "Y"] {
                    let person = ManagedObject(
                        entity: try #require(entities["Person"]), insertInto: context)
                    person.setValue(nick + name, forKey: "nick")
                    person.setValue(team, forKey: "team")
                }
            }
        }
        try Self.close(container)
    }

    private static func model(indexed: Bool) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Team",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isIndexed: indexed),
                    AttributeDescription(
                        name: "key", type: .string, isIndexed: indexed,
                        derivation: .text(.canonical, attribute: "name")),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "people", destinationName: "Person", inverseName: "team",
                        isToMany: true)
                ]),
            EntityDescription(
                name: "Person",
                attributes: [AttributeDescription(name: "nick", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "team", destinationName: "Team", inverseName: "people")
                ]),
        ])
    }

    private static func change(
        _ container: PersistentContainer,
        _ body: (ManagedObjectContext, [String: EntityDescription]) throws -> Void
    ) throws {
        let entities = container.persistentStoreCoordinator.managedObjectModel.entitiesByName
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try body(context, entities)
            try context.save()
        }
    }

    private static func close(_ container: PersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Opens the store with the indexes, which are not built yet.
    private func deferring() throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        options.indexes = .deferred
        return try TestContainer.make(
            url, managedObjectModel: Self.model(indexed: true), options: options)
    }

    private func explain(
        _ entity: String, _ condition: String, in context: ManagedObjectContext
    ) throws -> String {
        try context.performAndWait {
            try context.explain(
                FetchRequest<ManagedObject>(entityName: entity, where: Condition(condition)))
        }
    }

    private func found(
        _ entity: String, _ condition: String, _ key: String, in context: ManagedObjectContext
    ) throws -> [String] {
        try context.performAndWait {
            try context.fetch(
                FetchRequest<ManagedObject>(entityName: entity, where: Condition(condition))
            ).map { $0.value(forKey: key) as? String ?? "-" }.sorted()
        }
    }

    @Test(arguments: [
        ("name == 'Eb'", "name"), ("name >= 'E'", "name"), ("name ==[cd] 'ea'", "key"),
        ("name BEGINSWITH[cd] 'e'", "key"),
    ])
    func `an index that is being built is told of, and then named`(
        condition: String, property: String
    ) throws {
        let container = try deferring()
        let context = container.newBackgroundContext()
        let before = try found("Team", condition, "name", in: context)

        #expect(
            try explain("Team", condition, in: context)
                == "all objects are read: the index of '\(property)' is being built")
        try container.persistentStoreCoordinator.persistentStores[0].buildIndexes()

        #expect(
            try explain("Team", condition, in: context)
                .hasPrefix("index of '\(property)', 1 range for "))
        #expect(try found("Team", condition, "name", in: context) == before)
        #expect(!before.isEmpty)
        try Self.close(container)
    }

    @Test(arguments: [("team.name == 'Eb'", "name"), ("team.name ==[cd] 'EB'", "key")])
    func `an index that is being built is told of where a relationship leads to it`(
        condition: String, property: String
    ) throws {
        let container = try deferring()
        let context = container.newBackgroundContext()
        let pending = try explain("Person", condition, in: context)

        #expect(pending.hasPrefix("references through 'team' of the objects for "))
        #expect(pending.hasSuffix("; the index of '\(property)' is being built"))
        #expect(try found("Person", condition, "nick", in: context) == ["YEb", "xEb"])
        try container.persistentStoreCoordinator.persistentStores[0].buildIndexes()

        let complete = try explain("Person", condition, in: context)
        #expect(complete.hasPrefix("references through 'team' of the objects for "))
        #expect(!complete.contains("index"))
        #expect(try found("Person", condition, "nick", in: context) == ["YEb", "xEb"])
        try Self.close(container)
    }

    @Test func `a context in the past tells what it asks beside the index`() throws {
        let container = try TestContainer.make(
            url, managedObjectModel: Self.model(indexed: true))
        let moment = try container.persistentStoreCoordinator.persistentStores[0].head()
        // One more is renamed to and fro, so that there are versions enough.
        for name in ["z", "Éa", "z", "Éa", "z", "Éa", "z", "Éa", "z"] {
            for changed in ["Éa", "c"] {
                try Self.change(container) { context, _ in
                    let teams = try context.fetch(FetchRequest<ManagedObject>(entityName: "Team"))
                    let old = changed == "c" ? ["c", "y"] : ["Éa", "z"]
                    for team in teams
                    where old.contains(team.value(forKey: "name") as? String ?? "") {
                        let isFirst = changed == "c"
                        let new = name == "z" ? "y" : "c"
                        team.setValue(isFirst ? new : name, forKey: "name")
                    }
                }
            }
        }
        let past = try container.context(at: .sequence(moment))
        let head = try container.persistentStoreCoordinator.persistentStores[0].head()
        let near = try container.context(at: .sequence(head.previous))
        let present = container.newBackgroundContext()
        let condition = "name ==[cd] 'EA'"

        let explanation = try explain("Team", condition, in: past)
        #expect(explanation.hasPrefix("index of 'key', 1 range for "))
        #expect(
            explanation.hasSuffix(
                "; as of entry \(moment), with what 2 changed objects had then, found in all versions"
            ))
        #expect(
            try explain("Team", condition, in: near).hasSuffix(
                "; as of entry \(head.previous), with what 1 changed object had then, found in the "
                    + "entries since"))
        #expect(
            try explain("Person", "team.\(condition)", in: past).hasSuffix(
                "; as of entry \(moment), with what 2 changed objects had then, found in all versions"
            ))
        #expect(try found("Team", condition, "name", in: past) == ["Éa"])
        #expect(try explain("Team", condition, in: present).hasPrefix("index of 'key'"))
        #expect(try !explain("Team", condition, in: present).contains("as of"))
        #expect(try found("Team", condition, "name", in: present) == [])
        try Self.close(container)
    }

    @Test(arguments: [
        "team.name == 'Eb'", "ANY team.people.nick == 'xEb'", "team.people.@count > 1",
    ])
    func `a context with pending changes says that it reads everything for related objects`(
        condition: String
    ) throws {
        let container = try TestContainer.make(
            url, managedObjectModel: Self.model(indexed: true))
        let context = container.newBackgroundContext()
        let everything =
            "all objects are read: the request looks at related objects, and these have "
            + "pending changes"
        let before = try explain("Person", condition, in: context)
        try context.performAndWait {
            let team = try context.fetch(FetchRequest<ManagedObject>(entityName: "Team")).first
            team?.setValue("other", forKey: "name")
        }

        #expect(before != everything)
        #expect(try explain("Person", condition, in: context) == everything)
        #expect(
            try explain("Team", "name == 'Eb'", in: context)
                .hasPrefix("index of 'name', 1 range for "))
        try context.performAndWait {
            var stored = FetchRequest<ManagedObject>(
                entityName: "Person", where: Condition(condition))
            stored.includesPendingChanges = false
            #expect(try context.explain(stored) == before)
            _ = try context.save()
        }
        #expect(try explain("Person", condition, in: context) == before)
        try Self.close(container)
    }

    @Test func `what is pending in a context counts beside what the text index finds`() throws {
        let container = try TestContainer.make(
            url, managedObjectModel: Self.model(indexed: true))
        let entities = container.persistentStoreCoordinator.managedObjectModel.entitiesByName
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let all = FetchRequest<ManagedObject>(entityName: "Team")
            let teams = try context.fetch(all)
            for team in teams {
                switch team.value(forKey: "name") as? String {
                case "Éa": team.setValue("other", forKey: "name")
                case "Eb": context.delete(team)
                default: team.setValue("ÉA", forKey: "name")
                }
            }
            let team = ManagedObject(entity: try #require(entities["Team"]), insertInto: context)
            team.setValue("eá", forKey: "name")
        }

        #expect(try found("Team", "name ==[cd] 'EA'", "name", in: context) == ["eá", "ÉA"])
        #expect(
            try found("Team", "name BEGINSWITH[cd] 'e'", "name", in: context) == ["eá", "ÉA"])
        #expect(
            try found("Person", "team.name IN[cd] {'EA', 'EB'}", "nick", in: context)
                == ["Yc", "xc"])
        try context.performAndWait { _ = try context.save() }
        #expect(try found("Team", "name ==[cd] 'EA'", "name", in: context) == ["eá", "ÉA"])
        try Self.close(container)
    }
}
