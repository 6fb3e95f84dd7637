internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// One change: what it starts from and the records that follow from it.
extension Projector {
    mutating func foldedEntity() throws -> FoldedEntity {
        if entity?.number != change.object.entity {
            entity = projection.foldedEntity(change.object.entity)
        }
        guard let entity else { throw mismatch() }
        return entity
    }

    mutating func fold(
        _ entry: RawSpan, _ isLeading: Bool, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let entity = try foldedEntity()
        switch change.kind {
        case .insert: try insert(entity, entry, isLeading, in: transaction)
        case .update: try update(entity, entry, in: transaction)
        case .delete: try delete(entity, entry, in: transaction)
        }
        if !change.members.isEmpty { try fold(change.members, in: transaction) }
    }

    private mutating func insert(
        _ entity: FoldedEntity, _ entry: RawSpan, _ isLeading: Bool,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let key = VersionKey(change.object)
        guard change.fields.count <= Int(UInt16.max),
            (1...StoreLayout.objectNumberMaximum).contains(change.object.number),
            try state.begin(change.object, key, in: transaction)
        else { throw mismatch() }
        if !isLeading {
            if entity.layout.removed.isEmpty {
                encodeBirth(entity, entry)
            } else {
                try encodeRebirth(entity, entry, in: transaction)
            }
            let row = encoder.bytes
            rows.add(
                key.bytes.span.bytes.extracting(first: VersionKey.rowSize), row.span.bytes)
        }
        for property in entity.indexed where !property.isRemoved {
            try addIndex(property, try field(property), entry)
        }
        try addIndexes(entity, entry)
        if !entity.compounds.isEmpty {
            fields.removeAll(keepingCapacity: true)
            for field in change.fields { fields.append(RowField(range: field, isNew: true)) }
            indexConstraints(entity, from: nil, to: try decoded(entry, entry))
        }
        for property in entity.references { try connect(property, try field(property), entry) }
    }

    mutating func encodeBirth(_ entity: FoldedEntity, _ entry: RawSpan) {
        encoder.encode(
            since: sequence, new: change.fields, from: entry,
            parts: 1 + change.fields.count + entity.storedToMany.count)
    }

    /// Encodes the row of an insert of an entity that has lost properties. An object that comes back has
    /// the values of these that it had, so that undoing their removal brings them back for it, too.
    private mutating func encodeRebirth(
        _ entity: FoldedEntity, _ entry: RawSpan, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        fields.removeAll(keepingCapacity: true)
        for field in change.fields { fields.append(RowField(range: field, isNew: true)) }
        guard fields.count == entity.layout.slotCount else { throw mismatch() }
        ages = [UInt64](repeating: 0, count: 1 + fields.count + entity.storedToMany.count)
        let (object, sequence) = (change.object, sequence)
        let found: Void? = try projection.withLastVersion(
            of: object, before: sequence, in: transaction
        ) { last in
            do throws(DecodingFailure) {
                let layout = try RowLayout(last)
                try entity.layout.check(layout)
                var old: [RowField] = []
                try layout.fields(in: last, &old)
                for slot in entity.layout.removed where slot < old.count {
                    fields[slot] = RowField(range: old[slot].range, isNew: false)
                }
            } catch {
                throw unreadable(error)
            }
            encoder.encode(since: sequence, fields, from: entry, last, ages: ages)
        }
        if found == nil { encoder.encode(since: sequence, fields, from: entry, entry, ages: ages) }
        for property in entity.removed {
            // The records go along with the row, as for what is in the model.
            guard property.isIndexed || property.isReference else { continue }
            let value = try value(property.slot, of: encoder.bytes)
            if property.isIndexed, !value.isNull || property.indexHoldsNulls,
                !pending.lacks(property.number, of: object)
            {
                index.add(StoreKey.index(property.number, value, object))
            }
            if property.isReference, let target = value.reference {
                try addReferrer(StoreKey.link(from: target, property.number, to: object))
            }
        }
    }

    private func value(_ slot: Int, of row: [UInt8]) throws -> Value {
        do throws(DecodingFailure) {
            let span = row.span.bytes
            return try RowLayout(span).value(slot, in: span)
        } catch {
            throw unreadable(error)
        }
    }

