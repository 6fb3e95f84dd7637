import DaybookObjectModel
import DaybookSnapshotStore
import Testing

@testable import DaybookObjectGraph

/// Relationships in a context that is behind: their two ends were read at different times.
@Suite struct BehindRelationshipTests {
    private let store: StaffStore
    private let ours: ManagedObjectContext
    private let theirs: ManagedObjectContext

    init() throws {
        store = try StaffStore()
        ours = store.context("ours")
        theirs = store.context("theirs")
        for context in [ours, theirs] { context.retainsRegisteredObjects = true }
    }

    private struct Office {
        let desk, otherDesk: Desk
        let ada, grace: Employee
    }

    /// Ada sits at a desk here, and in the store Grace does.
    private func seatTwo() throws -> Office {
        let office = Office(
            desk: Desk(context: ours), otherDesk: Desk(context: ours), ada: Employee(context: ours),
            grace: Employee(context: ours))
        try ours.save()
        #expect(office.desk.occupant == nil)
        let (id, graceID) = (office.desk.objectID, office.grace.objectID)
        try theirs.performAndWait {
            let desk = try #require(try theirs.existingObject(with: id) as? Desk)
            desk.occupant = try #require(try theirs.existingObject(with: graceID) as? Employee)
            try theirs.save()
        }
        office.desk.occupant = office.ada
        ours.processPendingChanges()
        #expect(office.grace.desk === office.desk)
        return office
    }

    @Test func `a delete takes back no reference that leads elsewhere`() throws {
        try ours.performAndWait {
            let office = try seatTwo()

            ours.delete(office.grace)
            ours.processPendingChanges()

            #expect(office.desk.occupant === office.ada)
        }
    }

    @Test func `who takes another seat leaves only a seat of her own`() throws {
        try ours.performAndWait {
            let office = try seatTwo()

            office.otherDesk.occupant = office.grace

            #expect(office.desk.occupant === office.ada)
            #expect(office.otherDesk.occupant === office.grace)
        }
    }

    @Test func `who is taken out of a list keeps what is elsewhere`() throws {
        try ours.performAndWait {
            let sales = Department(context: ours)
            let research = Department(context: ours)
            let ada = Employee(context: ours)
            try ours.save()
            let (id, adaID) = (research.objectID, ada.objectID)
            try theirs.performAndWait {
                let ada = try #require(try theirs.existingObject(with: adaID) as? Employee)
                ada.department = try #require(try theirs.existingObject(with: id) as? Department)
                try theirs.save()
            }
            ada.department = sales
            ours.processPendingChanges()
            #expect(research.employees == [ada])

            research.employees = []

            #expect(ada.department === sales)
            #expect(sales.employees == [ada])
        }
    }

    @Test func `what led to an object deleted here leads to it when others bring it back`() throws {
        let store = try ClassStore([Anchor.self, Chain.self])
        let ours = store.container.newBackgroundContext()
        let theirs = store.container.newBackgroundContext()
        try ours.performAndWait {
            let chain = Chain(context: ours)
            let anchor = Anchor(context: ours)
            chain.anchor = anchor
            try ours.save()
            let id = anchor.objectID
            try theirs.performAndWait {
                let anchor = try #require(try theirs.existingObject(with: id) as? Anchor)
                anchor.name = "theirs"
            }
            ours.delete(anchor)
            try ours.save()
            #expect(chain.anchor == nil)
            _ = try theirs.performAndWait {
                theirs.mergePolicy = .mergeByPropertyObjectTrump
                try theirs.save()
            }

            _ = try ours.mergeChanges()

            #expect(chain.anchor?.name == "theirs")
        }
    }
}
