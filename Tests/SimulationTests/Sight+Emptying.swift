import DaybookObjectModel

extension Sight {
    /// Notes that a save has emptied a reference without inverse to an object it deleted: that belongs
    /// to the step that deleted, and the steps after it start without the reference. The record is
    /// the owner as it was before.
    mutating func noteEmptied(
        _ id: ObjectID, _ record: Record, _ name: String, from target: ObjectID
    ) {
        if seen[id]?[name] == .one(target) { seen[id]?[name] = .one(nil) }
        if mine[id]?[name] == .one(target) { mine[id]?[name] = .one(nil) }
        let index = groups[..<cursor].lastIndex { group in
            group[target].map { $0.before != nil && $0.after == nil } ?? false
        }
        if let index {
            var step = groups[index][id] ?? (before: record, after: record)
            step.after?[name] = .one(nil)
            groups[index][id] = step
        }
        let next = index.map { $0 + 1 } ?? 0
        for later in groups[..<cursor].indices where later >= next {
            guard var step = groups[later][id] else { continue }
            if step.before?[name] == .one(target) { step.before?[name] = .one(nil) }
            if step.after?[name] == .one(target) { step.after?[name] = .one(nil) }
            groups[later][id] = step
        }
    }
}
