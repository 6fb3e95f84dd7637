internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// The names of the properties whose index is still being built.
    ///
    /// - Complexity: O(1) while there are none.
    package func pendingIndexes() throws -> [String] {
        try reading { transaction in
            let pending = try StoreMetadata.pendingIndexes(parts.tables.meta, in: transaction)
            if pending.isEmpty { return [] }
            let schema = try models.inForce(in: transaction).parts.projection.schema
            return schema.allIndexes.filter { pending.contains($0.number) }.map(\.plainName)
        }
    }

    /// Builds the indexes that were put off, unless the options put them off again.
    ///
    /// - Throws: As ``buildIndexes(objectsAtOnce:_:)``.
    package func buildIndexesNow() throws {
        if options.indexes == .immediate { try buildIndexes(options.work) }
    }

    /// Builds the indexes that were put off, a few thousand objects in each write transaction, so that
    /// others save in between.
    ///
    /// What has been built stays when this ends early or the program is killed, and the next call goes
    /// on from there.
    ///
    /// - Parameters:
    ///   - count: How many objects are taken at a time.
    ///   - handler: Told after each part how far it has come; what it throws ends the building.
    /// - Throws: ``StoreError`` when the store cannot be written; what the handler throws.
    /// - Complexity: O(*n* log *n*) page reads and writes, *n* the number of objects.
    package func buildIndexes(
        objectsAtOnce count: Int = 8_192, _ handler: StoreOptions.WorkHandler? = nil
    ) throws {
        while try !pendingIndexes().isEmpty {
            let (parts, models) = (parts, models)
            let (done, total) = try writing { transaction in
                let last = try LastCommitState.current(parts, in: transaction)
                let inForce = try models.inForce(setBy: last.model, in: transaction)
                let rest = try inForce.parts.extendIndexes(last.pending, by: count, in: transaction)
                transaction.remember(last.with(rest))
                return try inForce.parts.progress(of: rest, in: transaction)
            }
            try handler?(done, total)
        }
    }
}

extension StoreParts {
    /// Completes all indexes that are being built.
    func completeIndexes(
        after last: LastCommitState, in transaction: borrowing WriteTransaction
    ) throws -> LastCommitState {
        var pending = last.pending
        while !pending.isEmpty {
            pending = try extendIndexes(pending, by: .max, in: transaction)
        }
        return last.with(pending)
    }

    /// Gives the first index that is being built the records of its next objects.
    fileprivate func extendIndexes(
        _ pending: PendingIndexes, by limit: Int, in transaction: borrowing WriteTransaction
    ) throws -> PendingIndexes {
        guard let (property, last) = pending.next else { return pending }
        var records = PutBatch()
        var keys = IndexKeyWriter()
        var (count, reached) = (0, last)
        for entity in entities(indexing: property) where entity.number >= last.entity {
            guard count < limit, let part = BuiltIndex(property, of: entity) else { continue }
            // After the last object, if that was of this entity.
            let lower =
                entity.number == last.entity
                ? StoreKey.object(last) + [0] : StoreKey.entity(entity.number)
            let upper = StoreKey.end(of: entity.number)
            try transaction.scan(
                tables.rows, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
            ) { key, bytes in
                var reader = KeyReader()
                let object = try reader.object(key)
                try projection.decoding(object) { () throws(DecodingFailure) in
                    let row = try RowLayout(bytes)
                    try entity.layout.withFields(part.slotCount, row, bytes) {
                        (row, bytes) throws(DecodingFailure) in
                        if try part.set(&keys, row, bytes, object) { records.add(keys.bytes) }
                    }
                }
                (count, reached) = (count + 1, object)
                return count < limit ? .proceed : .stop
            }
        }
        try records.write(to: tables.index, in: transaction)
        var rest = pending
        rest.set(property, reached: count < limit ? nil : reached)
        try StoreMetadata.setPendingIndexes(rest, tables.meta, in: transaction)
        return rest
    }

    private func entities(indexing property: PropertyNumber) -> [FoldedEntity] {
        projection.schema.entities.map(\.number).sorted()
            .compactMap { projection.foldedEntity($0) }
            .filter { BuiltIndex(property, of: $0) != nil }
    }

    /// How far the index being built has come, in object numbers of its entities.
    fileprivate func progress(
        of pending: PendingIndexes, in transaction: borrowing some Reading & ~Copyable
    ) throws -> (done: Int64, total: Int64) {
        guard let (property, reached) = pending.next else { return (1, 1) }
        var (done, total): (Int64, Int64) = (0, 0)
        for entity in entities(indexing: property) {
            let count = try tables.rows.numberMaximum(of: entity.number, in: transaction).asWork
            total += count
            if entity.number < reached.entity { done += count }
            if entity.number == reached.entity { done += reached.number.asWork }
        }
        return (done, total)
    }
}

extension StoreOptions {
    /// The new indexes that are to be built later.
    func deferredIndexes(of after: Schema, since before: Schema) -> [PropertyNumber] {
        indexes == .deferred ? after.deferrableIndexes(since: before) : []
    }
}

/// An index of one entity that is being built.
private enum BuiltIndex {
    case single(FoldedEntity.Property)
    case compound(FoldedIndex)

    init?(_ number: PropertyNumber, of entity: FoldedEntity) {
        if let property = entity.property(number), property.isIndexed {
            self = .single(property)
        } else if let index = entity.indexes.first(where: { $0.number == number }) {
            self = .compound(index)
        } else {
            return nil
        }
    }

    /// How many fields a row must have to have all that are asked for.
    var slotCount: Int {
        switch self {
        case .single(let property): property.slot + 1
        case .compound(let index): index.slotCount
        }
    }

    /// Sets the key of the record of an object.
    ///
    /// - Returns: Whether it has one.
    func set(
        _ keys: inout IndexKeyWriter, _ row: RowLayout, _ bytes: RawSpan, _ object: ObjectID
    ) throws(DecodingFailure) -> Bool {
        switch self {
        case .single(let property):
            let field = try row.field(property.slot, in: bytes)
            guard property.indexHolds(field) else { return false }
            try keys.set(property.number, field, in: bytes, object)
        case .compound(let index): try keys.set(index, row, bytes, object)
        }
        return true
    }
}

extension SchemaIndex {
    /// The names of the properties.
    fileprivate var plainName: String { elements.map(\.property.name).joined(separator: ", ") }
}

extension Schema {
    /// The indexes, each once.
    fileprivate var allIndexes: [SchemaIndex] {
        var seen: Set<PropertyNumber> = []
        return entities.flatMap { $0.indexedSlots.map { SchemaIndex(of: $0) } + $0.indexes }
            .filter { seen.insert($0.number).inserted }
    }

    /// The plain indexes that this model has and an earlier one had not, which may be built later:
    /// nothing but queries looks at them.
    fileprivate func deferrableIndexes(since before: Schema) -> [PropertyNumber] {
        let existing = Set(before.allIndexes.map(\.number))
        return allIndexes.filter { $0.holdsNulls && !existing.contains($0.number) }.map(\.number)
    }
}
