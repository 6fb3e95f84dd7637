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
