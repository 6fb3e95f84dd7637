internal import DaybookObjectModel

/// The objects of a plan that are to be visited, for the first time or again.
///
/// Every object is visited once. An object that stays as it is, or is set back, can obstruct
/// others, and only those are visited again: settling is linear in the references of the plan. The
/// objects that may be affected come from what was wanted at first, which only ever shrinks.
struct RepairQueue {
    private var round: [ObjectID] = []
    private var due: Set<ObjectID> = []
    /// The objects to delete.
    private let leaving: Set<ObjectID>
    /// For each object, the objects that want to refer to it.
    private var seekers: [ObjectID: [ObjectID]] = [:]
    /// For each target that only one can hold, the objects that want to hold it.
    private var rivals: [ObjectID: [ObjectID]] = [:]
    /// For each unique value, the objects that want to have it.
    private var claimants: [[UInt8]: [ObjectID]] = [:]
    /// How many objects have been returned, repeats included.
    private(set) var visitCount = 0

    /// An empty queue.
    init() {
        leaving = []
    }

    /// A queue of everything that is wanted.
    init(_ wanted: [ObjectID: ObjectState?], _ schema: Schema) {
        due = Set(wanted.keys)
        leaving = Set(wanted.lazy.filter { $0.value == nil }.map(\.key))
        for (object, state) in wanted {
            guard let state, let entity = schema.entity(object.entity) else { continue }
            for (property, target) in state.references(of: entity) {
                seekers[target, default: []].append(object)
                if property.isExclusive { rivals[target, default: []].append(object) }
            }
            for key in state.uniqueKeys(entity) { claimants[key, default: []].append(object) }
        }
    }

    /// The next object, ascending within each round; nil when all is settled.
    mutating func next() -> ObjectID? {
        if round.isEmpty {
            round = due.sorted(by: >)
            due.removeAll()
        }
        guard let object = round.popLast() else { return nil }
        visitCount += 1
        return object
    }

    /// Queues an object that refers to less than before.
    mutating func add(_ object: ObjectID) {
        due.insert(object)
    }

    /// Queues all objects that are affected when an object stays as it is.
    ///
    /// `current` is the state in the tables; nil when the object does not exist.
    mutating func revisit(afterLeaving object: ObjectID, as current: ObjectState?, _ schema: Schema)
    {
        due.formUnion(seekers[object] ?? [])
        revisitObstructed(object, current, schema)
    }

    /// Queues all objects that are affected when part of an object has been set back.
    ///
    /// `current` is the state in the tables; nil when the object does not exist.
    mutating func revisit(afterSetting object: ObjectID, as current: ObjectState?, _ schema: Schema)
    {
        due.insert(object)
        revisitObstructed(object, current, schema)
    }

    private mutating func revisitObstructed(
        _ object: ObjectID, _ current: ObjectState?, _ schema: Schema
    ) {
        guard let current, let entity = schema.entity(object.entity) else { return }
        for (property, target) in current.references(of: entity) {
            if leaving.contains(target) { due.insert(target) }
            if property.isExclusive { due.formUnion(rivals[target] ?? []) }
        }
        for key in current.uniqueKeys(entity) { due.formUnion(claimants[key] ?? []) }
    }
}

extension ObjectState {
    /// The unique values of the object, as index keys.
    fileprivate func uniqueKeys(_ entity: SchemaEntity) -> [[UInt8]] {
        entity.constraints.compactMap { $0.key(of: $0.values(in: values)) }
    }
}
