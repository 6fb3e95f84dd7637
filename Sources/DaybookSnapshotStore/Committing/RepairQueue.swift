internal import DaybookObjectModel

/// Which objects of a plan are to be looked at, once or again.
///
/// Every object is looked at once. What is left as it is, or set back to what it is, can stand in the way
/// of others, so those are looked at again, and nothing else is: settling is linear in the references of
/// the plan. Who may be concerned is taken from what was wanted at first, which only ever shrinks.
struct RepairQueue {
    private var round: [ObjectID] = []
    private var due: Set<ObjectID> = []
    /// What is to go.
    private let leaving: Set<ObjectID>
    /// For each object, who wants to refer to it.
    private var seekers: [ObjectID: [ObjectID]] = [:]
    /// For each object that only one can hold, who wants to hold it.
    private var rivals: [ObjectID: [ObjectID]] = [:]
    /// For each unique value, who wants to have it.
    private var claimants: [[UInt8]: [ObjectID]] = [:]
    /// How many objects have been handed out.
    private(set) var visitCount = 0

    /// A queue of nothing.
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

    /// The next object, in ascending order as far as that goes; nil when all is settled.
    mutating func next() -> ObjectID? {
        if round.isEmpty {
            round = due.sorted(by: >)
            due.removeAll()
        }
        guard let object = round.popLast() else { return nil }
        visitCount += 1
        return object
    }

    /// Has an object looked at again that refers to less than before.
    mutating func add(_ object: ObjectID) {
        due.insert(object)
    }

    /// Has all those looked at again for whom it matters that an object stays as it is.
    ///
    /// `current` is what it is now; nil when it is not there.
    mutating func noteLeft(_ object: ObjectID, as current: ObjectState?, _ schema: Schema) {
        due.formUnion(seekers[object] ?? [])
        noteHolding(object, current, schema)
    }

    /// Has all those looked at again for whom it matters that an object has been set back in part.
    ///
    /// `current` is what it is now; nil when it is not there.
    mutating func noteSet(_ object: ObjectID, as current: ObjectState?, _ schema: Schema) {
        due.insert(object)
        noteHolding(object, current, schema)
    }

    private mutating func noteHolding(
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
    /// The unique values of the object, as they stand in the index.
    fileprivate func uniqueKeys(_ entity: SchemaEntity) -> [[UInt8]] {
        entity.constraints.compactMap { $0.key(of: $0.values(in: values)) }
    }
}
