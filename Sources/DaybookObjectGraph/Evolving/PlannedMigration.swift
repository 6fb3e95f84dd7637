import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// Takes a store through the stages of a plan.
struct PlannedMigration {
    private let plan: any SchemaMigrationPlan.Type
    private let url: URL
    private let options: PersistentStoreOptions
    private let model: ManagedObjectModel
    /// The model that the store is to have, as a version keeps it.
    private let wanted: ManagedObjectModel

    init(
        _ plan: any SchemaMigrationPlan.Type, of url: URL, to model: ManagedObjectModel,
        _ options: PersistentStoreOptions
    ) {
        self.plan = plan
        self.url = url
        self.model = model
        wanted = model.versioned
        var plain = PersistentStoreOptions()
        plain.migration = options.migration
        plain.durability = options.durability
        plain.lockTimeout = options.lockTimeout
        plain.isUntrusted = options.isUntrusted
        plain.checkProgress = options.checkProgress
        plain.indexes = options.indexes
        plain.migrationProgress = options.migrationProgress
        plain.sharing = options.sharing
        self.options = plain
    }

    /// Opens the store when all stages that are left have been taken. Each is durable before the next
    /// begins.
    ///
    /// A store that has had the program's model is left alone: the program is an older one then.
    ///
    /// - Throws: ``ModelError`` when the plan does not hold together; ``StoreError`` with code
    ///   `modelMismatch` when the store has no version of the plan; with `conflict` when others kept saving
    ///   while a stage was taken; what a stage throws. The store has the version before that stage then.
    func open() throws -> Store {
        try plan.check()
        var attempt = 1
        while true {
            let store = try Store.open(at: url.path, options: options.storeOptions)
            switch try closing(store, onlyIfItThrows: { try place(of: store) }) {
            case .end:
                try closing(store, onlyIfItThrows: store.buildIndexesNow)
                return store
            case .beyond:
                try store.close()
                return try Store.open(at: url.path, model: model, options: options.storeOptions)
            case .before(let stage):
                do {
                    try using(store) { try take(stage, on: $0) }
                    attempt = 1
                } catch let error as StoreError
                    where error.code == .conflict && attempt < stage.maxAttempts
                {
                    attempt += 1
                }
            }
        }
    }

    // MARK: - The way

    /// Where a store is on the way.
    private enum Place {
        case before(MigrationStage)
        /// It has the program's model.
        case end
        /// It had that once.
        case beyond
    }

    private func place(of store: Store) throws -> Place {
        if store.schema.model == wanted { return .end }
        if try store.hasHad(wanted) { return .beyond }
        let versions = try plan.versions()
        guard versions.last?.model.versioned == wanted else {
            throw StoreError.planLeadsElsewhere(plan)
        }
        guard let version = versions.first(where: { $0.model.versioned == store.schema.model }),
            let stage = plan.stage(from: version.schema)
        else { throw StoreError.notInPlan(url, store.schema.model, plan, versions) }
        return .before(stage)
    }

    /// Runs `body`, and closes a store if that throws.
    private func closing<Result>(
        _ store: Store, onlyIfItThrows body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            store.closeQuietly()
            throw error
        }
    }

    /// Runs `body` with a store, and closes it.
    private func using<Result>(
        _ store: Store, _ body: (Store) throws -> Result
    ) throws -> Result {
        let result = try closing(store, onlyIfItThrows: { try body(store) })
        try store.close()
        return result
    }

    // MARK: - One stage

    private func take(_ stage: MigrationStage, on store: Store) throws {
        let (before, after) = (
            try PlannedVersion(stage.fromVersion), try PlannedVersion(stage.toVersion)
        )
        switch stage.work {
        case .lightweight:
            _ = try store.migrate(
                from: before.model, to: after.model, author: stage.author, note: stage.note,
                info: stage.info)
        case .custom(let migrate):
            let (staged, base) = try store.staged(to: after.model, as: stage.name)
            try using(staged) { staged in
                let old = ManagedObjectContext(
                    coordinator: try coordinator(of: stage.fromVersion, on: store),
                    readingMode: .pinned(base))
                let root = ManagedObjectContext(
                    coordinator: try coordinator(of: stage.toVersion, on: staged))
                let held = QueryGenerationToken(
                    entries: [staged.uuid: QueryGenerationToken.Entry(sequence: base, digest: nil)])
                try root.performAndWait { try root.setQueryGeneration(from: held) }
                try fill(root, reading: old, by: migrate)
                try root.performAndWait {
                    // Without changes there is nothing to save but the model.
                    guard
                        try root.save(author: stage.author, note: stage.note, info: stage.info)
                            == nil
                    else {
                        return
                    }
                    let header = EntryHeader(
                        author: stage.author, note: stage.note, info: stage.info)
                    try staged.commit(SaveRequest(header: header))
                }
            }
        }
    }

    /// Runs the closure in a context on top of `root`, so that what it saves is not in the store yet.
    private func fill(
        _ root: ManagedObjectContext, reading old: ManagedObjectContext,
        by migrate: MigrationStage.Migration
    ) throws {
        let new = ManagedObjectContext(parent: root)
        try new.performAndWait {
            try old.performAndWait { try migrate(old, new) }
            try new.save()
        }
    }

    /// A coordinator of a version's classes with a store that is open.
    private func coordinator(
        of schema: any VersionedSchema.Type, on store: Store
    ) throws -> PersistentStoreCoordinator {
        let coordinator = try PersistentStoreCoordinator(
            classes: schema.models, requires: schema.requires,
            indexesEntries: schema.indexesEntries)
        try coordinator.number(by: store.schema.version, of: url)
        // Nobody observes it.
        var options = options
        options.remoteChanges = .whenChecked
        let location = StoreLocation(
            url: url, type: .file, configurationName: nil, entities: nil, options: options)
        _ = try coordinator.attach(store, location, endWhenAdded: store.end())
        return coordinator
    }
}

extension StoreError {
    fileprivate static func planLeadsElsewhere(_ plan: any SchemaMigrationPlan.Type) -> StoreError {
        StoreError(
            .model,
            "The plan '\(plan)' does not lead to the model of the coordinator. Make the coordinator with "
                + "the classes of the plan's last version, or add a version to the plan.")
    }

    fileprivate static func notInPlan(
        _ url: URL, _ model: ManagedObjectModel, _ plan: any SchemaMigrationPlan.Type,
        _ versions: [PlannedVersion]
    ) -> StoreError {
        let names = versions.map { "'\($0.schema)'" }.joined(separator: ", ")
        let differences = versions.map { ($0.schema, $0.model.differences(from: model)) }
        let nearest = differences.min { $0.1.count < $1.1.count }
        return StoreError(
            .modelMismatch,
            "The model of '\(url.path)' is not in the plan '\(plan)', which has \(names). Add the version "
                + "that the store has to the plan, with a stage that leads on from it; 'daybook model' "
                + "prints it.",
            details: nearest.map { nearest in
                nearest.1.map { "'\(nearest.0)': \($0)" }
            } ?? [])
    }
}
