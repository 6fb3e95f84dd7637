// The support of tests that use objects: apart from the other, so that tests of the lower layers do not wait for
// the object graph to be built.

package import DaybookObjectGraph
package import DaybookObjectModel
internal import DaybookSnapshotStore
internal import DaybookTestSupport
package import Foundation

/// Makes the containers of tests: no test does so by itself, so that all of them can be run with stores of
/// another kind.
///
/// Each function stands for the initializer of ``PersistentContainer`` with the same parameters.
package enum TestContainer {
    /// Opens a store, or makes it, for classes.
    package static func make(
        _ url: URL, model: [ManagedObject.Type], requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = [],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try PersistentContainer(
            url, model: model, requires: requires, indexesEntries: indexesEntries,
            options: linked(options, url))
    }

    /// Opens a store, or makes it, for the last version of a plan.
    package static func make(
        _ url: URL, migrationPlan: any SchemaMigrationPlan.Type,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try PersistentContainer(url, migrationPlan: migrationPlan, options: linked(options, url))
    }

    /// Opens a store, or makes it, for a model.
    package static func make(
        _ url: URL, managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try PersistentContainer(
            url, managedObjectModel: managedObjectModel, classes: classes,
            options: linked(options, url))
    }

    /// Makes a store in memory for classes.
    package static func make(
        inMemory model: [ManagedObject.Type], requires: Set<AttributionRequirement> = []
    ) throws -> PersistentContainer {
        try PersistentContainer(inMemory: model, requires: requires)
    }

    /// Makes a store in memory for a model.
    package static func make(
        inMemory managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = []
    ) throws -> PersistentContainer {
        try PersistentContainer(inMemory: managedObjectModel, classes: classes)
    }

    /// Describes stores for classes, and opens none.
    package static func make(
        model: [ManagedObject.Type], configurations: [String: [ManagedObject.Type]] = [:],
        requires: Set<AttributionRequirement> = [], descriptions: [PersistentStoreDescription]
    ) throws -> PersistentContainer {
        try PersistentContainer(
            model: model, configurations: configurations, requires: requires,
            descriptions: linked(descriptions))
    }

    /// Describes stores for a model, and opens none.
    package static func make(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
        descriptions: [PersistentStoreDescription]
    ) throws -> PersistentContainer {
        try PersistentContainer(
            managedObjectModel: managedObjectModel, classes: classes,
            descriptions: linked(descriptions))
    }

    /// The options with the link of the file, where the stores of tests are shared.
    private static func linked(
        _ options: PersistentStoreOptions, _ url: URL
    ) throws -> PersistentStoreOptions {
        guard options.sharing == nil, !options.isReadOnly else { return options }
        var linked = options
        linked.sharing = try sharing(of: url)
        return linked
    }

    private static func linked(
        _ descriptions: [PersistentStoreDescription]
    ) throws -> [PersistentStoreDescription] {
        try descriptions.map { description in
            guard description.sharing == nil, !description.isReadOnly, description.type == .file
            else { return description }
            var linked = description
            linked.sharing = try sharing(of: description.url)
            return linked
        }
    }

    private static func sharing(of url: URL) throws -> StoreSharing? {
        let link =
            FileManager.default.fileExists(atPath: url.path)
            ? BackEnd.link(ofFileAt: url.path)
            : try BackEnd.newLink(
                StoreIdentity(uuid: UUID(), createdAt: StoreOptions.systemClock()),
                clock: StoreOptions.systemClock)
        return link.map(StoreSharing.init)
    }
}
