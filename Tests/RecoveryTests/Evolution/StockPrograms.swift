import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// A stock as the first version of its program has it: what an item is called stands in one text.
enum StockV1: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self]

    final class Item: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute var label: String = ""
        @Attribute var place: String?
    }
}

/// The text is split.
enum StockV2: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self]

    final class Item: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute(.required) var name: String
        @Attribute(.required) var size: Int
        @Attribute var place: String?
    }
}

/// What can be worked out.
enum StockV3: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self]

    final class Item: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute([.required, .indexed, .renamed("name")]) var title: String
        @Attribute(.required) var size: Int
        @Attribute var place: String?
    }
}

/// The place is an entity.
enum StockV4: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self, Place.self]

    final class Item: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute([.required, .indexed]) var title: String
        @Attribute(.required) var size: Int
        @Relationship var place: Place?
    }

    final class Place: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Item.place) var items: Set<Item>
    }
}

enum StockPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [
        StockV1.self, StockV2.self, StockV3.self, StockV4.self,
    ]

    static let stages: [MigrationStage] = [
        .custom(fromVersion: StockV1.self, toVersion: StockV2.self) { old, new in
            for item in try old.fetch(FetchRequest<StockV1.Item>()) {
                let words = item.label.split(separator: "/").map(String.init)
                let same = new.object(with: item.objectID) as? StockV2.Item
                same?.name = words.first ?? ""
                same?.size = words.last.flatMap { Int($0) } ?? 0
            }
        },
        .lightweight(fromVersion: StockV2.self, toVersion: StockV3.self),
        .custom(fromVersion: StockV3.self, toVersion: StockV4.self) { old, new in
            var places: [String: StockV4.Place] = [:]
            for item in try old.fetch(FetchRequest<StockV3.Item>()) {
                guard let name = item.place else { continue }
                let place = places[name] ?? StockV4.Place(context: new)
                place.name = name
                places[name] = place
                (new.object(with: item.objectID) as? StockV4.Item)?.place = place
            }
        },
    ]
}

/// The stock, in a file.
enum Stock {
    static let count = 40

    /// Makes the stock of the first version, in two entries.
    static func make(at path: String) throws {
        let container = try PersistentContainer(URL(fileURLWithPath: path), model: StockV1.models)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for number in 1...count {
                let item = StockV1.Item(context: context)
                item.code = "\(number)"
                item.label = "item \(number)/\(number * 10)"
                item.place = number % 4 == 0 ? nil : "place \(number % 4)"
            }
            try context.save()
        }
        try close(container)
    }

    /// Opens the stock by the plan.
    ///
    /// - Returns: Each item in words, by the last version.
    static func open(_ path: String) throws -> [String] {
        let container = try PersistentContainer(
            URL(fileURLWithPath: path), migrationPlan: StockPlan.self)
        let context = container.newBackgroundContext()
        let items = try context.performAndWait { () throws in
            try context.fetch(FetchRequest<StockV4.Item>()).map {
                "\($0.code): \($0.title), \($0.size), \($0.place?.name ?? "nowhere")"
            }
        }
        try close(container)
        return items.sorted()
    }

    /// What the items are after all stages.
    static let expected = (1...count).map { number in
        let place = number % 4 == 0 ? "nowhere" : "place \(number % 4)"
        return "\(number): item \(number), \(number * 10), \(place)"
    }.sorted()

    static func close(_ container: PersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
