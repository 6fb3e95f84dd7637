internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension SaveRequest {
    /// The same request in the layout of the model in force, of which the program knows an earlier
    /// version.
    ///
    /// New objects get the defaults of properties that the program does not know, and deletes
    /// include the values of these.
    ///
    /// - Throws: ``StoreError`` when a row cannot be read.
    func adapted(
        to parts: StoreParts, in transaction: borrowing some Reading & ~Copyable
    ) throws -> SaveRequest {
        let projection = parts.projection
        var adapted = self
        for index in changes.indices {
            let change = changes[index]
            guard let entity = projection.schema.entity(change.object.entity) else { continue }
            switch change.kind {
            case .update: continue
            case .insert(let values, let members):
                adapted.changes[index].kind = .insert(
                    values: values.extended(by: entity.defaults, to: entity.storedSlotCount),
                    members: members)
            case .delete(let values, let members):
                guard
                    let state = try projection.ownState(
                        of: change.object, at: .latest, in: transaction)
                else {
                    adapted.changes[index].kind = .delete(
                        values: values.extended(by: entity.defaults, to: entity.storedSlotCount),
                        members: members)
                    continue
                }
                let known = Set(members.map(\.property))
                let others = entity.membersLeaving(state).filter { !known.contains($0.property) }
                adapted.changes[index].kind = .delete(
                    values: values.extended(by: state.values, to: entity.storedSlotCount),
                    members: (members + others).sorted { $0.property < $1.property })
            }
        }
        for (object, values) in seen {
            guard let entity = projection.schema.entity(object.entity),
                let state = try projection.ownState(of: object, at: .latest, in: transaction)
            else { continue }
            adapted.seen[object] = values.extended(by: state.values, to: entity.storedSlotCount)
        }
        return adapted
    }
}

extension [Value] {
    /// These values, followed by those of others at later positions.
    fileprivate func extended(by others: [Value], to count: Int) -> [Value] {
        guard self.count < count else { return self }
        return self + others[self.count..<Swift.max(self.count, Swift.min(others.count, count))]
    }
}

extension SaveResult {
    /// The result as a program of an earlier model knows it.
    func shown(by schema: Schema) -> SaveResult {
        var result = SaveResult(
            sequence: sequence, digest: digest,
            changes: changes.compactMap { $0.shown(by: schema) },
            conflicts: conflicts, constraintConflicts: constraintConflicts,
            merged: merged.filter { schema.property($0.property) != nil }, replaced: replaced)
        result.isUntouched = isUntouched
        return result
    }
}
