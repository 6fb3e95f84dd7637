import DaybookObjectModel

// Who holds what a child deletes. What a parent shows and what lies below it may have been read at different times.

extension ManagedObjectContext {
    /// By the property of an object that says who holds it, those who do.
    typealias Holders = [PropertyNumber: [ObjectID]]

    /// Who shows here that they lead to objects that a child deletes. What lies below may say otherwise, since others
    /// have turned a reference elsewhere, or have deleted the object, that is shown here as it was.
    ///
    /// - Complexity: O(*n*), *n* the number of references and members that are known here.
    func holders(of deleted: Set<GraphID>) -> [GraphID: Holders] {
        var found: [GraphID: Holders] = [:]
        guard !deleted.isEmpty else { return found }
        for holder in registry.objects where !holder.isFault && !holder.isDeleted {
            for property in holder.binding.schema.properties {
                guard let end = property.end, end.isStored, let inverse = end.inverse else {
                    continue
                }
                holder.forEachKnownDestination(of: property) { target in
                    let id = GraphID(store: holder.graphID.store, object: target)
                    guard deleted.contains(id) else { return }
                    found[id, default: [:]][inverse, default: []].append(holder.graphID.object)
                }
            }
        }
        return found
    }

    /// Lets it be read again who holds an object that is to be deleted: lists that were read since show
    /// others than those who held it when that was last read.
    ///
    /// - Returns: Who held it then: their own lists may have been read at that time, too.
    func forgetHolders(of object: ManagedObject) -> Holders {
        var holders: Holders = [:]
        for property in object.binding.schema.properties where property.end?.isStored == false {
            guard case .many(let list)? = object.relations.removeValue(forKey: property.number)
            else { continue }
            holders[property.number] = list.sorted
        }
        return holders
    }
}

extension ManagedObject {
    /// Passes on what a stored relationship of an object that has been read leads to, as far as that has been read, too.
    fileprivate func forEachKnownDestination(
        of property: SchemaProperty, _ body: (ObjectID) -> Void
    ) {
        if let slot = property.slot {
            if let target = value(inSlot: slot).reference { body(target) }
        } else if case .many(let list)? = relations[property.number] {
            for member in list.sorted { body(member) }
        }
    }
}
