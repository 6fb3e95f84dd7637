// The room of evolving: the versions of a program's classes and the stages between them. It opens a store,
// lends contexts of two versions to a stage, and leaves everything else to the store.

public import DaybookObjectModel

/// The classes of a program as one of its versions has them.
///
/// The classes of a version stand inside it, so that those of two versions can have the same name, and stand
/// for the same entity:
///
/// ```swift
/// enum LibraryV1: VersionedSchema {
///     static let models: [ManagedObject.Type] = [Person.self]
///
///     final class Person: ManagedObject {
///         @Attribute var name: String = ""
///     }
/// }
/// ```
///
/// A version that a released program has had must not be changed any more: a store is recognized by it.
public protocol VersionedSchema: SendableMetatype {
    /// The classes.
    static var models: [ManagedObject.Type] { get }
    /// What every entry must say; nothing by default. See ``ManagedObjectModel/requires``.
    static var requires: Set<AttributionRequirement> { get }
    /// What the store finds entries by; nothing by default. See ``ManagedObjectModel/indexesEntries``.
    static var indexesEntries: Set<IndexedAttribution> { get }
}

extension VersionedSchema {
    /// Nothing.
    public static var requires: Set<AttributionRequirement> { [] }

    /// Nothing.
    public static var indexesEntries: Set<IndexedAttribution> { [] }
}

/// The versions of a program's classes, and the stages that lead a store from one to the next.
///
/// Use a plan where a step cannot be worked out from two models, or where the program must take it in its
/// own way; else ``MigrationPolicy`` is enough.
///
/// ```swift
/// enum LibraryPlan: SchemaMigrationPlan {
///     static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
///     static let stages: [MigrationStage] = [
///         .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self) { old, new in
///             for person in try old.fetch(FetchRequest<LibraryV1.Person>()) {
///                 let words = person.name.split(separator: " ").map(String.init)
///                 let same = new.object(with: person.objectID) as? LibraryV2.Person
///                 same?.firstName = words.first ?? ""
///                 same?.lastName = words.last ?? ""
///             }
///         }
///     ]
/// }
/// let container = try PersistentContainer(url, migrationPlan: LibraryPlan.self)
/// ```
///
/// Opening a store finds the version that the store has, and takes the stages from there to the last one.
/// Each stage is one entry of the journal. A program that is killed on the way leaves the store at one
/// version or the next, and the next program to open it goes on from there. Where several programs open it
/// at once, one of them takes each stage.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, oldest first. The last one is the program's own.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The stages: one that leads on from each version but the last.
    static var stages: [MigrationStage] { get }
}

/// A version of a plan with its model.
struct PlannedVersion {
    let schema: any VersionedSchema.Type
    let model: ManagedObjectModel

    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together.
    init(_ schema: any VersionedSchema.Type) throws {
        self.schema = schema
        model = try GraphModel(
            classes: schema.models, requires: schema.requires,
            indexesEntries: schema.indexesEntries
        ).schema.model
    }
}

extension SchemaMigrationPlan {
    /// Checks that the stages lead from every version to the last one.
    ///
    /// - Throws: ``ModelError`` with every mistake.
    static func check() throws {
        let problems = schemas.isEmpty ? [emptyProblem] : stageProblems + gapProblems
        guard problems.isEmpty else { throw ModelError(problems) }
    }

    /// The versions with their models.
    ///
    /// - Throws: ``ModelError`` when the classes of one do not fit together, or when two have the same
    ///   model.
    static func versions() throws -> [PlannedVersion] {
        let versions = try schemas.map(PlannedVersion.init)
        for (index, version) in versions.enumerated() {
            let model = version.model.versioned
            let twin = versions[..<index].first { $0.model.versioned == model }
            guard let twin else { continue }
            throw ModelError([
                "'\(twin.schema)' and '\(version.schema)' of the plan '\(self)' declare the same model, "
                    + "so that a store of one cannot be told from a store of the other. Leave one of "
                    + "them out, or tell them apart by a 'versionHashModifier'."
            ])
        }
        return versions
    }

    /// The stage that leads on from a version.
    static func stage(from schema: any VersionedSchema.Type) -> MigrationStage? {
        stages.first { $0.fromVersion == schema }
    }

    private static var emptyProblem: String {
        "The plan '\(self)' has no version. List the versions of the classes in its 'schemas'."
    }

    private static var stageProblems: [String] {
        var problems: [String] = []
        for (index, stage) in stages.enumerated() {
            for schema in [stage.fromVersion, stage.toVersion]
            where !schemas.contains(where: { $0 == schema }) {
                problems.append(
                    "The plan '\(self)' has a stage '\(stage.name)', and '\(schema)' is not among its "
                        + "'schemas'. Add it there.")
            }
            if stages[..<index].contains(where: { $0.fromVersion == stage.fromVersion }) {
                problems.append(
                    "The plan '\(self)' has two stages that lead on from '\(stage.fromVersion)'. Leave "
                        + "one of them out.")
            }
        }
        return problems
    }

    /// What keeps stores of single versions from coming to the last one.
    private static var gapProblems: [String] {
        var problems: [String] = []
        for (index, schema) in schemas.dropLast().enumerated() {
            guard stage(from: schema) == nil else { continue }
            problems.append(
                "The plan '\(self)' has no stage that leads on from '\(schema)'. Add '.lightweight("
                    + "fromVersion: \(schema).self, toVersion: \(schemas[index + 1]).self)' to its "
                    + "'stages', or a custom one.")
        }
        if let circle = schemas.lazy.compactMap(circle).first {
            let names = circle.map { "'\($0)'" }.joined(separator: ", ")
            problems.append(
                "The stages of the plan '\(self)' lead in a circle: \(names). Let each lead to a "
                    + "later version.")
        }
        return problems
    }

    /// The versions on the way from one back to itself; nil when there is no such way.
    private static func circle(
        from start: any VersionedSchema.Type
    ) -> [any VersionedSchema.Type]? {
        var way = [start]
        while let last = way.last, let next = stage(from: last)?.toVersion {
            way.append(next)
            if next == start { return way }
            if way.count > schemas.count { return nil }
        }
        return nil
    }
}
