import DaybookObjectModel

extension ManagedObjectContext {
    /// Merges a save into contexts by identifiers only: a save of another process, or of a context that
    /// has gone.
    ///
    /// Inserted objects become faults, updated objects take their current values from the parent store,
    /// and deleted objects count as deleted. What is pending in a context stays; collisions are reported
    /// as by an automatic merge.
    ///
    /// - Parameters:
    ///   - changes: The identifiers, under ``insertedObjectIDsKey``, ``updatedObjectIDsKey`` and
    ///     ``deletedObjectIDsKey`` or the keys of the sets of objects; those of other stores are
    ///     ignored.
    ///   - contexts: The contexts that merge the save.
    public static func mergeChanges(
        fromRemoteContextSave changes: [String: [ManagedObjectID]],
        into contexts: [ManagedObjectContext]
    ) {
        let inserted = identifiers(in: changes, [insertedObjectIDsKey, insertedObjectsKey])
        let updated = identifiers(in: changes, [updatedObjectIDsKey, updatedObjectsKey])
        let deleted = identifiers(in: changes, [deletedObjectIDsKey, deletedObjectsKey])
        for context in contexts {
            context.performAndWait {
                context.mergeRemote(inserted: inserted, updated: updated, deleted: deleted)
            }
        }
    }

    private static func identifiers(
        in changes: [String: [ManagedObjectID]], _ keys: [String]
    ) -> [ManagedObjectID] {
        keys.flatMap { changes[$0] ?? [] }
    }

    private func mergeRemote(
        inserted: [ManagedObjectID], updated: [ManagedObjectID], deleted: [ManagedObjectID]
    ) {
        func changes(_ identifiers: [ManagedObjectID], _ kind: Change.Kind) -> [GraphChange] {
            identifiers.compactMap { coordinator.graphID(of: $0) }.map {
                GraphChange(id: $0, change: Change(object: $0.object, kind: kind))
            }
        }
        let all =
            changes(inserted, .insert(values: [], members: []))
            + changes(updated, .update(edits: [], members: []))
            + changes(deleted, .delete(values: [], members: []))
        for change in all { coordinator.rows.forget(change.id) }
        forgetLists(ofOthersThan: all)
        // Identifiers do not tell what conditions on related objects depended on before.
        news.noteForLists { $0.takeEverything() }
        news.mergingSave { tell(of: mergeParent(all)) }
    }

    /// Makes all lists that may lead to or from changed objects be read again: identifiers do not tell
    /// what the objects led to before.
    private func forgetLists(ofOthersThan changes: [GraphChange]) {
        let entities = Set(changes.map(\.id.object.entity))
        var touched: Set<PropertyNumber> = []
        for entity in entities {
            for property in binding(entity).schema.properties {
                guard let end = property.end else { continue }
                touched.insert(property.number)
                if let inverse = end.inverse { touched.insert(inverse) }
            }
        }
        for object in registry.objects where !object.status.isTemporary {
            for property in Array(object.relations.keys) where touched.contains(property) {
                object.relations[property] = nil
            }
        }
    }
}
