import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct BatchDeleteTests {
    /// A ship with two barrels in a harbour, escorted by another ship, in two logbooks.
    private func makeFleet() throws -> FleetStore {
        let fleet = try FleetStore()
        try fleet.launch([10, 20, 30])
        try fleet.inContext { (context) throws in
            let ships = try context.fetch(FetchRequest<Ship>())
            let harbour = Harbour(context: context)
            harbour.name = "Kiel"
            ships[0].harbour = harbour
            ships[1].harbour = harbour
            for label in ["A", "B"] {
                let barrel = Barrel(context: context)
                (barrel.label, barrel.ship) = (label, ships[0])
            }
            ships[0].escorts = [ships[2]]
            let logbook = Logbook(context: context)
            logbook.subject = ships[0]
            logbook.others = [ships[0], ships[1]]
            try context.save()
        }
        return fleet
    }

    @Test func `a delete is one entry with all values, what the rules add included`() throws {
        let fleet = try makeFleet()
        let result = try fleet.inContext {
            try $0.execute(
                BatchDeleteRequest<Ship>(where: \.tonnage == 10), author: "ada", note: "Scrapped")
        }

        #expect(result.count == 1 && result.cascadedCount == 2 && result.releasedCount == 2)
        let entry = try fleet.store.store.entry(try #require(result.sequence))
        #expect(entry.header.kind == .batch && entry.header.author == "ada")
        let deleted = entry.changes.filter(\.isDelete)
        #expect(deleted.count == 3 && deleted.count { $0.cause != nil } == 2)
        try fleet.inContext { (context) throws in
            let codes = try context.fetch(FetchRequest<Ship>()).map(\.code)
            #expect(codes == ["S1", "S2"])
            #expect(try context.count(FetchRequest<Barrel>()) == 0)
            let harbour = try #require(try context.fetch(FetchRequest<Harbour>()).first)
            #expect(harbour.shipCount == 1 && harbour.tonnage == 20)
            let logbook = try #require(try context.fetch(FetchRequest<Logbook>()).first)
            #expect(logbook.subject == nil && logbook.others.map(\.code) == ["S1"])
            let escort = try #require(
                try context.fetch(FetchRequest<Ship>(where: \Ship.code == "S2")).first)
            #expect(escort.escorted.isEmpty)
        }
    }

    @Test func `an undo brings everything back`() throws {
        let fleet = try makeFleet()
        let before = try fleet.contents()
        let entry = try fleet.inContext {
            try $0.execute(BatchDeleteRequest<Harbour>()).sequence
        }
        #expect(try fleet.tonnages() == ["S2": 30])

        try fleet.container.undo(try #require(entry))

        #expect(try fleet.contents() == before)
    }

    @Test func `a preview says what would go and what would lose references`() throws {
        let fleet = try makeFleet()
        let head = try fleet.store.head()
        let preview = try fleet.inContext {
            try $0.preview(BatchDeleteRequest<Harbour>())
        }

        #expect(preview.objectIDs.map(\.description) == ["Harbour/4"])
        #expect(
            preview.cascadedIDs.map(\.description).sorted() == [
                "Barrel/5", "Barrel/6", "Ship/1", "Ship/2",
            ])
        #expect(preview.releasedIDs.map(\.description).sorted() == ["Logbook/7", "Ship/3"])
        #expect(preview.refusal == nil)
        #expect(try fleet.store.head() == head)
    }

    @Test func `deny refuses as long as the other end stays`() throws {
        let fleet = try makeFleet()
        try fleet.inContext { (context) throws in
            let inspection = Inspection(context: context)
            inspection.ship = try context.fetch(FetchRequest<Ship>()).first
            try context.save()
            let request = BatchDeleteRequest<Ship>(where: \.tonnage == 10)

            let preview = try context.preview(request)
            let error = #expect(throws: StoreError.self) { try context.execute(request) }

            #expect(preview.refusal?.code == .validation && preview.count == 1)
            #expect(error?.failures.map(\.reason) == [.deleteDenied])
            #expect(
                error?.failures.first?.message
                    == "'Ship/1' cannot be deleted while its relationship 'inspections' leads to "
                    + "1 object.")
            try context.execute(BatchDeleteRequest<Inspection>())
            #expect(try context.execute(request).count == 1)
        }
    }

    @Test func `live objects learn of it by merging`() throws {
        let fleet = try makeFleet()
        try fleet.inContext { (context) throws in
            let ships = try context.fetch(FetchRequest<Ship>())
            #expect(ships.map(\.tonnage) == [10, 20, 30])
            var request = BatchDeleteRequest<Ship>(objects: [ships[1].objectID])
            request.resultType = .objectIDs

            let result = try context.execute(request)
            _ = try context.mergeChanges()

            #expect(result.objectIDs == [ships[1].objectID])
            #expect(try context.fetch(FetchRequest<Ship>()) == [ships[0], ships[2]])
            #expect(ships[1].isFault || ships[1].isDeleted || ships[1].managedObjectContext == nil)
        }
    }

    @Test func `nothing to delete writes no entry`() throws {
        let fleet = try makeFleet()
        let result = try fleet.inContext {
            try $0.execute(BatchDeleteRequest<Ship>(where: \.tonnage > 1_000))
        }
        #expect(result.sequence == nil && result.count == 0)
    }

    @Test func `many are changed and deleted at once`() throws {
        let fleet = try FleetStore()
        let count = 5_000
        try fleet.inContext { (context) throws in
            try context.execute(
                BatchInsertRequest<Ship>(0..<count) { number, row in
                    row[\.code] = "S\(number)"
                    row[\.tonnage] = number
                })
            let updated = try context.execute(
                BatchUpdateRequest<Ship>(assigning: [.add(1, to: \.tonnage)]))
            let deleted = try context.execute(BatchDeleteRequest<Ship>(where: \.tonnage > 10))

            #expect(updated.count == count && deleted.count == count - 10)
            #expect(try context.count(FetchRequest<Ship>()) == 10)
        }
        #expect(try fleet.store.store.verify().isSound)
    }
}
