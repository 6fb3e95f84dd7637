internal import DaybookObjectModel

extension ModelStep {
    /// The entities whose objects are all looked at for the step, or indexed.
    func walks(from before: Schema, to after: Schema) -> [EntityNumber] {
        var walks: [EntityNumber] = []
        switch check {
        case nil: break
        case .noObjects(let entity): walks = [entity]
        case .values(let entity, _), .unique(let entity, _), .counts(let entity, _),
            .exclusive(let entity, _), .noReferences(let entity):
            walks = after.entity(entity)?.family ?? [entity]
        case .content(let move): walks = before.entity(move.entity)?.family ?? []
        }
        if [.addIndex, .addUnique, .addConstraint].contains(kind),
            let entity = after.entity(named: self.entity)
        {
            walks += entity.family
        }
        return walks
    }
}
