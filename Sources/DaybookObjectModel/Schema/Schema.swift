// The room of schemas: a model together with the numbers that a store has given to its entities, properties,
// constraints and indexes. Everything below the names of a program works with these.

/// A compiled model: checked, numbered and laid out.
///
/// Invariants:
/// - The numbers are those of a ``ModelVersion``. Transient attributes, which a store does not know,
///   are numbered from ``transientNumberMinimum`` on, so they do not affect the others.
/// - Of every relationship and its inverse exactly one side is stored.
package final class Schema: Sendable {
    /// The model, in canonical order.
    package let model: ManagedObjectModel
    /// The version of the model whose numbers these are.
    package let version: ModelVersion
    /// The entities by number; those that were removed are not among them.
    package let entities: [SchemaEntity]
    /// By number, from number 1: the index in ``entities``; -1 for an entity that was removed.
    private let positions: [Int32]
    private let numbersByName: [String: EntityNumber]
    /// The entity that declares each persistent property, from property number 1; 0 for one that was
    /// removed.
    private let declarers: [UInt32]
    /// The attributes whose values the store works out, each once, by number.
    package let derivations: [SchemaDerivation]

    /// The least number of a transient attribute.
    package static let transientNumberMinimum: UInt32 = 1 << 30

    /// The number that stands for entries, where an index has numbers: no compound constraint and no index over several
    /// properties has it or a greater one.
    package static let entriesNumber: UInt32 = 3 << 30

    /// Compiles a model by itself, as the first version.
    ///
    /// - Throws: ``ModelError`` when the model is inconsistent.
    package convenience init(_ model: ManagedObjectModel) throws(ModelError) {
        try model.validate()
        self.init(model, numberedBy: ModelVersion(firstValid: model))
    }

    /// Compiles a version of a store's model.
    package convenience init(_ version: ModelVersion) {
        self.init(version.model, numberedBy: version)
    }

    /// Compiles a model with the numbers of a version that has the same entities and persistent
    /// properties.
    ///
    /// - Precondition: The model is valid.
    package init(_ model: ManagedObjectModel, numberedBy version: ModelVersion) {
        let canonical = model.canonical
        self.model = canonical
        self.version = version
        let compiler = SchemaCompiler(canonical, version.entities)
        let compiled = canonical.entities.compactMap { compiler.entity($0) }
            .sorted { $0.number < $1.number }
        entities = compiled
        var positions = [Int32](repeating: -1, count: version.entities.count)
        for (index, entity) in compiled.enumerated() {
            positions[Int(entity.number.rawValue) - 1] = Int32(index)
        }
        self.positions = positions
        numbersByName = compiler.entityNumbers
        declarers = compiler.declarers(upTo: version.next.property)
        derivations = compiled.flatMap { SchemaDerivation.declared(in: $0, compiled) }
            .sorted { $0.property < $1.property }
    }

    /// The entity of that name.
    package func entity(named name: String) -> SchemaEntity? {
        numbersByName[name].flatMap(entity(_:))
    }

    /// The entity of that number.
    package func entity(_ number: EntityNumber) -> SchemaEntity? {
        let index = Int(number.rawValue) - 1
        guard positions.indices.contains(index), positions[index] >= 0 else { return nil }
        return entities[Int(positions[index])]
    }

    /// `Country/17`; an object of an entity that was removed has the name that it had.
    package func name(of object: ObjectID) -> String {
        let name = entity(object.entity)?.name ?? version.entity(object.entity)?.name
        return "\(name ?? "?\(object.entity.rawValue)")/\(object.number)"
    }

    /// The object named by `Country/17`; nil when the text has another form or names no entity.
    package func object(named text: String) -> ObjectID? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entity = entity(named: String(parts[0])),
            let number = UInt64(parts[1]), String(number) == parts[1], number > 0
        else { return nil }
        return ObjectID(entity: entity.number, number: number)
    }

    /// The entity that declares the persistent property of a number.
    func declarer(of number: PropertyNumber) -> EntityNumber? {
        let index = Int(number.rawValue) - 1
        guard declarers.indices.contains(index), declarers[index] > 0 else { return nil }
        return EntityNumber(rawValue: declarers[index])
    }

    /// The entity among whose objects, and those below it, a constraint holds.
    package func declarer(ofConstraint constraint: SchemaConstraint) -> EntityNumber? {
        guard constraint.isCompound else { return declarer(of: constraint.number) }
        return entities.first {
            $0.numbers.constraints.values.contains(constraint.number.rawValue)
        }?.number
    }

    /// The persistent property with that number, in the entity that declares it.
    package func property(_ number: PropertyNumber) -> SchemaProperty? {
        let index = Int(number.rawValue) - 1
        guard declarers.indices.contains(index) else { return nil }
        return entity(EntityNumber(rawValue: declarers[index]))?.property(number)
    }
}
