import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What stages of a plan tell of their work, and the indexes that they put off.
@Suite struct StageWorkTests {
    private let folder: TemporaryDirectory
    private var url: URL { folder.url.appendingPathComponent("items.daybook") }

    /// A store of the first version with three items.
    init() throws {
        folder = try TemporaryDirectory()
        let container = try TestContainer.make(url, model: ItemsV1.models)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for name in ["a", "b", "a"] { ItemsV1.Item(context: context).name = name }
            try context.save()
        }
        try LibraryFile.close(container)
    }

    private func open(
        _ plan: any SchemaMigrationPlan.Type, _ indexes: IndexBuilding = .immediate,
        _ progress: Progress? = nil
    ) throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        options.indexes = indexes
        options.migrationProgress = progress
        return try TestContainer.make(url, migrationPlan: plan, options: options)
    }

    private func sizes(_ container: PersistentContainer) throws -> [Int] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(FetchRequest<ItemsV2.Item>(where: \ItemsV2.Item.name == "a"))
                .map(\.size)
        }
    }

    @Test(arguments: [true, false])
    func `the indexes of a stage are put off`(isCustom: Bool) throws {
        let plan: any SchemaMigrationPlan.Type =
            isCustom ? CustomItems.self : LightweightItems.self
        let container = try open(plan, .deferred)
        let store = container.persistentStoreCoordinator.persistentStores[0]

        #expect(try store.pendingIndexes() == ["name"])
        #expect(try sizes(container) == (isCustom ? [1, 1] : [0, 0]))
        try store.buildIndexes()

        #expect(try store.pendingIndexes() == [])
        #expect(try sizes(container) == (isCustom ? [1, 1] : [0, 0]))
        try LibraryFile.close(container)
    }

    @Test(arguments: [true, false])
    func `an open without deferring builds what a stage has put off`(isCustom: Bool) throws {
        let plan: any SchemaMigrationPlan.Type =
            isCustom ? CustomItems.self : LightweightItems.self
        try LibraryFile.close(try open(plan, .deferred))

        let container = try open(plan)

        let store = container.persistentStoreCoordinator.persistentStores[0]
        #expect(try store.pendingIndexes() == [])
        try LibraryFile.close(container)
    }

    @Test(arguments: [true, false])
    func `a stage tells how far it has come, to the end`(isCustom: Bool) throws {
        let progress = Progress(totalUnitCount: 0)

        let container = try open(
            isCustom ? CustomItems.self : LightweightItems.self, .immediate, progress)

        #expect(progress.totalUnitCount > 0)
        #expect(progress.completedUnitCount == progress.totalUnitCount)
        try LibraryFile.close(container)
    }

    @Test(arguments: [true, false])
    func `a stage that is cancelled leaves the store at the version before`(isCustom: Bool) throws {
        let progress = Progress(totalUnitCount: 0)
        progress.cancel()

        let refusal = #expect(throws: StoreError.self) {
            try open(isCustom ? CustomItems.self : LightweightItems.self, .immediate, progress)
        }

        #expect(refusal?.code == .cancelled)
        let older = try TestContainer.make(url, model: ItemsV1.models)
        let context = older.newBackgroundContext()
        try context.performAndWait {
            ItemsV1.Item(context: context).name = "c"
            try context.save()
        }
        #expect(try older.persistentStoreCoordinator.persistentStores[0].head().rawValue == 3)
        try LibraryFile.close(older)
    }

    @Test func `a description puts indexes off and tells of progress`() throws {
        var description = PersistentStoreDescription(url: url)
        let progress = Progress(totalUnitCount: 0)
        description.indexes = .deferred
        description.migrationProgress = progress
        let container = try TestContainer.make(
            model: ItemsV2.models, descriptions: [description])

        container.loadPersistentStores { _, error in #expect(error == nil) }

        let store = container.persistentStoreCoordinator.persistentStores[0]
        #expect(try store.pendingIndexes() == ["name"])
        #expect(store.options.migrationProgress == progress)
        try LibraryFile.close(container)
    }

    /// The store is open once when nothing is left of a plan.
    @Test func `a store at the end of a plan has the options that it is opened with`() throws {
        try LibraryFile.close(try open(CustomItems.self))

        var options = PersistentStoreOptions()
        options.durability = .relaxed
        let container = try TestContainer.make(
            url, migrationPlan: CustomItems.self, options: options)

        let store = container.persistentStoreCoordinator.persistentStores[0]
        #expect(store.options.durability == .relaxed)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            ItemsV2.Item(context: context).name = "d"
            try context.save()
        }
        #expect(try store.head().rawValue == 4)
        try LibraryFile.close(container)
    }
}

private enum ItemsV1: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self]

    final class Item: ManagedObject {
        @Attribute var name: String = ""
    }
}

private enum ItemsV2: VersionedSchema {
    static let models: [ManagedObject.Type] = [Item.self]

    final class Item: ManagedObject {
        @Attribute(.indexed) var name: String = ""
        @Attribute var size: Int = 0
    }
}

private enum LightweightItems: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [ItemsV1.self, ItemsV2.self]
    static let stages: [MigrationStage] = [
        .lightweight(fromVersion: ItemsV1.self, toVersion: ItemsV2.self)
    ]
}

private enum CustomItems: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [ItemsV1.self, ItemsV2.self]
    static let stages: [MigrationStage] = [
        .custom(fromVersion: ItemsV1.self, toVersion: ItemsV2.self) { old, new in
            for item in try old.fetch(FetchRequest<ItemsV1.Item>()) {
                let same = new.object(with: item.objectID) as? ItemsV2.Item
                same?.size = item.name.count
            }
        }
    ]
}
