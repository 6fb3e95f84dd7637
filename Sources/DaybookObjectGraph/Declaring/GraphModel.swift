// The room of declarations: what classes declare, attribute by attribute and relationship by
// relationship, and the model built from that. It knows objects as prototypes and reads no store. Only
// the binding of an entity knows a context.

import DaybookObjectModel

/// A compiled model together with the classes that represent its entities.
final class GraphModel: Sendable {
    let schema: Schema
    private let entities: [GraphEntity]

    /// Builds the model from classes.
    ///
    /// - Throws: ``ModelError`` when the declarations do not fit together.
    convenience init(
        classes: [ManagedObject.Type], configurations: [String: [String]] = [:]
    ) throws {
        let builder = ModelBuilder(classes)
        var model = builder.model
        if !builder.problems.isEmpty { throw ModelError(builder.problems) }
        model.configurations = configurations
        try self.init(model, classes: classes, defaults: .type)
    }

    /// Joins a model with classes; entities without one are represented by ``ManagedObject``.
    init(
        _ model: ManagedObjectModel, classes: [ManagedObject.Type],
        defaults: GraphEntity.DefaultSource = .model
    ) throws {
        let schema = try Schema(model)
        self.schema = schema
        entities = schema.entities.map { entity in
            guard let type = classes.first(where: { $0.entityName == entity.name }) else {
                return GraphEntity(schema: entity, type: ManagedObject.self, prototype: nil)
            }
            return GraphEntity(
                schema: entity, type: type, prototype: ModelBuilder.makePrototype(of: type),
                defaults: defaults)
        }
    }

    func entity(_ number: EntityNumber) -> GraphEntity {
        entities[Int(number.rawValue) - 1]
    }

    func entity(named name: String) -> GraphEntity? {
        schema.entity(named: name).map { entity($0.number) }
    }
}
