import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private class Seat: ManagedObject {
    @Attribute var row: String?
    @Attribute var number: Int = 0
    @Attribute var guest: String = ""

    override class var uniquenessConstraints: [[String]] { [["row", "number"]] }
}

private final class BoxSeat: Seat {
    @Attribute var box: String = ""
}

private final class Theatre {
    let folder: TemporaryDirectory
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("theatre.daybook"),
            model: [Seat.self, BoxSeat.self])
        context = container.newBackgroundContext()
    }

    /// Inserts a seat and saves.
    @discardableResult
    func seat(
        _ row: String?, _ number: Int, guest: String = "", as type: Seat.Type = Seat.self,
        _ policy: MergePolicy = .error
    ) throws -> ManagedObjectID {
        try context.performAndWait { () throws in
            context.mergePolicy = policy
            let seat = type.init(entity: context.entity(for: type), insertInto: context)
            seat.row = row
            seat.number = number
            seat.guest = guest
            let id = seat.objectID
            do {
                try context.save()
            } catch {
                context.rollback()
                throw error
            }
            return id
        }
    }

    func guests() throws -> [String] {
        let reader = container.newBackgroundContext()
        return try reader.performAndWait { () throws in
            try reader.fetch(FetchRequest<Seat>()).map(\.guest).sorted()
        }
    }
}

@Suite struct ConflictConstraintTests {
    @Test func `F70 values are unique together, and each alone may repeat`() throws {
        let theatre = try Theatre()
        let first = try theatre.seat("A", 1)
        try theatre.seat("A", 2)
        try theatre.seat("B", 1)

        let error = #expect(throws: StoreError.self) { try theatre.seat("A", 1) }

        #expect(error?.code == .duplicate)
        let conflict = try #require(error?.constraintConflicts.first)
        #expect(conflict.properties == ["number", "row"])
        #expect(conflict.values == [.int(1), .string("A")])
        #expect(conflict.owner == first.object)
        #expect(error?.description.contains("'number' and 'row' of Seat/") == true)
    }

    @Test func `F70 a constraint with a missing value does not apply`() throws {
        let theatre = try Theatre()
        try theatre.seat(nil, 1, guest: "one")

        try theatre.seat(nil, 1, guest: "two")

        #expect(try theatre.guests() == ["one", "two"])
    }

    @Test func `F70 an inherited constraint counts over the family and is reported once`() throws {
        let theatre = try Theatre()
        let first = try theatre.seat("A", 1)

        let error = #expect(throws: StoreError.self) {
            try theatre.seat("A", 1, as: BoxSeat.self)
        }

        #expect(error?.constraintConflicts.count == 1)
        #expect(error?.constraintConflicts.first?.owner == first.object)
    }

    @Test func `F70 an edit or delete frees the values for another in the same save`() throws {
        let theatre = try Theatre()
        try theatre.seat("A", 1, guest: "one")
        try theatre.seat("A", 2, guest: "two")
        let context = theatre.context
        try context.performAndWait { () throws in
            let seats = try context.fetch(FetchRequest<Seat>()).sorted { $0.number < $1.number }
            seats[0].number = 2
            seats[1].number = 1
            #expect(throws: Never.self) { try context.save() }
            context.delete(seats[0])
            let third = Seat(context: context)
            third.row = "A"
            third.number = 2
            third.guest = "three"
            #expect(throws: Never.self) { try context.save() }
        }

        #expect(try theatre.guests() == ["three", "two"])
        #expect(throws: StoreError.self) { try theatre.seat("A", 2) }
    }

    @Test func `F70 an edit of one value alone is checked with the others as they are`() throws {
        let theatre = try Theatre()
        try theatre.seat("A", 1)
        let second = try theatre.seat("A", 2)
        let context = theatre.context
        try context.performAndWait { () throws in
            let seat = try #require(try context.existingObject(with: second) as? Seat)
            seat.number = 1

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.constraintConflicts.first?.values == [.int(1), .string("A")])
        }
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "stored"), (.mergeByPropertyObjectTrump, "new"),
    ])
    func `F70 policies settle several values together like single ones`(
        policy: MergePolicy, expected: String
    ) throws {
        let theatre = try Theatre()
        try theatre.seat("A", 1, guest: "stored")

        try theatre.seat("A", 1, guest: "new", policy)

        #expect(try theatre.guests() == [expected])
    }

    @Test func `F70 constraints are part of the store's model`() throws {
        let theatre = try Theatre()
        try theatre.seat("A", 1)
        let url = theatre.folder.url.appendingPathComponent("theatre.daybook")
        var model = try GraphModel(classes: [Seat.self, BoxSeat.self]).schema.model
        for index in model.entities.indices { model.entities[index].uniquenessConstraints = [] }

        var options = PersistentStoreOptions()
        options.migration = .never
        let error = #expect(throws: StoreError.self) {
            try TestContainer.make(url, managedObjectModel: model, options: options)
        }

        #expect(error?.code == .modelMismatch)
        #expect(error?.details == ["let 'Seat' not be unique by number, row"])
    }

    @Test func `F70 a model with constraints comes back from JSON and from its bytes`() throws {
        let text = """
            {"entities": [{"name": "Seat", "attributes": [{"name": "row", "type": "string"},
            {"name": "number", "type": "int64"}], "uniquenessConstraints": [["row", "number"]]}]}
            """

        let model = try ManagedObjectModel(json: text)
        let again = try ManagedObjectModel(json: model.json(.oneLine))
        let decoded = try ManagedObjectModel(canonicalBytes: model.canonicalBytes)

        #expect(model.entities[0].uniquenessConstraints == [["row", "number"]])
        #expect(again == model)
        #expect(decoded == model.canonical)
    }

    @Test func `F70 a constraint of what cannot be unique is a mistake of the model`() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Seat",
                attributes: [AttributeDescription(name: "row", type: .string)],
                uniquenessConstraints: [["row", "number"], []])
        ])

        let error = #expect(throws: ModelError.self) { try model.validate() }

        #expect(error?.problems.count == 2)
    }

    @Test func `F70 rebuilding a store brings the records of its constraints back`() throws {
        let theatre = try Theatre()
        try theatre.seat("A", 1)
        let store = theatre.container.persistentStoreCoordinator.persistentStores[0].store

        try store.rebuild()
        let report = try Store.verify(path: store.path)

        #expect(report.findings.isEmpty)
        #expect(throws: StoreError.self) { try theatre.seat("A", 1) }
        #expect(throws: Never.self) { try theatre.seat("A", 2) }
    }

    @Test func `F70 a clash is resolved by its own properties and objects only`() async {
        await #expect(processExitsWith: .failure) {
            let object = ObjectID(entity: EntityNumber(rawValue: 1), number: 1)
            var conflict = ConstraintConflict(
                properties: ["code"], values: [.string("A")], owner: nil, objects: [object])
            conflict.resolve("name", of: object, with: .string("B"))
        }
        await #expect(processExitsWith: .failure) {
            let object = ObjectID(entity: EntityNumber(rawValue: 1), number: 1)
            var conflict = ConstraintConflict(
                properties: ["code"], values: [.string("A")], owner: nil, objects: [object])
            conflict.resolve(with: .theirs)
        }
    }
}
