internal import DaybookJournalLog
internal import DaybookObjectModel

/// A request that has passed every check that does not read the store.
///
/// It is made on the caller's thread, so that saves wait for each other as little as possible.
final class ValidatedSave: Sendable {
    /// The changes in the order of the entry, with values in canonical form.
    let changes: [Change]
    /// The bytes of the entry if nothing has to be merged.
    let payload: [UInt8]
    let request: SaveRequest

    /// Sorts and checks the changes.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity``, or with
    ///   ``StoreError/Code/validation`` and every value that does not fit; with
    ///   ``StoreError/Code/information``.
    init(_ request: SaveRequest, schema: Schema) throws {
        try EntryInfo.check(request.header.info)
        self.request = request
        var changes = request.changes.withDefaults(in: schema)
        changes.sortAsInEntry()
        if let payload = try Self.payload(request.header, changes, schema) {
            self.changes = changes
            self.payload = payload
            return
        }
        if changes.contains(where: \.isEmpty) { changes.removeAll(where: \.isEmpty) }
        for position in changes.indices where changes[position].mayNeedNormalizing {
            changes[position].normalize(schema)
        }
        self.changes = changes
        try SaveRequestValidation.check(changes, schema: schema)
        payload = changes.isEmpty ? [] : EntryPayload.bytes(request.header, changes)
    }

    /// Checks changes and encodes them in one pass.
    ///
    /// - Returns: The bytes of the entry; nil when the changes must be sorted or normalized first.
    /// - Throws: As ``init(_:schema:)``.
    private static func payload(
        _ header: EntryHeader, _ changes: [Change], _ schema: Schema
    ) throws -> [UInt8]? {
        guard !changes.isEmpty else { return nil }
        var writer = EntryPayload.writer(header, count: changes.count)
        var validation = SaveRequestValidation(schema: schema, count: changes.count)
        var previous: Change.SortKey?
        let span = changes.span
        for index in span.indices {
            let change = span[index]
            let key = change.sortKey
            if let previous, !(previous < key) { return nil }
            previous = key
            guard change.isCanonical else { return nil }
            try validation.take(change)
            writer.append(change)
        }
        try validation.finish()
        return writer.bytes
    }

    /// Whether others may have changed a row without a change's old values showing it: they may
    /// have touched a watched object, or given a member to an object that is deleted.
    func mayHaveMoved(_ schema: Schema) -> Bool {
        if !request.watched.isEmpty || request.detection == .perRow { return true }
        guard schema.entities.contains(where: { !$0.storedToMany.isEmpty }) else { return false }
        return changes.contains { change in
            change.isDelete && schema.entity(change.object.entity)?.storedToMany.isEmpty == false
        }
    }
}

extension [Change] {
    /// The changes with the default in place of each derived value of a whole object. Edits of derived
    /// values stay, and are refused.
    fileprivate func withDefaults(in schema: Schema) -> [Change] {
        guard !schema.derivations.isEmpty else { return self }
        return map { change in
            if case .update = change.kind { return change }
            return schema.entity(change.object.entity).map { change.withoutDerived(of: $0) }
                ?? change
        }
    }
}

extension Change {
    /// Whether the change does something and no new value needs normalizing.
    fileprivate var isCanonical: Bool {
        switch kind {
        case .insert(let values, _):
            let values = values.span
            for slot in values.indices where values[slot].mayNeedNormalizing { return false }
            return true
        case .update(let edits, let members):
            var isEmpty = members.allSatisfy(\.isEmpty)
            let edits = edits.span
            for index in edits.indices {
                if edits[index].new.mayNeedNormalizing { return false }
                if isEmpty, edits[index].old != edits[index].new { isEmpty = false }
            }
            return !isEmpty
        case .delete: return true
        }
    }

    /// Whether a new value may not be in canonical form.
    fileprivate var mayNeedNormalizing: Bool {
        switch kind {
        case .insert(let values, _): values.contains(where: \.mayNeedNormalizing)
        case .update(let edits, _): edits.contains { $0.new.mayNeedNormalizing }
        case .delete: false
        }
    }

    /// Brings new values into canonical form.
    fileprivate mutating func normalize(_ schema: Schema) {
        let entity = schema.entity(object.entity)
        switch kind {
        case .insert(let values, let members):
            let slots = entity?.slots ?? []
            let normalized = values.enumerated().map { slot, value in
                value.normalized(for: slot < slots.count ? slots[slot].attribute?.type : nil)
            }
            kind = .insert(values: normalized, members: members)
        case .update(let edits, let members):
            let normalized = edits.map {
                let type = entity?.property($0.property)?.attribute?.type
                return Edit(property: $0.property, old: $0.old, new: $0.new.normalized(for: type))
            }
            kind = .update(edits: normalized, members: members)
        case .delete: return
        }
    }
}

extension Value {
    fileprivate var mayNeedNormalizing: Bool {
        switch self {
        case .double(let number): number.isNaN || (number == 0 && number.sign == .minus)
        case .date: self != normalized
        case .data(let data): data.count > LargeData.inlineBytesMaximum
        default: false
        }
    }
}
