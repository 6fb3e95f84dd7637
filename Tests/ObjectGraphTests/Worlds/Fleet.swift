import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

// A fleet with every delete rule and every kind of number.

final class Harbour: ManagedObject {
    @Attribute(.unique) var name: String
    @Attribute(.derived("ships.@count")) private(set) var shipCount: Int = 0
    @Attribute(.derived("ships.tonnage.@sum")) private(set) var tonnage: Int = 0
    @Relationship(.cascade, inverse: \Ship.harbour) var ships: Set<Ship>
}

class Ship: ManagedObject {
    @Attribute(.unique) final var code: String
    @Attribute(.indexed, rules: [.minimum(0)]) final var tonnage: Int = 0
    @Attribute final var built: Int16 = 1900
    @Attribute final var crew: Int?
    @Attribute final var spare: Int?
    @Attribute final var price: Decimal = 0
    @Attribute final var speed: Double = 1
    @Attribute final var draught: Float = 0.1
    @Attribute final var remark: String?
    @Transient final var whim: String?
    @Relationship final var harbour: Harbour?
    @Relationship(.cascade, inverse: \Barrel.ship) final var barrels: Set<Barrel>
    @Relationship(.deny, inverse: \Inspection.ship) final var inspections: Set<Inspection>
    @Relationship(inverse: \Ship.escorted) final var escorts: Set<Ship>
    @Relationship final var escorted: Set<Ship>
}

final class Ferry: Ship {
    @Attribute var decks: Int = 1
}

final class Barrel: ManagedObject {
    @Attribute var label: String = ""
    @Relationship var ship: Ship?
}

final class Inspection: ManagedObject {
    @Relationship var ship: Ship?
}

/// Refers to ships, which know nothing of it.
final class Logbook: ManagedObject {
    @Relationship var subject: Ship?
    @Relationship var others: Set<Ship>
}

/// A new store for a fleet.
struct FleetStore {
    private let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try Self.container(in: folder)
    }

    private static func container(in folder: TemporaryDirectory) throws -> PersistentContainer {
        try TestContainer.make(
            folder.url.appendingPathComponent("fleet.daybook"),
            model: [
                Harbour.self, Ship.self, Ferry.self, Barrel.self, Inspection.self, Logbook.self,
            ])
    }

    /// The same store, opened once more as another program does.
    func another() throws -> PersistentContainer {
        try Self.container(in: folder)
    }

    var store: PersistentStore {
        get throws {
            guard let store = container.persistentStoreCoordinator.persistentStores.first else {
                throw StoreError.noStore()
            }
            return store
        }
    }

    /// Runs `body` in a new context on its queue.
    @discardableResult
    func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    /// Saves ships of given tonnages with the codes S0, S1 …
    func launch(_ tonnages: [Int]) throws {
        try inContext { (context) throws in
            for (index, tonnage) in tonnages.enumerated() {
                let ship = Ship(context: context)
                ship.code = "S\(index)"
                ship.tonnage = tonnage
            }
            try context.save(author: "yard")
        }
    }

    /// The tonnage of each ship by its code, as it is saved.
    func tonnages() throws -> [String: Int] {
        try inContext { (context) throws in
            let ships = try context.fetch(FetchRequest<Ship>())
            return Dictionary(ships.map { ($0.code, $0.tonnage) }) { first, _ in first }
        }
    }

    /// Everything that is saved, as text.
    func contents() throws -> [String] {
        let store = try store.store
        return try store.read { snapshot in
            var lines: [String] = []
            try snapshot.objects(of: snapshot.schema.entities.map(\.number)) { object in
                let state = try snapshot.state(of: object)
                let members = (state?.members ?? [:]).sorted { $0.key < $1.key }.map {
                    "\($0.key.rawValue): \($0.value.keys.sorted())"
                }
                lines.append("\(object) \(state?.values ?? []) \(members)")
                return .proceed
            }
            return lines
        }
    }
}
