import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// One store, opened with one model after the other.
final class Evolving {
    let temporary: TemporaryStore
    /// All openings so far, the first model's first.
    private(set) var openings: [Store]

    convenience init(_ entities: EntityDescription...) throws {
        try self.init(model: ManagedObjectModel(entities: entities))
    }

    init(model: ManagedObjectModel) throws {
        temporary = try TemporaryStore(model)
        openings = [temporary.store]
    }

    deinit {
        do {
            for opening in openings { try opening.close() }
        } catch {
            // The folder goes away with it.
            return
        }
    }

    /// The opening with the newest model.
    var store: Store { openings[openings.count - 1] }

    /// Opens the store with another model, beside those that are open.
    @discardableResult
    func open(
        _ entities: [EntityDescription], _ migration: MigrationPolicy = .automatic,
        matching: ModelMatching = ModelMatching()
    ) throws -> Store {
        try open(model: ManagedObjectModel(entities: entities), migration, matching: matching)
    }

    @discardableResult
    func open(
        model: ManagedObjectModel, _ migration: MigrationPolicy = .automatic,
        matching: ModelMatching = ModelMatching(), work: StoreOptions.WorkHandler? = nil
    ) throws -> Store {
        var options = StoreOptions.counting()
        options.migration = migration
        options.matching = matching
        options.work = work
        openings.append(try TestStore.open(at: temporary.path, model: model, options: options))
        return store
    }

    @discardableResult
    func open(
        _ entities: EntityDescription..., migration: MigrationPolicy = .automatic
    ) throws -> Store {
        try open(entities, migration)
    }
}

extension Store {
    /// Saves one new object.
    @discardableResult
    func add(
        _ entity: String, _ values: [String: Value] = [:], members: [String: [ObjectID]] = [:]
    ) throws -> ObjectID {
        let object = try newObject(entity)
        let ordered = members.mapValues { members in
            members.enumerated().map { Member(object: $1, order: Double($0)) }
        }
        let change = insert(object, values, members: ordered)
        try commit(SaveRequest(changes: [change]))
        return object
    }

    /// Saves another value.
    func set(_ object: ObjectID, _ name: String, _ value: Value) throws {
        let old = try self.value(name, of: object)
        try commit(SaveRequest(changes: [update(object, name, from: old, to: value)]))
    }

    func remove(_ object: ObjectID) throws {
        try commit(SaveRequest(changes: [try delete(object)]))
    }

    func value(_ name: String, of object: ObjectID) throws -> Value {
        try read { try $0.value(of: property(name, of: object), in: object) }
    }

    func others(_ name: String, of object: ObjectID) throws -> [ObjectID] {
        try read { try $0.members(of: property(name, of: object), in: object) }
    }

    /// The objects that a filter finds, by number.
    func found(_ entity: String, _ text: String) throws -> [ObjectID] {
        let entity = try #require(schema.entity(named: entity))
        let filter = try Filter(parsing: text, for: entity, in: schema)
        return try read { try $0.fetch(Query(entity, filter: filter)) }
    }

    /// Checks every table, against the journal and against a rebuild.
    func expectSound(
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let report = try verify()
        #expect(report.isSound, "\(report.findings) \(report.gaps)", sourceLocation: sourceLocation)
        let before = try projectionDigest()
        try rebuild()
        #expect(try projectionDigest() == before, sourceLocation: sourceLocation)
    }
}

/// Shorter descriptions.
func entity(
    _ name: String, under parent: String? = nil, was earlier: String? = nil,
    _ attributes: [AttributeDescription] = [], to relationships: [RelationshipDescription] = [],
    unique constraints: [[String]] = []
) -> EntityDescription {
    EntityDescription(
        name: name, superentityName: parent, attributes: attributes, relationships: relationships,
        uniquenessConstraints: constraints, renamingIdentifier: earlier)
}

func attribute(
    _ name: String, _ type: AttributeType = .string, was earlier: String? = nil,
    required: Bool = false, indexed: Bool = false, unique: Bool = false,
    default value: Value = .null
) -> AttributeDescription {
    AttributeDescription(
        name: name, type: type, isOptional: !required, isIndexed: indexed, isUnique: unique,
        defaultValue: value, renamingIdentifier: earlier)
}

func relationship(
    _ name: String, _ destination: String, inverse: String? = nil, many: Bool = false,
    ordered: Bool = false, required: Bool = false, rule: DeleteRule = .nullify
) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationName: destination, inverseName: inverse, isToMany: many || ordered,
        isOrdered: ordered, isOptional: !required, deleteRule: rule)
}
