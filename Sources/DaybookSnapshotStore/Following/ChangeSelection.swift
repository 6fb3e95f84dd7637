package import DaybookObjectModel

/// A selection of changes by what they are about.
///
/// All given conditions must hold; of several entities, objects or properties one must match. A new selection
/// includes everything.
package struct ChangeSelection: Sendable {
    /// Changes of objects of these entities; empty for all.
    package var entities: Set<EntityNumber> = []
    /// Changes of these objects; nil for all.
    package var objects: Set<ObjectID>?
    /// Changes of these properties; empty for all.
    package var properties: Set<PropertyNumber> = []
    /// Changes of these properties besides, of objects of these entities only.
    package var entityProperties: [PropertyNumber: Set<EntityNumber>] = [:]

    /// Includes everything.
    package init() {}

    /// Whether anything is left out.
    package var isSelective: Bool {
        !entities.isEmpty || objects != nil || choosesProperties
    }

    private var choosesProperties: Bool { !properties.isEmpty || !entityProperties.isEmpty }

    /// Whether a change is included.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - entity: The entity of its object, in the layout of the change; nil when it is not known.
    /// - Returns: Whether every given condition holds.
    package func includes(_ change: Change, of entity: SchemaEntity?) -> Bool {
        (entities.isEmpty || entities.contains(change.object.entity))
            && (objects.map { $0.contains(change.object) } ?? true)
            && (!choosesProperties || concernsProperty(change, of: entity))
    }

    /// An insert and a delete concern every property of their object that has a value.
    private func concernsProperty(_ change: Change, of entity: SchemaEntity?) -> Bool {
        guard let entity else { return false }
        func isWanted(_ property: PropertyNumber) -> Bool {
            properties.contains(property)
                || entityProperties[property]?.contains(change.object.entity) == true
        }
        if change.members.contains(where: { isWanted($0.property) }) { return true }
        return switch change.kind {
        case .insert(let values, _), .delete(let values, _):
            zip(entity.slots, values).contains { property, value in
                !value.isNull && isWanted(property.number)
            }
        case .update(let edits, _): edits.contains { isWanted($0.property) }
        }
    }
}
