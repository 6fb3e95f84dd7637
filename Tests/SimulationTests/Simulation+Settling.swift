import DaybookObjectGraph
import DaybookObjectModel

// The laws of two documented rules: what a save may make of objects that its policy settles together
// (see Merging), and what an undo may change once others' values have come in (see Undo).

extension Simulation {
    /// Checks what a save has made of attributes and of the objects that there are.
    ///
    /// - Parameters:
    ///   - found: What lies under the context now.
    ///   - forecast: What would have come out without the collision.
    ///   - old: What lay under the context before.
    ///   - index: The context that was saved.
    ///   - policy: How it was saved.
    /// - Throws: ``Mismatch``.
    func checkSettlement(
        _ found: World, _ forecast: World, _ old: World, _ index: Int, _ policy: MergePolicy
    ) throws {
        let sight = sights[index]
        // A parent that is behind looks again at what the child's changes concern.
        let below = shape.contexts[index].parent.map(under) ?? old
        for id in found.keys where old[id] == nil && sight.mine[id] == nil && below[id] == nil {
            throw Mismatch("A save has brought back \(id), which was not changed here.")
        }
        for (id, record) in old
        where found[id] == nil && below[id] != nil && !sight.deleted.contains(id) {
            let isOwned = rules.fields(id).contains { field in
                guard let name = field.inverse else { return false }
                let owners = [old, below].flatMap { rules.related(id, field, in: $0) }
                return Office.field(field.destination, name).rule == .cascade
                    && owners.contains { found[$0] == nil }
            }
            guard isOwned else {
                throw Mismatch("A save has deleted \(id), which nobody deleted: it was \(record).")
            }
        }
        // Two objects may have become one, with the values of either: also with one that overwriting brings back.
        var wanted = forecast
        for (id, ours) in sight.mine where sight.isDirty(id) && policy == .overwrite {
            if wanted[id] == nil { wanted[id] = ours }
        }
        guard !rules.duplicates(in: wanted) else { return }
        for (id, record) in found {
            guard let before = old[id] else { continue }
            let others = [before, below[id] ?? before]
            try checkAttributes(of: id, record, others, forecast[id], sight, policy)
        }
    }

    private func checkAttributes(
        of id: ObjectID, _ found: Record, _ others: [Record], _ forecast: Record?, _ sight: Sight,
        _ policy: MergePolicy
    ) throws {
        let ours = sight.isDirty(id) ? sight.mine[id] : nil
        for field in rules.fields(id) where field.isAttribute {
            let have = found[field.name]
            let theirs = others.map { $0[field.name] }
            var allowed = ours == nil ? theirs : [forecast?[field.name]]
            // The collision itself makes these two take, or drop, the whole object, of which a list may
            // have been edited that reads as before.
            if policy == .overwrite, field.kind != .sum {
                allowed.append(sight.mine[id]?[field.name])
            }
            if let ours {
                if policy == .rollback { allowed += theirs }
                // What others deleted, or brought back, comes back as it is here.
                if sight.seen[id] == nil { allowed += theirs + [ours[field.name]] }
            }
            guard !allowed.contains(have) else { continue }
            throw Mismatch(
                "A save by \(policy) has made \(rules.entity(id)) \(id).\(field.name) "
                    + "\(have.map { "\($0)" } ?? "nothing"), from \(theirs.compactMap { $0 }); "
                    + "here it was \(ours?[field.name].map { "\($0)" } ?? "unchanged").")
        }
    }

    // MARK: - Undo

    /// Takes over what an undo or redo has come to once others' values have come in under what can be
    /// undone: it leaves alone what others have changed, and changes nothing but what was changed
    /// here, to values that were here.
    func followUndo(_ index: Int) throws {
        let before = sights[index]
        try adopt(index, isForeseen: false)
        let now = sights[index]
        let came = Set(now.inserted).subtracting(before.inserted)
        let went = Set(now.deleted).subtracting(before.deleted)
        for id in came.union(went) where before.recorded[id] == nil && before.settled[id] == nil {
            throw Mismatch("An undo has made or deleted \(id), which no step concerns.")
        }
        for (id, record) in now.mine {
            guard let old = before.mine[id] else { continue }
            for field in rules.fields(id) where field.isAttribute {
                guard let have = record[field.name], have != old[field.name] else { continue }
                guard let values = before.values(of: id, field.name) else {
                    throw Mismatch(
                        "An undo has changed \(rules.entity(id)) \(id).\(field.name), which no step "
                            + "concerns.")
                }
                let isBack =
                    now.inserted.contains(id)
                    && before.everRecorded[id]?[field.name]?.contains(have) == true
                guard field.kind == .sum || isBack || values.contains(have) else {
                    throw Mismatch(
                        "An undo has made \(rules.entity(id)) \(id).\(field.name) \(have), which it "
                            + "has never been here: \(values).")
                }
            }
        }
    }
}
