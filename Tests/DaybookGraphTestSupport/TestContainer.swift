// The support of tests that use objects: apart from the other, so that tests of the lower layers do not wait for
// the object graph to be built.

package import DaybookObjectGraph
package import DaybookObjectModel
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
            url, model: model, requires: requires, indexesEntries: indexesEntries, options: options)
    }

    /// Opens a store, or makes it, for the last version of a plan.
    package static func make(
        _ url: URL, migrationPlan: any SchemaMigrationPlan.Type,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try PersistentContainer(url, migrationPlan: migrationPlan, options: options)
    }

    /// Opens a store, or makes it, for a model.
    package static func make(
        _ url: URL, managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try PersistentContainer(
            url, managedObjectModel: managedObjectModel, classes: classes, options: options)
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
            descriptions: descriptions)
    }

    /// Describes stores for a model, and opens none.
    package static func make(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
        descriptions: [PersistentStoreDescription]
    ) throws -> PersistentContainer {
        try PersistentContainer(
            managedObjectModel: managedObjectModel, classes: classes, descriptions: descriptions)
    }
}