    private mutating func update(
        _ entity: FoldedEntity, _ entry: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let found: Void? = try withRow(in: transaction) { (projector, before, layout) in
            try projector.splice(entity, entry, before, layout)
        }
        guard found != nil else { throw mismatch() }
        for edit in change.edits {
            guard let property = entity.property(edit.property),
                property.isIndexed || property.isReference || entity.indexesChanges,
                !entry.hasSame(edit.old, edit.new)
            else { continue }
            if entity.indexesChanges, !property.isRemoved {
                index.add(
                    StoreKey.change(of: property.number, in: sequence, change.object),
                    ChangedValues.record(from: edit.old, to: edit.new, in: entry))
                try addFormer(property, edit.old, entry)
            }
            if property.isIndexed {
                try removeIndex(property, edit.old, entry)
                try addIndex(property, edit.new, entry)
            } else if property.isReference {
                try disconnect(property, edit.old, entry, in: transaction)
                try connect(property, edit.new, entry)
            }
        }
    }

    /// Builds the row after an update from the one before, which is kept as a version.
    private mutating func splice(
        _ entity: FoldedEntity, _ entry: RawSpan, _ before: RawSpan, _ layout: RowLayout
    ) throws {
        do throws(DecodingFailure) {
            try entity.layout.check(layout)
            try layout.fields(in: before, &fields)
            try layout.ages(
                in: before,
                relationships: entity.layout.relationshipCount(at: layout.since), &ages)
        } catch {
            throw unreadable(error)
        }
        let passed = sequence.rawValue - layout.since.rawValue
        for part in ages.indices { ages[part] += passed }
        if fields.count == entity.layout.slotCount,
            ages.count == 1 + fields.count + entity.storedToMany.count
        {
            try splice(entity, entry, onto: before)
        } else {
            let completed = try complete(entity, before)
            try splice(entity, entry, onto: completed.span.bytes)
        }
        versions.add(VersionKey(change.object, sequence).bytes.span.bytes, before)
    }

    /// Adds to the fields and ages at hand what a row of an earlier model lacks: its new parts are from
    /// the entry that gave them to the model.
    ///
    /// - Returns: The bytes of the row and, behind them, of the fields that were added.
    private mutating func complete(_ entity: FoldedEntity, _ before: RawSpan) throws -> [UInt8] {
        let count = fields.count
        let completed: [UInt8]
        do throws(DecodingFailure) {
            completed = try entity.layout.complete(before, &fields)
        } catch {
            throw unreadable(error)
        }
        func age(_ since: SequenceNumber) -> UInt64 {
            sequence.rawValue - min(since.rawValue, sequence.rawValue)
        }
        ages.insert(contentsOf: entity.layout.since.dropFirst(count).map(age), at: 1 + count)
        let members = ages.count - 1 - fields.count
        guard members >= 0, members <= entity.storedToMany.count else { throw mismatch() }
        ages += entity.layout.membersSince.dropFirst(members).map(age)
        return completed
    }

    private mutating func splice(
        _ entity: FoldedEntity, _ entry: RawSpan, onto before: RawSpan
    ) throws {
        let old = entity.compounds.isEmpty ? nil : try decoded(entry, before)
        let touched = entity.indexes.isEmpty ? [] : try touchedIndexes(entity, before)
        for edit in change.edits {
            // A second edit of one property would start from the first; no valid entry has one.
            guard let slot = entity.property(edit.property)?.slot, slot < fields.count,
                !fields[slot].isNew, entry.hasSame(edit.old, as: fields[slot].range, in: before)
            else { throw mismatch(edit.property) }
            guard !entry.hasSame(edit.old, edit.new) else { continue }
            fields[slot] = RowField(range: edit.new, isNew: true)
            ages[1 + slot] = 0
        }
        for edit in change.members where !edit.isEmpty {
            let row = entity.storedToMany.firstIndex(of: edit.property)
            if let row { ages[1 + fields.count + row] = 0 }
        }
        // Fields that the entry does not touch are copied as they are: `verify` finds damage in
        // them.
        encoder.encode(since: sequence, fields, from: entry, before, ages: ages)
        let key = VersionKey(change.object)
        let row = encoder.bytes
        rows.add(key.bytes.span.bytes.extracting(first: VersionKey.rowSize), row.span.bytes)
        if !touched.isEmpty { try move(touched, entry, before) }
        if let old { indexConstraints(entity, from: old, to: try decoded(entry, before)) }
    }

    private mutating func delete(
        _ entity: FoldedEntity, _ entry: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let found: Void? = try withRow(in: transaction) { (projector, before, layout) in
            try projector.retire(entity, entry, before, layout, in: transaction)
        }
        guard found != nil else { throw mismatch() }
        for property in entity.indexed where !property.isRemoved {
            let field = try field(property)
            try removeIndex(property, field, entry)
            if entity.indexesChanges { try addFormer(property, field, entry) }
        }
        for property in entity.references where !property.isRemoved {
            try disconnect(property, try field(property), entry, in: transaction)
        }
    }

