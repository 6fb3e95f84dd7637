internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// An entry that sets a model: what follows is folded by it, and the index gets the records that it wants.
extension Projector {
    mutating func setModel(
        _ version: ModelVersion, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        models.add(StoreKey.sequence(sequence), ModelRecord.bytes(version, at: sequence))
        let before = projection
        guard before.schema.version != version else { return }
        state.projection = Projection(tables: before.tables, schema: Schema(version))
        entity = nil
        // Before the first entry there is nothing to be found by an index.
        guard sequence > SequenceNumber(1) else { return }
        for move in moves(from: before) where !move.isEmpty && !pending.isAll(of: move) {
            try reindex(move, in: transaction)
        }
        try moveChanges(from: before, in: transaction)
    }

    /// What the index has to gain and to lose, for each entity that is or was in the model.
    private func moves(from before: Projection) -> [IndexMove] {
        let (old, new) = (before.schema, projection.schema)
        return new.version.entities.compactMap { numbers in
            let number = numbers.number
            switch (before.foldedEntity(number), projection.foldedEntity(number)) {
            case (let old?, let new?): return IndexMove(from: old, to: new)
            case (let gone?, nil): return IndexMove(removing: gone, from: new)
            case (nil, let back?):
                return old.version.entity(number).map {
                    IndexMove(restoring: back, $0, before: old)
                }
            case (nil, nil): return nil
            }
        }
    }

    private mutating func reindex(
        _ move: IndexMove, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let (state, work) = (state, work)
        let (layout, slotCount) = (move.entity.layout, move.slotCount)
        try work?.begin(move.entity.number, projection.tables.rows, in: transaction)
        try state.forEachRow(of: move.entity.number, before: sequence, in: transaction) {
            object, row, bytes in
            try work?.reach(object)
            do throws(DecodingFailure) {
                try layout.withFields(slotCount, row, bytes) {
                    (row, bytes) throws(DecodingFailure) in
                    try reindex(move, object, row, bytes)
                }
            } catch {
                throw StoreError.rowUnreadable(projection.schema.name(of: object), cause: error)
            }
        }
    }

    /// Only the fields that are asked for are looked at.
    private mutating func reindex(
        _ move: IndexMove, _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan
    ) throws(DecodingFailure) {
        for item in move.items {
            let field = try row.field(item.slot, in: bytes)
            let (had, has) = (item.had(field), item.has(field))
            guard had != has, !pending.lacks(item.property, of: object) else { continue }
            try indexKeys.set(item.property, field, in: bytes, object)
            if has {
                index.add(indexKeys.bytes)
            } else {
                removals.add(projection.tables.index, indexKeys.bytes)
            }
        }
        for constraint in move.compoundsAdded
        where try indexKeys.set(constraint, row, bytes, object) {
            index.add(indexKeys.bytes)
        }
        for constraint in move.compoundsDropped
        where try indexKeys.set(constraint, row, bytes, object) {
            removals.add(projection.tables.index, indexKeys.bytes)
        }
        for index in move.indexesAdded where !pending.lacks(index.number, of: object) {
            try indexKeys.set(index, row, bytes, object)
            self.index.add(indexKeys.bytes)
        }
        for index in move.indexesDropped where !pending.lacks(index.number, of: object) {
            try indexKeys.set(index, row, bytes, object)
            removals.add(projection.tables.index, indexKeys.bytes)
        }
    }
}

extension PendingIndexes {
    /// Whether nothing is to be done now, because every index of a move has no records and gets none.
    fileprivate func isAll(of move: IndexMove) -> Bool {
        let last = ObjectID(entity: move.entity.number, number: 0)
        return move.compoundsAdded.isEmpty && move.compoundsDropped.isEmpty
            && move.items.allSatisfy { lacks($0.property, of: last) }
            && (move.indexesAdded + move.indexesDropped).allSatisfy { lacks($0.number, of: last) }
    }
}

/// What the index has of one entity under a model and is to have under the next.
private struct IndexMove {
    /// One field of which the index had, or is to have, records.
    struct Item {
        let property: PropertyNumber
        let slot: Int
        let old: FoldedEntity.Property?
        let new: FoldedEntity.Property?

        func had(_ field: EncodedField) -> Bool {
            guard let old, old.isIndexed else { return false }
            return old.indexHolds(field)
        }

        func has(_ field: EncodedField) -> Bool {
            guard let new, new.isIndexed else { return false }
            return new.indexHolds(field)
        }
    }

    let entity: FoldedEntity
    let items: [Item]
    let compoundsAdded: [SchemaConstraint]
    let compoundsDropped: [SchemaConstraint]
    let indexesAdded: [FoldedIndex]
    let indexesDropped: [FoldedIndex]

    var isEmpty: Bool {
        items.isEmpty && compoundsAdded.isEmpty && compoundsDropped.isEmpty
            && indexesAdded.isEmpty && indexesDropped.isEmpty
    }

    /// How many fields a row must have to have all that are asked for.
    var slotCount: Int {
        let single = items.map { $0.slot + 1 }
        let several =
            (compoundsAdded + compoundsDropped).map(\.slotCount)
            + (indexesAdded + indexesDropped).map(\.slotCount)
        return (single + several).max() ?? 0
    }

    /// Takes out what other entities go on with; the records of what is gone altogether stay, for nobody
    /// looks at them.
    init(removing entity: FoldedEntity, from schema: Schema) {
        self.entity = entity
        items = entity.properties.compactMap { property in
            guard property.isIndexed, schema.property(property.number) != nil else { return nil }
            return Item(
                property: property.number, slot: property.slot, old: property, new: nil)
        }
        compoundsAdded = []
        compoundsDropped = entity.compounds.filter {
            schema.declarer(ofConstraint: $0) != nil
        }
        indexesAdded = []
        // All of them: what comes back may do so in a model in which the others do not have the index.
        indexesDropped = entity.indexes
    }

    /// Puts in again what was taken out when the entity was removed.
    init(restoring entity: FoldedEntity, _ removed: NumberedEntity, before schema: Schema) {
        self.entity = entity
        items = entity.properties.compactMap { property in
            let isKept =
                property.slot < removed.slots.count
                && removed.slots[property.slot].removed?.isIndexed == true
            guard property.isIndexed, !isKept else { return nil }
            return Item(
                property: property.number, slot: property.slot, old: nil, new: property)
        }
        compoundsAdded = entity.compounds.filter { schema.declarer(ofConstraint: $0) != nil }
        compoundsDropped = []
        indexesAdded = entity.indexes
        indexesDropped = []
    }

    init(from old: FoldedEntity, to new: FoldedEntity) {
        entity = new
        items = new.properties.compactMap { property in
            let before =
                property.slot < old.properties.count ? old.properties[property.slot] : nil
            let isSame =
                before?.isIndexed ?? false == property.isIndexed
                && (before?.indexHoldsNulls == property.indexHoldsNulls || !property.isIndexed)
            if isSame { return nil }
            return Item(property: property.number, slot: property.slot, old: before, new: property)
        }
        let (before, after) = (Set(old.compounds.map(\.number)), Set(new.compounds.map(\.number)))
        compoundsAdded = new.compounds.filter { !before.contains($0.number) }
        compoundsDropped = old.compounds.filter { !after.contains($0.number) }
        let (had, has) = (Set(old.indexes.map(\.number)), Set(new.indexes.map(\.number)))
        indexesAdded = new.indexes.filter { !had.contains($0.number) }
        indexesDropped = old.indexes.filter { !has.contains($0.number) }
    }
}
