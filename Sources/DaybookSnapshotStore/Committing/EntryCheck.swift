internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Strict mode: reads back what folding an entry has written, as any reader would.
enum EntryCheck {
    /// For every object of an entry, applies the change to the state before and compares the result
    /// with the state after.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` and every object that differs.
    static func check(
        _ changes: [Change], of sequence: SequenceNumber, _ header: EntryHeader,
        _ projection: Projection, _ pending: PendingIndexes,
        in transaction: borrowing WriteTransaction
    ) throws {
        var problems = try lacks(header, sequence, projection, transaction)
        for change in changes {
            guard let entity = projection.schema.entity(change.object.entity) else { continue }
            var expected = try projection.state(
                of: change.object, at: sequence.previous, in: transaction)
            let name = projection.schema.name(of: change.object)
            do {
                try change.apply(to: &expected, of: entity)
            } catch {
                problems.append("\(name) was not in the state that the entry starts from.")
                continue
            }
            let found = try projection.state(of: change.object, at: sequence, in: transaction)
            if found != expected {
                problems.append("\(name) is not what the entry makes of it.")
            }
            problems += try connections(
                of: change.object, found, entity, projection, pending, transaction)
            problems += try traces(of: change, sequence, entity, name, projection, transaction)
        }
        guard problems.isEmpty else {
            throw StoreError(
                .corrupt,
                "The tables do not agree with entry \(sequence), which was taken back. Run 'daybook "
                    + "verify' to see how far the damage goes.",
                details: problems)
        }
    }

    /// What the index of entries does not have of an entry.
    private static func lacks(
        _ header: EntryHeader, _ sequence: SequenceNumber, _ projection: Projection,
        _ transaction: borrowing WriteTransaction
    ) throws -> [String] {
        try projection.indexedAttribution.compactMap { attribution in
            guard let text = attribution.text(header.author, header.info) else { return nil }
            let key = StoreKey.entry(by: attribution, text, sequence)
            guard try !transaction.contains(projection.tables.index, key.span.bytes) else {
                return nil
            }
            return "The index of entries by \(attribution.noun) does not have the entry."
        }
    }

    /// What the index of changes does not have of a change.
    private static func traces(
        of change: Change, _ sequence: SequenceNumber, _ entity: SchemaEntity, _ name: String,
        _ projection: Projection, _ transaction: borrowing WriteTransaction
    ) throws -> [String] {
        guard entity.indexesChanges else { return [] }
        var problems: [String] = []
        func check(_ old: Value, of property: SchemaProperty, to new: Value?) throws {
            if let new {
                let key = StoreKey.change(of: property.number, in: sequence, change.object)
                let values = ChangedValues.record(from: old.encoded, to: new.encoded)
                let hasValues = try transaction.get(projection.tables.index, key.span.bytes) {
                    $0.hasSameBytes(as: values.span.bytes)
                }
                if hasValues != true {
                    problems.append(
                        "The index of the changes of '\(property.name)' does not have \(name).")
                }
            }
            guard property.isIndexed else { return }
            let key = StoreKey.former(
                StoreKey.index(property.number, old, change.object), of: property.number,
                until: sequence)
            if try !transaction.contains(projection.tables.index, key.span.bytes) {
                problems.append(
                    "The index of the former values of '\(property.name)' does not have \(name).")
            }
        }
        switch change.kind {
        case .insert: break
        case .update(let edits, _):
            for edit in edits where edit.old.encoded != edit.new.encoded {
                guard let property = entity.property(edit.property), property.hasIndexedChanges
                else { continue }
                try check(edit.old, of: property, to: edit.new)
            }
        case .delete(let values, _):
            for property in entity.slots where property.hasIndexedChanges {
                guard let slot = property.slot, slot < values.count else { continue }
                try check(values[slot], of: property, to: nil)
            }
        }
        return problems
    }

    private static func connections(
        of object: ObjectID, _ state: ObjectState?, _ entity: SchemaEntity,
        _ projection: Projection, _ pending: PendingIndexes,
        _ transaction: borrowing WriteTransaction
    ) throws -> [String] {
        guard let state else { return [] }
        let name = projection.schema.name(of: object)
        var problems: [String] = []
        for property in entity.indexedSlots where !pending.lacks(property.number, of: object) {
            guard let value = property.slot.map({ state.values[$0] }),
                !value.isNull || property.indexHoldsNulls
            else { continue }
            let key = StoreKey.index(property.number, value, object)
            if try !transaction.contains(projection.tables.index, key.span.bytes) {
                problems.append("The index of '\(property.name)' does not have \(name).")
            }
        }
        for index in entity.indexes where !pending.lacks(index.number, of: object) {
            let values = index.elements.map { $0.property.slot.map { state.values[$0] } ?? .null }
            let record = StoreKey.index(index, values, object)
            if try !transaction.contains(projection.tables.index, record.span.bytes) {
                problems.append("The index of \(index.text) does not have \(name).")
            }
        }
        for constraint in entity.constraints where constraint.isCompound {
            guard let key = constraint.key(of: constraint.values(in: state.values)) else {
                continue
            }
            let record = key + StoreKey.object(object)
            if try !transaction.contains(projection.tables.index, record.span.bytes) {
                let names = constraint.properties.map(\.name).joined(separator: ", ")
                problems.append("The index of (\(names)) does not have \(name).")
            }
        }
        for property in entity.referenceSlots {
            guard let target = property.slot.flatMap({ state.values[$0].reference }) else {
                continue
            }
            let key = StoreKey.link(from: target, property.number, to: object)
            if try !transaction.contains(projection.tables.referrers, key.span.bytes) {
                problems.append("'\(property.name)' of \(name) is not found from its other end.")
            }
        }
        return problems
    }
}
