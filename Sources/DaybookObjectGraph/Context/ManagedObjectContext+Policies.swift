import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping

extension ManagedObjectContext {
    /// How often a save asks its custom policy before it uses ``mergePolicy`` alone: others may save
    /// between an answer and the next attempt.
    private static let attemptsMaximum = 8

    /// Makes any change or delete of an object by others a conflict for the next save, as if the save
    /// changed the whole object, even if nothing in it has changed here.
    ///
    /// A save of a child puts its changes into its parent and does not look at such objects.
    /// Rolling back, resetting and a save that succeeds forget them.
    ///
    /// - Parameter object: A saved object of this context; a new one is ignored, since nobody else can
    ///   know it.
    /// - Precondition: The object is one of this context.
    public func detectConflicts(for object: ManagedObject) {
        requireQueue()
        require(object.binding.context === self, "An object is watched in its own context.")
        guard !object.status.isTemporary, object.realizeIfNeeded() else { return }
        terms.watch(object)
    }

    /// Saves a request, asking the custom policy about collisions.
    ///
    /// The policy is asked here, on the context's queue, while nothing of the store is locked; its
    /// answers rebase the request on what the store has, and the request is saved again.
    func commit(_ request: SaveRequest, to store: PersistentStore) throws -> SaveResult {
        guard let policy = customMergePolicy else { return try store.commit(request) }
        var attempt = request
        attempt.policy = .error
        var settled: [MergeConflict] = []
        for _ in 0..<Self.attemptsMaximum {
            do {
                var result = try store.commit(attempt)
                result.conflicts += settled
                return result
            } catch let error as StoreError where error.code == .conflict {
                var conflicts = try objectConflicts(error.conflicts, attempt, store)
                try policy.resolve(optimisticLockingConflicts: &conflicts)
                let resolved = conflicts.filter(\.isResolved)
                try attempt.rebase(on: resolved, in: store)
                settled += resolved.flatMap(\.conflicts)
                if resolved.isEmpty { break }
            } catch let error as StoreError where error.code == .duplicate {
                var conflicts = error.constraintConflicts
                try policy.resolve(constraintConflicts: &conflicts)
                let resolved = conflicts.filter(\.isResolved)
                attempt.settle(resolved, of: store.store.schema)
                if resolved.isEmpty { break }
            }
        }
        attempt.policy = mergePolicy
        var result = try store.commit(attempt)
        result.conflicts += settled
        return result
    }

    // MARK: - What a policy is shown

    /// Conflicts grouped by object, in the order in which they were found.
    private func objectConflicts(
        _ conflicts: [MergeConflict], _ request: SaveRequest, _ store: PersistentStore
    ) throws -> [ObjectConflict] {
        var order: [ObjectID] = []
        var grouped: [ObjectID: [MergeConflict]] = [:]
        for conflict in conflicts {
            if grouped[conflict.object] == nil { order.append(conflict.object) }
            grouped[conflict.object, default: []].append(conflict)
        }
        let indices = request.indices(of: Set(order))
        return try order.map { object in
            let row = try store.read(at: nil) { try $0.row(object) }
            let change = indices[object].map { request.changes[$0] }
            return objectConflict(object, grouped[object] ?? [], row, change, request, store)
        }
    }

    private func objectConflict(
        _ object: ObjectID, _ conflicts: [MergeConflict], _ row: Row?, _ change: Change?,
        _ request: SaveRequest, _ store: PersistentStore
    ) -> ObjectConflict {
        let schema = binding(object.entity).schema
        var base: [Value] = []
        var ours: [Value] = []
        switch change?.kind {
        case .insert(let values, _): ours = values
        case .update(let edits, _):
            base = request.seen[object] ?? []
            ours = base
            for edit in edits {
                guard let slot = schema.property(edit.property)?.slot, slot < ours.count else {
                    continue
                }
                ours[slot] = edit.new
            }
        case .delete(let values, _): base = values
        case nil: break
        }
        let theirs = row?.values ?? []
        let references = (base + theirs + ours).compactMap(\.reference)
        return ObjectConflict(
            objectID: ManagedObjectID(
                storeIdentifier: store.identifier, object: object, entityName: schema.name,
                isTemporaryID: false),
            conflicts: conflicts, base: schema.named(base), theirs: schema.named(theirs),
            ours: schema.named(ours), oldVersion: request.seenSince[object] ?? .zero,
            newVersion: row?.since ?? .zero,
            names: Dictionary(
                references.map { ($0, coordinator.model.schema.name(of: $0)) }
            ) { first, _ in first })
    }
}

extension SchemaEntity {
    /// Values by the names of their properties.
    fileprivate func named(_ values: [Value]) -> [String: Value] {
        Dictionary(zip(slots, values).map { ($0.name, $1) }) { first, _ in first }
    }
}
