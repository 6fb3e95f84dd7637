import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The store itself checks the rules of the model, for saves that do not come from a context.
struct RuleTests {
    private let temporary: TemporaryStore
    private var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Team",
                    attributes: [
                        AttributeDescription(
                            name: "size", type: .int32,
                            rules: AttributeRules(minimum: .int(1), maximum: .int(9)))
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "players", destinationName: "Player", inverseName: "team",
                            isToMany: true, minimumCount: 2, maximumCount: 3),
                        RelationshipDescription(
                            name: "cups", destinationName: "Cup", isToMany: true,
                            isOptional: false),
                    ]),
                EntityDescription(
                    name: "Player",
                    relationships: [
                        RelationshipDescription(
                            name: "team", destinationName: "Team", inverseName: "players")
                    ]),
                EntityDescription(name: "Cup"),
            ]))
    }

    @Test(arguments: [(0, 1620), (1, nil), (9, nil), (10, 1610)] as [(Int64, Int?)])
    func `F31 a value is checked by the store`(size: Int64, number: Int?) throws {
        let team = try store.newObject("Team")
        let cup = try store.newObject("Cup")
        let request = SaveRequest(changes: [
            store.insert(cup),
            store.insert(
                team, ["size": .int(size)], members: ["cups": [Member(object: cup)]]),
        ])

        try expect(number, "size", of: team) { try store.commit(request) }
    }

    @Test(arguments: [(0, nil), (1, 1580), (2, nil), (3, nil), (4, 1590)] as [(Int, Int?)])
    func `F33 the store checks a count at the derived end`(
        count: Int, number: Int?
    ) throws {
        let team = try savedTeam()
        let players = try (0..<count).map { _ in try store.newObject("Player") }

        try expect(number, "players", of: team) {
            try store.commit(
                SaveRequest(changes: players.map { store.insert($0, ["team": .object(team)]) }))
        }
    }

    @Test func `F33 a count is checked when members leave or are deleted`() throws {
        let team = try savedTeam()
        let players = try (0..<3).map { _ in try store.newObject("Player") }
        try store.commit(
            SaveRequest(changes: players.map { store.insert($0, ["team": .object(team)]) }))
        try store.commit(SaveRequest(changes: [try store.delete(players[0])]))

        try expect(1580, "players", of: team) {
            try store.commit(
                SaveRequest(changes: [
                    store.update(players[1], "team", from: .object(team), to: .null)
                ]))
        }
        try expect(1580, "players", of: team) {
            try store.commit(SaveRequest(changes: [try store.delete(players[1])]))
        }
        try store.commit(
            SaveRequest(changes: [try store.delete(players[1]), try store.delete(players[2])]))
    }

    @Test func `F33 F31 a mandatory to-many relationship needs one object`() throws {
        let team = try store.newObject("Team")

        try expect(1580, "cups", of: team) {
            try store.commit(SaveRequest(changes: [store.insert(team)]))
        }
    }

    @Test func `F33 an object that is deleted need not be complete`() throws {
        let team = try savedTeam()

        #expect(try store.commit(SaveRequest(changes: [try store.delete(team)])).sequence != nil)
    }

    @Test func `a store is opened with its own rules and with no others`() throws {
        var model = store.schema.model
        try store.close()
        let index = try #require(model.entities.firstIndex { $0.name == "Team" })
        model.entities[index].attributes[0].rules.maximum = .int(10)

        let error = #expect(throws: StoreError.self) {
            try TestStore.open(
                at: temporary.path, model: model, options: StoreOptions(migration: .never))
        }

        #expect(error?.code == .modelMismatch)
        #expect(error?.details == ["widen the rules of 'Team.size'"])
        model.entities[index].attributes[0].rules.maximum = .int(9)
        try TestStore.open(at: temporary.path, model: model).close()
    }

    private func savedTeam() throws -> ObjectID {
        let team = try store.newObject("Team")
        let cup = try store.newObject("Cup")
        try store.commit(
            SaveRequest(changes: [
                store.insert(cup), store.insert(team, members: ["cups": [Member(object: cup)]]),
            ]))
        return team
    }

    private func expect(
        _ number: Int?, _ property: String, of object: ObjectID, _ save: () throws -> SaveResult
    ) throws {
        let head = try store.head()
        do {
            _ = try save()
            #expect(number == nil)
        } catch let error as StoreError {
            #expect(error.number == number)
            #expect(error.failures.map(\.property) == [property])
            #expect(error.failures.map(\.object) == [object])
            #expect(try store.head() == head)
        }
    }
}