    /// Keeps the row before a delete as a version.
    private mutating func retire(
        _ entity: FoldedEntity, _ entry: RawSpan, _ before: RawSpan, _ layout: RowLayout,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        do throws(DecodingFailure) {
            try entity.layout.check(layout)
            try layout.fields(in: before, &fields)
        } catch {
            throw unreadable(error)
        }
        if fields.count == entity.layout.slotCount {
            try retire(entity, entry, from: before, in: transaction)
        } else {
            let completed: [UInt8]
            do throws(DecodingFailure) {
                completed = try entity.layout.complete(before, &fields)
            } catch {
                throw unreadable(error)
            }
            try retire(entity, entry, from: completed.span.bytes, in: transaction)
        }
        versions.add(VersionKey(change.object, sequence).bytes.span.bytes, before)
    }

    private mutating func retire(
        _ entity: FoldedEntity, _ entry: RawSpan, from before: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard fields.count == change.fields.count else { throw mismatch() }
        for slot in fields.indices {
            let field = change.fields[slot]
            // Entries do not have what was removed from the model, and rows keep it.
            let fits =
                entity.properties[slot].isRemoved
                ? field.isEmpty : entry.hasSame(field, as: fields[slot].range, in: before)
            guard fits else { throw mismatch() }
        }
        guard state.end(change.object) else { throw mismatch() }
        let key = VersionKey(change.object)
        removals.add(
            projection.tables.rows, key.bytes.span.bytes.extracting(first: VersionKey.rowSize))
        if !entity.compounds.isEmpty {
            indexConstraints(entity, from: try decoded(entry, before), to: nil)
        }
        try removeIndexes(entity, entry, before)
        for property in entity.removed {
            let field = fields[property.slot].range
            if property.isIndexed { try removeIndex(property, field, before) }
            if property.isReference {
                try disconnect(property, field, before, in: transaction)
            }
        }
        for list in entity.removedLists { try endMembers(of: list, in: transaction) }
    }

    /// The values of the current fields.
    private func decoded(_ entry: RawSpan, _ before: RawSpan) throws -> [Value] {
        var values: [Value] = []
        for field in fields {
            do {
                values.append(
                    field.isNew
                        ? try entry.value(at: field.range) : try before.value(at: field.range))
            } catch {
                throw unreadable(error)
            }
        }
        return values
    }

    /// The field of a property in the change.
    private func field(_ property: FoldedEntity.Property) throws -> EncodedField {
        guard property.slot < change.fields.count else { throw mismatch(property.number) }
        return change.fields[property.slot]
    }

    // MARK: - The state before the entry

    /// Calls `body` with the row of the change's object before the entry.
    private mutating func withRow<R>(
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout Projector, RawSpan, RowLayout) throws -> R
    ) throws -> R? {
        // Copies, because `body` mutates this value, which would otherwise be copied whole.
        let (state, object, sequence, schema) = (state, change.object, sequence, projection.schema)
        return try state.withRow(of: object, before: sequence, in: transaction) { bytes in
            let layout = try Self.layout(bytes, of: object, before: sequence, in: schema)
            return try body(&self, bytes, layout)
        }
    }

    private static func layout(
        _ bytes: RawSpan, of object: ObjectID, before sequence: SequenceNumber, in schema: Schema
    ) throws -> RowLayout {
        let layout: RowLayout
        do {
            layout = try RowLayout(bytes)
        } catch {
            throw StoreError.rowUnreadable(schema.name(of: object), cause: error)
        }
        guard layout.since < sequence else {
            throw StoreError.corrupt(
                "The record of \(schema.name(of: object)) says that it is of "
                    + "entry \(layout.since), which cannot be before entry \(sequence)")
        }
        return layout
    }

    func unreadable(_ failure: DecodingFailure) -> StoreError {
        .rowUnreadable(projection.schema.name(of: change.object), cause: failure)
    }

    func mismatch(_ property: PropertyNumber? = nil) -> StoreError {
        let object = change.object
        let name = projection.schema.name(of: object)
        let entity = projection.schema.entity(object.entity)
        let subject = property.flatMap { entity?.property($0)?.name }.map { "'\($0)' of \(name)" }
        return .corrupt(
            "Entry \(sequence) does not fit the tables for \(subject ?? name)")
    }
}

extension RawSpan {
    /// Whether two fields have the same value.
    fileprivate func hasSame(_ field: EncodedField, _ other: EncodedField) -> Bool {
        hasSame(field, as: other, in: self)
    }

    /// Whether a field has the same value as one of other bytes.
    fileprivate func hasSame(
        _ field: EncodedField, as other: EncodedField, in bytes: RawSpan
    ) -> Bool {
        guard field.byteCount == other.byteCount else { return false }
        return extracting(field.start..<field.end)
            .hasSameBytes(as: bytes.extracting(other.start..<other.end))
    }
}
