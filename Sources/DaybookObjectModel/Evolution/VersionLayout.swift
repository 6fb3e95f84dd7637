/// Extends the layouts of the entities of one version to those of the next: rows that exist are read by both.
struct VersionLayout {
    private let old: ModelVersion
    private let oldSchema: Schema
    private let compiler: SchemaCompiler
    private let entry: UInt64
    private let predecessors: [PropertyNumber: [EntityNumber: PropertyNumber]]

    /// - Parameters:
    ///   - old: The version before; an empty one for none.
    ///   - oldSchema: That version, compiled.
    ///   - compiler: The new model, with the numbers of what it declares.
    ///   - entry: The number of the entry that sets the new version.
    ///   - predecessors: For an attribute that takes over the values of earlier ones, the earlier one by entity.
    init(
        from old: ModelVersion, _ oldSchema: Schema, to compiler: SchemaCompiler,
        in entry: UInt64, takingOver predecessors: [PropertyNumber: [EntityNumber: PropertyNumber]]
    ) {
        self.old = old
        self.oldSchema = oldSchema
        self.compiler = compiler
        self.entry = entry
        self.predecessors = predecessors
    }

    /// Appends what is new to the layouts and marks what was removed.
    ///
    /// - Parameter entities: The entities with the layouts of the version before.
    func layOut(_ entities: inout [NumberedEntity]) {
        let declared = Set(
            entities.lazy.filter { !$0.isRemoved }.flatMap(\.properties.values))
        for position in entities.indices {
            if entities[position].isRemoved {
                entities[position].properties = [:]
                entities[position].constraints = [:]
                entities[position].indexes = [:]
                remove(from: &entities[position], except: [], declared)
                continue
            }
            guard let description = compiler.entitiesByName[entities[position].name] else {
                continue
            }
            let properties = compiler.properties(of: description).sorted { $0.0 < $1.0 }
            remove(from: &entities[position], except: Set(properties.map(\.0)), declared)
            append(properties, to: &entities[position])
        }
    }

    /// - Parameters:
    ///   - entity: The entity with its layout.
    ///   - live: The properties that the entity has.
    ///   - declared: The properties that any entity declares.
    private func remove(
        from entity: inout NumberedEntity, except live: Set<PropertyNumber>,
        _ declared: Set<PropertyNumber>
    ) {
        let before = oldSchema.entity(entity.number)
        for slot in entity.slots.indices {
            let number = entity.slots[slot].property
            if live.contains(number) {
                entity.slots[slot].removed = nil
            } else if entity.slots[slot].removed == nil {
                var removed = RemovedSlot(before?.property(number))
                // Other entities keep the property, and their index must not find these objects.
                if declared.contains(number) { removed.isIndexed = false }
                entity.slots[slot].removed = removed
            }
        }
    }

    private func append(
        _ properties: [(PropertyNumber, String, SchemaProperty.Kind)],
        to entity: inout NumberedEntity
    ) {
        let slots = Set(entity.slots.map(\.property))
        let members = Set(entity.members.map(\.property))
        let live = Set(properties.map(\.0))
        for (number, name, kind) in properties {
            if case .relationship(let relationship, let end) = kind, end.isStored,
                relationship.isToMany, !members.contains(number)
            {
                entity.members.append(NumberedMembers(property: number, since: entry))
            }
            guard kind.hasSlot, !slots.contains(number) else { continue }
            var slot = NumberedSlot(property: number, since: entry)
            if case .attribute(let attribute) = kind, !old.entities.isEmpty {
                slot.fill = fill(of: number, name, attribute, in: entity.number, beside: live)
            }
            entity.slots.append(slot)
        }
    }

    /// What a new attribute has in the rows that exist.
    private func fill(
        of number: PropertyNumber, _ name: String, _ attribute: AttributeDescription,
        in entity: EntityNumber, beside live: Set<PropertyNumber>
    ) -> SlotFill {
        // An entity's own attribute gives way to an inherited one of the same name.
        let own = oldSchema.entity(entity)?.property(named: name)
        let replaced = own.flatMap {
            $0.isAttribute && !$0.isDerived && !live.contains($0.number) ? $0.number : nil
        }
        let source = attribute.derivation == nil ? predecessors[number]?[entity] ?? replaced : nil
        guard let source else { return .value(attribute.defaultValue) }
        return .converted(from: source, to: attribute.type)
    }
}
