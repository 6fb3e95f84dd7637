import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

/// Entities with rules of every kind.
final class Garage: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Truck.garage, minimumCount: 2, maximumCount: 3)
    var trucks: Set<Truck>
    @Relationship(inverse: \Permit.garage, isOptional: false) var permit: Permit?
}

final class Permit: ManagedObject {
    @Relationship var garage: Garage?
}

final class Convoy: ManagedObject {
    @Relationship(minimumCount: 2, maximumCount: 3) var trucks: Set<Truck>
}

final class Truck: ManagedObject {
    @Attribute(.required) var keeper: String
    @Attribute(rules: [.pattern("[A-Z]{1,3} [0-9]+")]) var plate: String = "AB 1"
    @Attribute(rules: [.minimumLength(2), .maximumLength(5)]) var name: String = "car"
    @Attribute(rules: [.minimum(1), .maximum(9)]) var seats: Int16 = 4
    @Attribute(rules: [.minimum(0), .maximum(99.5)]) var price: Decimal?
    @Attribute(
        rules: [
            .minimum(Date(timeIntervalSinceReferenceDate: 0)),
            .maximum(Date(timeIntervalSinceReferenceDate: 1_000)),
        ]) var built: Date?
    @Attribute(rules: [.maximumLength(4)]) var photo: Data?
    @Relationship var garage: Garage?
    @Relationship(inverse: \Convoy.trucks, maximumCount: 2) var convoys: Set<Convoy>
    @Relationship(isOptional: false) var inspector: Inspector?
}

final class Inspector: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(.deny, inverse: \Truck.inspector) var trucks: Set<Truck>
}

let motorpool: [ManagedObject.Type] = [
    Garage.self, Permit.self, Convoy.self, Truck.self, Inspector.self,
]

/// A store in a temporary folder, with contexts on it.
final class ClassStore: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init(_ classes: [ManagedObject.Type]) throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("classes.daybook"), model: classes)
    }

    /// The store below all contexts.
    var store: PersistentStore { container.persistentStoreCoordinator.persistentStores[0] }

    /// Runs `body` in a new context on its queue.
    func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }
}

extension Truck {
    /// A valid truck.
    static func valid(in context: ManagedObjectContext) -> Truck {
        let truck = Truck(context: context)
        truck.keeper = "Ada"
        truck.inspector = Inspector(context: context)
        return truck
    }
}
