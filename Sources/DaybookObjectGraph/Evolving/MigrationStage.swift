/// One stage of a ``SchemaMigrationPlan``: from one version of the classes to the next.
///
/// A stage becomes one entry of the journal, which sets the model and has the changes of the objects, if
/// there are any. Undoing that entry restores both.
public struct MigrationStage: Sendable {
    /// What a custom stage does: reads in the first context, as the earlier version has everything, and
    /// writes in the second, as the later one has it.
    public typealias Migration =
        @Sendable (_ old: ManagedObjectContext, _ new: ManagedObjectContext) throws -> Void

    /// How a stage is taken.
    enum Work: Sendable {
        case lightweight
        case custom(Migration)
    }

    let fromVersion: any VersionedSchema.Type
    let toVersion: any VersionedSchema.Type
    let author: String?
    private let ownNote: String?
    let info: [String: String]
    let maxAttempts: Int
    let work: Work

    /// What messages and the journal call the stage.
    var name: String { "\(fromVersion) to \(toVersion)" }

    /// The note of the entry.
    var note: String { ownNote ?? name }

    /// A stage of steps that can be worked out from the two models, as Core Data's lightweight migration.
    ///
    /// All such steps are allowed, as under ``MigrationPolicy/automatic``.
    ///
    /// - Parameters:
    ///   - fromVersion: The version of the store before.
    ///   - toVersion: The version afterwards.
    ///   - author: The author of the entry.
    ///   - note: Its note; the names of the versions when nil.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    /// - Returns: The stage.
    public static func lightweight(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) -> MigrationStage {
        MigrationStage(
            fromVersion: fromVersion, toVersion: toVersion, author: author, ownNote: note,
            info: info,
            maxAttempts: attemptsUsual, work: .lightweight)
    }

    /// A stage in which a closure rewrites objects: an attribute that becomes an entity or the other way
    /// round, one that is split, or several that are merged.
    ///
    /// Before the closure, everything that can be worked out from the two models is done. `old` shows the
    /// store in the classes of the version before, and can be read only. `new` shows the same objects in
    /// the classes of the version after: what was kept or renamed is there, what was removed is not, and
    /// what is new is empty or has its default. An object that both versions have has the same identifier
    /// in both: `new.object(with: person.objectID)`. What the closure changes in `new` stands in the
    /// entry that sets the model; it need not save, and a save puts nothing into the store by itself.
    ///
    /// The store is checked against the later version when the closure is done. So a required attribute
    /// may be without a value until the closure gives it one. The objects of an entity that was removed
    /// need not be deleted: they are hidden, and there again when the stage is undone.
    ///
    /// When another context or program saves while the closure runs, what the closure has changed is dropped,
    /// and it runs again on the newest state, in new contexts, as with
    /// ``ManagedObjectContext/update(maxAttempts:author:note:info:_:)``. So what it does outside of the contexts may
    /// happen several times.
    ///
    /// Programs of earlier versions can no longer save afterwards: their next save throws
    /// ``StoreError/Code/modelSuperseded`` and names the stage.
    ///
    /// - Parameters:
    ///   - fromVersion: The version of the store before.
    ///   - toVersion: The version afterwards.
    ///   - author: The author of the entry.
    ///   - note: Its note; the names of the versions when nil.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - maxAttempts: The largest number of times that the closure runs.
    ///   - migrate: Rewrites the objects. It must not keep objects or contexts.
    /// - Returns: The stage.
    public static func custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        maxAttempts: Int = 10,
        migrate: @escaping Migration
    ) -> MigrationStage {
        MigrationStage(
            fromVersion: fromVersion, toVersion: toVersion, author: author, ownNote: note,
            info: info,
            maxAttempts: maxAttempts, work: .custom(migrate))
    }

    private static let attemptsUsual = 10
}
