import DaybookObjectGraph
import DaybookObjectModel

// What contexts that are behind know, and what only the implementation can know of them.

extension Simulation {
    /// Whether somebody holds an object under the parent of a context, or further below, whom a context
    /// on the way, which is behind, still shows with something else. An object that is in memory keeps
    /// what it has read, and a list is read when it is asked for: only the parent knows whom a delete
    /// there makes let go, and who has what is taken there.
    func isHeldBelow(
        _ id: ObjectID, _ index: Int, except owner: ObjectID? = nil,
        over isConcerned: (Field) -> Bool = { _ in true }
    ) -> Bool {
        guard let parent = shape.contexts[index].parent else { return false }
        let (seen, below) = (sights[parent].seen, under(parent))
        let isHeld = rules.fields(id).contains { field in
            guard !field.isStored, isConcerned(field), let inverse = field.inverse
            else { return false }
            return rules.related(id, field, in: below).contains { holder in
                holder != owner
                    && seen[holder].map { $0[inverse] != below[holder]?[inverse] } == true
            }
        }
        return isHeld || isHeldBelow(id, parent, except: owner, over: isConcerned)
    }

    /// Whether the parent of a context, which is behind, shows an object with a holder that does not lead
    /// to it any more there: the two ends have been read at different times.
    func isShownHeld(
        _ id: ObjectID, over field: Field, _ index: Int, except owner: ObjectID
    ) throws -> Bool {
        guard let parent = shape.contexts[index].parent, !isCurrent(parent),
            let identifier = identifiers[id]
        else { return false }
        let shown = contexts[parent].performAndWait {
            contexts[parent].registeredObject(for: identifier)?
                .objectIDs(forRelationshipNamed: field.name).map(\.object) ?? []
        }
        let holders = rules.related(id, field, in: view(parent))
        return shown.contains { $0 != owner && !holders.contains($0) }
    }

    /// What a context shows, without the references of objects that one which is behind has not read, and without what
    /// others have given there to objects that it has deleted: those lead to what they led to below, and are nobody's
    /// to take back here.
    func shownWorld(_ index: Int) -> World {
        var shown = view(index)
        guard !isCurrent(index) else { return leavingOutGone(shown, index) }
        let below = under(index)
        for (id, record) in shown {
            guard sights[index].mine[id] != nil || sights[index].isDirty(id) else {
                shown[id] = ReferenceOffice.empty(rules.entity(id))
                continue
            }
            var kept = record
            for (name, cell) in record {
                let given = below[id]?[name]?.destinations.filter(sights[index].deleted.contains)
                kept[name] = (given ?? []).reduce(cell) { $0.removing($1) }
            }
            shown[id] = kept
        }
        return leavingOutGone(shown, index)
    }

    /// What others have deleted is only shown still, and takes no part in what is deleted here.
    private func leavingOutGone(_ world: World, _ index: Int) -> World {
        let below = under(index)
        var world = world
        for id in world.keys where below[id] == nil && !sights[index].isDirty(id) {
            world[id] = ReferenceOffice.empty(rules.entity(id))
        }
        return world
    }

    /// What others have deleted under a context that is behind, and it has not.
    func lostBelow(_ index: Int) -> Set<ObjectID> {
        guard !isCurrent(index) else { return [] }
        let below = under(index)
        let sight = sights[index]
        return Set(identifiers.keys.filter { below[$0] == nil })
            .subtracting(sight.deleted).subtracting(sight.annihilated)
    }

    /// The lists that a context which is behind has changed although they read as before: it has taken
    /// out, at the other end, what others had put in and this end did not know yet.
    func hiddenEdits(_ index: Int) -> Set<[String]> {
        guard !isCurrent(index) else { return [] }
        let sight = sights[index]
        var hidden: Set<[String]> = []
        for object in contexts[index].updatedObjects {
            let id = object.objectID.object
            let edits = object.changedValues()
            for field in rules.fields(id) where field.isStored && edits[field.name] != nil {
                guard case .many? = sight.mine[id]?[field.name],
                    sight.mine[id]?[field.name] == sight.seen[id]?[field.name]
                else { continue }
                hidden.insert(["\(id)", field.name])
            }
        }
        return hidden
    }
}
