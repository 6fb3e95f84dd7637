import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct BatchUpdateTests {
    // MARK: - What it does

    @Test func `an update is one entry with old and new values, author, note and time`() throws {
        let fleet = try FleetStore()
        try fleet.launch([10, 20, 30])

        let result = try fleet.inContext { (context) throws in
            context.name = "office"
            return try context.execute(
                BatchUpdateRequest<Ship>(
                    where: \.tonnage > 10, assigning: [.set(\.tonnage, to: 7)]),
                author: "ada", note: "Measured again", at: Date(timeIntervalSince1970: 1_000_000))
        }

        let entry = try fleet.store.store.entry(try #require(result.sequence))
        #expect(result.count == 2 && result.objectIDs.isEmpty)
        #expect(result.cascadedCount == 0 && result.releasedCount == 0)
        #expect(entry.header.kind == .batch)
        #expect(entry.header.author == "ada" && entry.header.note == "Measured again")
        #expect(entry.header.context == "office")
        #expect(entry.header.occurredAt == 1_000_000_000_000)
        let edits = entry.changes.compactMap { change -> [Edit]? in
            guard case .update(let edits, []) = change.kind else { return nil }
            return edits
        }
        #expect(edits.map { $0.map(\.old) } == [[.int(20)], [.int(30)]])
        #expect(edits.map { $0.map(\.new) } == [[.int(7)], [.int(7)]])
        #expect(try fleet.tonnages() == ["S0": 10, "S1": 7, "S2": 7])
    }

    @Test func `values are those before the batch, whatever the order of the assignments`() throws {
        let fleet = try FleetStore()
        try fleet.inContext { (context) throws in
            let ship = Ship(context: context)
            (ship.code, ship.tonnage, ship.built, ship.crew) = ("S", 10, 1950, 3)
            (ship.price, ship.speed) = (Decimal(string: "1.5") ?? 0, 2.5)
            try context.save()

            try context.execute(
                BatchUpdateRequest<Ship>(assigning: [
                    .multiply(\.price, by: 3), .add(5, to: \.tonnage), .set(\.spare, to: \.tonnage),
                    .multiply(\.speed, by: \.speed), .subtract(50, from: \.built),
                    .subtract(\.spare, from: \.crew), .set("remark", to: .string("new")),
                ]))
            context.refreshAllObjects()

            #expect(ship.price == Decimal(string: "4.5") && ship.tonnage == 15)
            #expect(ship.spare == 10 && ship.speed == 6.25 && ship.built == 1900)
            // There was no spare before.
            #expect(ship.crew == nil && ship.remark == "new")
        }
    }

    @Test func `objects that have the values already are in no entry`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2])
        let request = BatchUpdateRequest<Ship>(assigning: [.set(\.tonnage, to: 2)])

        let (first, second) = try fleet.inContext { (context) throws in
            (try context.execute(request), try context.execute(request))
        }

        #expect(first.count == 1 && first.sequence != nil)
        #expect(second.count == 0 && second.sequence == nil)
    }

    @Test func `order and limit choose the objects, and subentities are included`() throws {
        let fleet = try FleetStore()
        try fleet.launch([3, 1, 2])
        try fleet.inContext { (context) throws in
            let ferry = Ferry(context: context)
            (ferry.code, ferry.tonnage) = ("F", 0)
            try context.save()
            var request = FetchRequest<Ship>()
            request.order = [.ascending(\.tonnage)]
            request.limit = 2

            try context.execute(BatchUpdateRequest(request, assigning: [.set(\.tonnage, to: 9)]))
        }

        #expect(try fleet.tonnages() == ["S0": 3, "S1": 9, "S2": 2, "F": 9])
    }

    @Test func `identifiers name the objects, and those that are gone are passed over`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2, 3])
        let result = try fleet.inContext { (context) throws in
            let ships = try context.fetch(FetchRequest<Ship>())
            let ids = ships.map(\.objectID)
            context.delete(ships[2])
            try context.save()
            var request = BatchUpdateRequest<Ship>(
                objects: [ids[0], ids[2]], assigning: [.add(10, to: \.tonnage)])
            request.resultType = .objectIDs
            let result = try context.execute(request)
            #expect(result.objectIDs == [ids[0]])
            return result
        }

        #expect(result.count == 1)
        #expect(try fleet.tonnages() == ["S0": 11, "S1": 2])
        let nothing = try fleet.inContext {
            try $0.execute(
                BatchUpdateRequest<Ship>(objects: [], assigning: [.set(\.tonnage, to: 1)]))
        }
        #expect(nothing.sequence == nil && nothing.count == 0)
    }

    @Test func `a relationship leads elsewhere, and derived values follow`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2, 4])
        try fleet.inContext { (context) throws in
            let harbour = Harbour(context: context)
            harbour.name = "Kiel"
            try context.save()

            try context.execute(
                BatchUpdateRequest<Ship>(
                    where: \.tonnage > 1,
                    assigning: [.relate(\.harbour, to: harbour.objectID), .add(1, to: \.tonnage)]))
            context.refreshAllObjects()

            #expect(Set(harbour.ships.map(\.code)) == ["S1", "S2"])
            #expect(harbour.shipCount == 2 && harbour.tonnage == 8)
            try context.execute(BatchUpdateRequest<Ship>(assigning: [.relate(\.harbour, to: nil)]))
            context.refreshAllObjects()
            #expect(harbour.ships.isEmpty && harbour.tonnage == 0)
        }
    }

    @Test func `the result has what is asked for`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1])
        try fleet.inContext { (context) throws in
            var request = BatchUpdateRequest<Ship>(assigning: [.add(1, to: \.tonnage)])
            request.resultType = .status
            let status = try context.execute(request)
            #expect(status.sequence != nil && status.count == nil && status.objectIDs.isEmpty)
            request.resultType = .objectIDs
            let ids = try context.execute(request)
            #expect(ids.count == 1 && ids.objectIDs.count == 1)
        }
    }

    // MARK: - Preview and undo

    @Test func `a preview says how many and which, and writes nothing`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 5, 6])
        let head = try fleet.store.head()
        try fleet.inContext { (context) throws in
            let heavy = try context.fetch(FetchRequest<Ship>(where: \Ship.tonnage > 4))

            let preview = try context.preview(
                BatchUpdateRequest<Ship>(where: \.tonnage > 4, assigning: [.set(\.crew, to: 1)]))
            let refused = try context.preview(
                BatchUpdateRequest<Ship>(where: \.tonnage > 4, assigning: [.set(\.code, to: "X")]))
            let invalid = try context.preview(
                BatchUpdateRequest<Ship>(assigning: [.subtract(2, from: \.tonnage)]))

            #expect(preview.count == 2 && preview.refusal == nil)
            #expect(preview.objectIDs == heavy.map(\.objectID))
            #expect(preview.cascadedIDs.isEmpty && preview.releasedIDs.isEmpty)
            #expect(refused.refusal?.code == .duplicate && refused.count == 2)
            #expect(invalid.refusal?.code == .validation && invalid.count == 3)
        }
        #expect(try fleet.store.head() == head)
    }

    @Test func `a batch is undone and redone like any entry`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2])
        let before = try fleet.contents()
        let request = BatchUpdateRequest<Ship>(assigning: [.multiply(\.tonnage, by: 10)])
        let entry = try #require(try fleet.inContext { try $0.execute(request).sequence })
        let after = try fleet.contents()

        try fleet.container.undo(entry)
        #expect(try fleet.contents() == before)
        try fleet.container.redo(entry)
        #expect(try fleet.contents() == after)
    }

    // MARK: - Others

    @Test func `live objects and other contexts learn of it by merging, pending changes stay`()
        throws
    {
        let fleet = try FleetStore()
        try fleet.launch([1])
        try fleet.inContext { (context) throws in
            let ship = try #require(try context.fetch(FetchRequest<Ship>()).first)
            ship.remark = "mine"
            #expect(ship.tonnage == 1)

            try context.execute(BatchUpdateRequest<Ship>(assigning: [.set(\.tonnage, to: 2)]))

            _ = try context.mergeChanges()
            #expect(ship.tonnage == 2 && ship.remark == "mine" && ship.hasChanges)
            try context.save()
        }
        let other = try fleet.another().newBackgroundContext()
        try other.performAndWait {
            let ship = try #require(try other.fetch(FetchRequest<Ship>()).first)
            #expect(ship.tonnage == 2 && ship.remark == "mine")
        }
    }

    @Test func `pending changes do not count, and a save after it collides where both changed`()
        throws
    {
        let fleet = try FleetStore()
        try fleet.launch([1])
        try fleet.inContext { (context) throws in
            let ship = try #require(try context.fetch(FetchRequest<Ship>()).first)
            ship.tonnage = 50

            let result = try context.execute(
                BatchUpdateRequest<Ship>(where: \.tonnage < 10, assigning: [.add(1, to: \.tonnage)])
            )

            #expect(result.count == 1)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .conflict)
        }
        #expect(try fleet.tonnages() == ["S0": 2])
    }

    @Test func `a child updates the store`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1])
        let parent = fleet.container.newBackgroundContext()
        let child = ManagedObjectContext(parent: parent)
        try child.performAndWait {
            _ = try child.execute(BatchUpdateRequest<Ship>(assigning: [.set(\.tonnage, to: 4)]))
        }
        #expect(try fleet.tonnages() == ["S0": 4])
    }

    // MARK: - Refusals

    private func refusal(
        _ assignments: [BatchAssignment<Ship>], _ tonnages: [Int] = [1, 2]
    ) throws -> StoreError {
        let fleet = try FleetStore()
        try fleet.launch(tonnages)
        let before = try (fleet.contents(), fleet.store.head())
        let error = #expect(throws: StoreError.self) {
            try fleet.inContext {
                try $0.execute(BatchUpdateRequest<Ship>(assigning: assignments))
            }
        }
        #expect(try fleet.contents() == before.0 && fleet.store.head() == before.1)
        return try #require(error)
    }

    @Test func `a number that its type cannot hold names the object and saves nothing`() throws {
        let error = try refusal([.multiply(\.tonnage, by: .max)], [1, 2, 3])

        #expect(error.code == .validation)
        #expect(
            error.failures.map(\.message) == [
                "'tonnage' of Ship/2 would become a number that its type cannot hold.",
                "'tonnage' of Ship/3 would become a number that its type cannot hold.",
            ])
        #expect(error.failures.allSatisfy { $0.reason == .numberTooLarge })
        #expect(try refusal([.add(32_000, to: \.built)]).failures.count == 2)
    }

    @Test func `single precision is computed as an object computes it`() throws {
        let fleet = try FleetStore()
        try fleet.inContext { context in
            let ship = Ship(context: context)
            ship.code = "single"
            try context.save()
            try context.execute(
                BatchUpdateRequest<Ship>(assigning: [.multiply(\.draught, by: 3)]))
            context.refreshAllObjects()

            #expect(ship.draught == Float(0.1) * 3)
            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchUpdateRequest<Ship>(
                        assigning: [.multiply(\.draught, by: .greatestFiniteMagnitude)]))
                try context.execute(
                    BatchUpdateRequest<Ship>(assigning: [.multiply(\.draught, by: 1e30)]))
            }
            #expect(error?.failures.map(\.reason) == [.numberTooLarge])
        }
    }

    @Test func `rules and unique values hold`() throws {
        let minimum = try refusal([.subtract(2, from: \.tonnage)])
        #expect(minimum.code == .validation && minimum.failures.map(\.property) == ["tonnage"])
        #expect(try refusal([.set(\.code, to: "same")]).code == .duplicate)
        #expect(try refusal([.set("code", to: .null)]).failures.count == 2)
        #expect(try refusal([.set("code", to: .int(1))]).failures.count == 2)
    }

    private func mistake(
        _ assignments: [BatchAssignment<Ship>]
    ) throws -> String {
        let fleet = try FleetStore()
        let error = #expect(throws: QueryError.self) {
            try fleet.inContext {
                try $0.preview(BatchUpdateRequest<Ship>(assigning: assignments))
            }
        }
        return error?.message ?? ""
    }

    @Test func `an assignment that does not fit the model is explained`() throws {
        #expect(try mistake([]) == "The batch assigns nothing. Say which properties become what.")
        #expect(
            try mistake([.set(\.tonnage, to: 1), .add(1, to: \.tonnage)])
                == "The batch assigns 'tonnage' twice. Say once what it becomes.")
        #expect(
            try mistake([.set("tonage", to: .int(1))])
                == "'Ship' has no property 'tonage'; did you mean 'tonnage'?")
        #expect(
            try mistake([.set(\.whim, to: "x")]) == "'whim' is transient and is not stored.")
        #expect(
            try mistake([.set("harbour", to: .null)])
                == "'harbour' is a relationship: use 'relate' with the identifier of an object.")
        #expect(try mistake([.set(\.harbour?.name, to: "x")]).contains("no property of 'Ship'"))
    }

    @Test func `a batch chooses no objects by what is not stored`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2])
        try fleet.inContext { (context) throws in
            try context.fetch(FetchRequest<Ship>()).first?.whim = "stay"
            var limited = FetchRequest<Ship>()
            limited.order = [.descending("whim")]
            limited.limit = 1
            let requests = [FetchRequest<Ship>(where: Condition("whim != 'stay'")), limited]

            for request in requests {
                let errors = [
                    #expect(throws: QueryError.self) {
                        try context.execute(BatchDeleteRequest<Ship>(request))
                    },
                    #expect(throws: QueryError.self) {
                        try context.execute(
                            BatchUpdateRequest<Ship>(request, assigning: [.set(\.tonnage, to: 9)]))
                    },
                ]
                for error in errors {
                    #expect(error?.message.contains("'whim' is transient") == true)
                }
            }
            #expect(
                throws: QueryError.self
            ) { try context.save(ifNone: FetchRequest<Ship>(where: Condition("whim == 'stay'"))) }
            #expect(try context.count(FetchRequest<Ship>()) == 2)
        }
    }

    @Test func `derived values and objects of others are refused`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1])
        try fleet.inContext { (context) throws in
            let harbour = Harbour(context: context)
            harbour.name = "Kiel"
            try context.save()
            let derived = #expect(throws: QueryError.self) {
                try context.execute(
                    BatchUpdateRequest<Harbour>(assigning: [.set("shipCount", to: .int(3))]))
            }
            #expect(derived?.message == "'shipCount' is derived and cannot be set.")
            let mixed = #expect(throws: QueryError.self) {
                try context.execute(
                    BatchUpdateRequest<Ship>(
                        objects: [harbour.objectID], assigning: [.set(\.tonnage, to: 1)]))
            }
            #expect(
                mixed?.message == "The batch names 'Harbour/2', which is no object of 'Ship'.")
        }
    }

    @Test func `a context of the past refuses`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1])
        let past = try fleet.container.context(at: .sequence(try fleet.store.head()))
        let error = #expect(throws: StoreError.self) {
            try past.performAndWait {
                try past.execute(BatchUpdateRequest<Ship>(assigning: [.set(\.tonnage, to: 2)]))
            }
        }
        #expect(error?.code == .readOnly)
    }

    @Test func `a condition through a relationship chooses the objects`() throws {
        let fleet = try FleetStore()
        try fleet.launch([1, 2])
        try fleet.inContext { (context) throws in
            let harbour = Harbour(context: context)
            harbour.name = "Kiel"
            let ships = try context.fetch(FetchRequest<Ship>())
            ships[1].harbour = harbour
            try context.save()

            let result = try context.execute(
                BatchUpdateRequest<Ship>(
                    where: Condition("harbour.name == 'Kiel'"), assigning: [.set(\.crew, to: 8)]))

            #expect(result.count == 1)
        }
    }
}
