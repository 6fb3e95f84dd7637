import Daybook
import DaybookObjectModel
import DaybookSnapshotStore

/// Finds the objects of a `match`: those of the store, with the changes of the open entry.
///
/// The store is searched by index. Objects that the entry has touched are found in dictionaries,
/// one for each combination of attributes that has been matched, so that the time for an entry is
/// proportional to its lines. A combination without an indexed attribute costs one walk over the
/// entity for each entry.
final class ObjectMatcher {
    /// The search.
    struct Match {
        let entity: SchemaEntity
        var attributes: [(property: SchemaProperty, value: Value)] = []
        var destinations: [(property: SchemaProperty, object: ManagedObject?)] = []
    }

    private struct Shape: Hashable {
        let entity: EntityNumber
        let properties: [PropertyNumber]
    }

    /// The objects of one entity by their values of some attributes.
    fileprivate struct Index {
        let entity: SchemaEntity
        let properties: [SchemaProperty]
        var objects: [[Value]: Set<ObjectID>] = [:]
        var keys: [ObjectID: [Value]] = [:]
        /// The store's objects, if the store has no suitable index.
        var stored: [[Value]: [ObjectID]]?
    }

    private let context: ManagedObjectContext
    private let store: Store
    private var touched: [ObjectID: ManagedObject] = [:]
    private var indexes: [Shape: Index] = [:]

    init(context: ManagedObjectContext, store: Store) {
        self.context = context
        self.store = store
    }

    /// Marks an object that the open entry has inserted, updated or deleted.
    func markTouched(_ object: ManagedObject) {
        let id = object.objectID.object
        touched[id] = object
        for shape in Array(indexes.keys) { indexes[shape]?.take(object, id) }
    }

    /// Forgets the entry.
    func removeAll() {
        touched.removeAll()
        indexes.removeAll()
    }

    /// The objects that meet all conditions, by number.
    func objects(_ match: Match) throws -> [ManagedObject] {
        let attributes = match.attributes.sorted { $0.property.number < $1.property.number }
        let shape = Shape(
            entity: match.entity.number, properties: attributes.map(\.property.number))
        let key = attributes.map(\.value)
        try prepareIndex(shape, match.entity, attributes.map(\.property))
        guard let index = indexes[shape] else { return [] }

        var found = (index.objects[key] ?? []).compactMap { touched[$0] }
        for id in try index.stored?[key] ?? storedObjects(match) where touched[id] == nil {
            if let object = context.object(with: managedID(of: id)) { found.append(object) }
        }
        // A delete rule touches objects without a line of their own.
        return found.filter { object in
            !object.isDeleted
                && match.destinations.allSatisfy { condition in
                    object.relatedObjects(forKey: condition.property.name).first
                        == condition.object
                }
        }.sorted { $0.objectID.object.number < $1.objectID.object.number }
    }

    // MARK: - Indexes

    private func prepareIndex(
        _ shape: Shape, _ entity: SchemaEntity, _ properties: [SchemaProperty]
    ) throws {
        guard indexes[shape] == nil else { return }
        var index = Index(entity: entity, properties: properties)
        for (id, object) in touched { index.take(object, id) }
        if !properties.contains(where: \.isIndexed) {
            index.stored = try storedObjects(of: entity, by: properties)
        }
        indexes[shape] = index
    }

    private func storedObjects(
        of entity: SchemaEntity, by properties: [SchemaProperty]
    ) throws -> [[Value]: [ObjectID]] {
        try store.read { snapshot in
            var objects: [[Value]: [ObjectID]] = [:]
            try snapshot.objects(of: entity.family) { id in
                var key: [Value] = []
                for property in properties {
                    key.append(try snapshot.value(of: property, in: id))
                }
                objects[key, default: []].append(id)
                return .proceed
            }
            return objects
        }
    }

    private func storedObjects(_ match: Match) throws -> [ObjectID] {
        let conditions = match.attributes.map { property, value in
            Filter.comparison(
                FilterComparison(.path(FilterPath([property])), .equal, .constant(value)))
        }
        return try store.read { snapshot in
            let found = try snapshot.fetch(Query(match.entity, filter: .and(conditions)))
            // A filter compares numbers of different widths; a match requires the exact value.
            return try found.filter { id in
                try match.attributes.allSatisfy {
                    try snapshot.value(of: $0.property, in: id) == $0.value
                }
            }
        }
    }

    private func managedID(of id: ObjectID) -> ManagedObjectID {
        ManagedObjectID(
            storeIdentifier: store.uuid, object: id,
            entityName: store.schema.entity(id.entity)?.name ?? "", isTemporaryID: false)
    }
}

extension ObjectMatcher.Index {
    /// Adds an object, moves it to its new values, or removes it when it is deleted.
    fileprivate mutating func take(_ object: ManagedObject, _ id: ObjectID) {
        guard entity.family.contains(id.entity) else { return }
        if let old = keys.removeValue(forKey: id) { objects[old]?.remove(id) }
        guard !object.isDeleted else { return }
        let key = properties.map { object.storedValue(forKey: $0.name) }
        keys[id] = key
        objects[key, default: []].insert(id)
    }
}
