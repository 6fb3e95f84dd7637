import DaybookObjectModel

extension StepList {
    /// The steps in which objects were deleted last; the open group counts as the one after all others.
    ///
    /// - Complexity: O(*k*), *k* the number of changes since the first of these deletes.
    func steps(thatDelete deleted: Set<GraphID>) -> [GraphID: Int] {
        var steps: [GraphID: Int] = [:]
        func look(in changes: [RecordedChange], at index: Int) {
            for recorded in changes where recorded.change.isDelete {
                let id = recorded.object.graphID
                if deleted.contains(id), steps[id] == nil { steps[id] = index }
            }
        }
        look(in: changes(ofStep: openStep), at: openStep)
        for step in madeSteps.reversed() where steps.count < deleted.count {
            look(in: changes(ofStep: step), at: step)
        }
        return steps
    }

    /// Makes the steps after a saved delete start without the references to what it deleted, which the
    /// delete's own step now empties.
    ///
    /// - Parameters:
    ///   - deleted: What was deleted.
    ///   - steps: The result of ``steps(thatDelete:)``. If the delete is in no step, the references are
    ///     gone for good.
    mutating func emptyReferences(to deleted: Set<GraphID>, deletedIn steps: [GraphID: Int]) {
        let steps = steps.merging(deleted.map { ($0, -1) }) { known, _ in known }
        guard let first = steps.values.min() else { return }
        var emptied: [(step: Int, change: RecordedChange)] = []
        rewriteMade(after: first) { step, recorded in
            var rewritten = recorded
            Self.empty(&rewritten, at: step, steps, &emptied)
            return rewritten
        }
        for (step, change) in emptied where step >= 0 { append(change, toStep: step) }
    }

    private static func empty(
        _ recorded: inout RecordedChange, at index: Int, _ steps: [GraphID: Int],
        _ emptied: inout [(step: Int, change: RecordedChange)]
    ) {
        let owner = recorded.object
        let schema = owner.binding.schema
        func step(_ destination: ObjectID?) -> Int? {
            guard let destination else { return nil }
            let id = GraphID(store: owner.graphID.store, object: destination)
            return steps[id].flatMap { $0 < index ? $0 : nil }
        }
        func record(_ step: Int, _ edits: [Edit], _ members: [MembershipEdit]) {
            let change = Change(
                object: recorded.change.object, kind: .update(edits: edits, members: members))
            emptied.append((step, RecordedChange(object: owner, change: change, isSaved: true)))
        }
        func staying(_ edits: [MembershipEdit]) -> [MembershipEdit] {
            edits.map { edit in
                guard schema.property(edit.property)?.isOneWay == true else { return edit }
                var edit = edit
                edit.removed.removeAll { member in
                    guard let step = step(member.object) else { return false }
                    record(step, [], [MembershipEdit(property: edit.property, removed: [member])])
                    return true
                }
                return edit
            }.filter { !$0.isEmpty }
        }
        switch recorded.change.kind {
        case .insert: return
        case .update(var edits, let members):
            for index in edits.indices {
                let edit = edits[index]
                guard schema.property(edit.property)?.isOneWay == true,
                    let step = step(edit.old.reference)
                else { continue }
                record(step, [Edit(property: edit.property, old: edit.old, new: .null)], [])
                edits[index].old = .null
            }
            recorded.change.kind = .update(
                edits: edits.filter { $0.old != $0.new }, members: staying(members))
        case .delete(var values, let members):
            for property in schema.referenceSlots where property.isOneWay {
                guard let slot = property.slot, let step = step(values[slot].reference) else {
                    continue
                }
                record(step, [Edit(property: property.number, old: values[slot], new: .null)], [])
                values[slot] = .null
            }
            recorded.change.kind = .delete(values: values, members: staying(members))
        }
    }
}
