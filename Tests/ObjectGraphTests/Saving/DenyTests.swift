import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

private final class Shelf: ManagedObject {
    @Relationship(.deny, inverse: \Volume.shelf) var volumes: [Volume]
    @Relationship(.deny) var lamp: Lamp?
}

private final class Volume: ManagedObject {
    @Relationship var shelf: Shelf?
}

private final class Lamp: ManagedObject {
    @Attribute var watts: Int = 0
}

/// The delete rule `deny` for relationships that are kept with the object that is deleted.
@Suite struct DenyTests {
    private let store: ClassStore

    init() throws {
        store = try ClassStore([Shelf.self, Volume.self, Lamp.self])
    }

    /// A saved shelf with two volumes and a lamp.
    private func shelf(in context: ManagedObjectContext) throws -> Shelf {
        let shelf = Shelf(context: context)
        shelf.volumes = [Volume(context: context), Volume(context: context)]
        shelf.lamp = Lamp(context: context)
        try context.save()
        return shelf
    }

    /// How a shelf is emptied.
    enum Way: CaseIterable {
        case inOneEvent, inTwoEvents, fromTheOtherEnd, byDeleting
    }

    private func empty(_ shelf: Shelf, _ way: Way, in context: ManagedObjectContext) {
        switch way {
        case .inOneEvent, .inTwoEvents:
            shelf.volumes = []
            shelf.lamp = nil
            if way == .inTwoEvents { context.processPendingChanges() }
        case .fromTheOtherEnd:
            for volume in shelf.volumes { volume.shelf = nil }
            shelf.lamp = nil
        case .byDeleting:
            for volume in shelf.volumes { context.delete(volume) }
            if let lamp = shelf.lamp { context.delete(lamp) }
        }
    }

    @Test(arguments: Way.allCases)
    func `S89 what led somewhere when it was saved is deleted once it leads nowhere`(
        way: Way
    ) throws {
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let shelf = try shelf(in: context)
            empty(shelf, way, in: context)
            context.delete(shelf)

            try context.save()

            #expect(try context.count(FetchRequest<Shelf>()) == 0)
        }
    }

    @Test(arguments: Way.allCases)
    func `S89 the same in a child, whose parent saves it`(way: Way) throws {
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let parents = try shelf(in: context)
            let child = ManagedObjectContext(parent: context)
            try child.performAndWait { () throws in
                let shelf = try #require(
                    child.existingObject(with: parents.objectID) as? Shelf)
                empty(shelf, way, in: child)
                child.delete(shelf)
                try child.save()
            }

            try context.save()

            #expect(try context.count(FetchRequest<Shelf>()) == 0)
        }
    }

    @Test func `S89 what led nowhere when it was saved is kept when it leads somewhere`() throws {
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let shelf = Shelf(context: context)
            let lamp = Lamp(context: context)
            let volume = Volume(context: context)
            try context.save()
            shelf.lamp = lamp
            shelf.volumes = [volume]
            context.delete(shelf)

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.failures.count == 2)
            #expect(error?.failures.allSatisfy { $0.reason == .deleteDenied } == true)
            #expect(throws: StoreError.self) { try shelf.validateForDelete() }
            context.undo()
            context.delete(lamp)
            context.delete(volume)
            context.delete(shelf)
            try context.save()
            #expect(try context.count(FetchRequest<Shelf>()) == 0)
        }
    }
}
