// The room of declarations: what classes declare, attribute by attribute and relationship by
// relationship, and the model built from that. It knows objects as prototypes and reads no store.

import DaybookObjectModel
import Synchronization

/// A compiled model together with the classes that represent its entities.
final class GraphModel: Sendable {
    let schema: Schema
    private let entities: [EntityNumber: GraphEntity]
    private let classes: [ManagedObject.Type]
    private let defaults: GraphEntity.DefaultSource
    /// What stands for entities that a program with a newer model has added.
    private let unknown = Mutex<[EntityNumber: GraphEntity]>([:])

    /// Builds the model from classes.
    ///
    /// - Throws: ``ModelError`` when the declarations do not fit together.
    convenience init(
        classes: [ManagedObject.Type], configurations: [String: [String]] = [:],
        requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = []
    ) throws {
        let builder = ModelBuilder(classes)
        var model = builder.model
        if !builder.problems.isEmpty { throw ModelError(builder.problems) }
        model.configurations = configurations
        model.requires = requires
        model.indexesEntries = indexesEntries
        try self.init(model, classes: classes, defaults: .type)
    }

    /// Joins a model with classes; entities without one are represented by ``ManagedObject``.
    convenience init(
        _ model: ManagedObjectModel, classes: [ManagedObject.Type],
        defaults: GraphEntity.DefaultSource = .model
    ) throws {
        self.init(try Schema(model), classes, defaults)
    }

    private init(
        _ schema: Schema, _ classes: [ManagedObject.Type], _ defaults: GraphEntity.DefaultSource
    ) {
        self.schema = schema
        self.classes = classes
        self.defaults = defaults
        let entities = schema.entities.map { entity in
            guard let type = classes.first(where: { $0.entityName == entity.name }) else {
                return GraphEntity(schema: entity, type: ManagedObject.self, prototype: nil)
            }
            return GraphEntity(
                schema: entity, type: type, prototype: ModelBuilder.makePrototype(of: type),
                defaults: defaults)
        }
        self.entities = Dictionary(
            entities.map { ($0.schema.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same model with the numbers that a store has given it.
    func numbered(by version: ModelVersion) -> GraphModel {
        GraphModel(Schema(schema.model, numberedBy: version), classes, defaults)
    }

    /// The entity of a number. One that only a newer model has is an entity without properties.
    func entity(_ number: EntityNumber) -> GraphEntity {
        if let known = entities[number] { return known }
        return unknown.withLock { unknown in
            if let known = unknown[number] { return known }
            let entity = GraphEntity(
                schema: SchemaEntity(unknown: number), type: ManagedObject.self, prototype: nil)
            unknown[number] = entity
            return entity
        }
    }

    func entity(named name: String) -> GraphEntity? {
        schema.entity(named: name).map { entity($0.number) }
    }
}
