internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The index of changes, where a model asks for one, or does so no longer: it is worked out from all versions.
extension Projector {
    /// Brings the index of changes to what the model at hand has, from what the one before had.
    mutating func moveChanges(
        from before: Projection, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let after = projection
        for numbers in after.schema.version.entities {
            let number = numbers.number
            let old = Self.indexed(in: before.schema.entity(number))
            let new = Self.indexed(in: after.schema.entity(number))
            let (had, has) = (Set(old.map(\.number)), Set(new.map(\.number)))
            try walkChanges(
                of: old.filter { !has.contains($0.number) }, of: number, by: before,
                in: transaction
            ) { projector, key, _ in
                projector.removals.add(after.tables.index, key)
            }
            let slots = Set(before.schema.version.entity(number)?.slots.map(\.property) ?? [])
            let added = new.filter { property in
                // No entry has changed what no model before knew of, except under another type.
                !had.contains(property.number)
                    && (slots.contains(property.number) || numbers.converts(property))
            }
            try walkChanges(of: added, of: number, by: after, in: transaction) {
                projector, key, values in
                projector.index.add(key, values)
            }
        }
    }

    /// The properties of an entity that have an index of changes.
    private static func indexed(in entity: SchemaEntity?) -> [SchemaProperty] {
        entity?.slots.filter(\.hasIndexedChanges) ?? []
    }

    /// Passes on key and value of the record of every change that entries before the one at hand have made.
    ///
    /// - Parameters:
    ///   - properties: The properties.
    ///   - entity: The entity whose objects have them.
    ///   - model: The model by which rows are read.
    ///   - transaction: The state to read.
    ///   - body: Takes a key and a value.
    /// - Throws: ``StoreError`` when a row cannot be read.
    private mutating func walkChanges(
        of properties: [SchemaProperty], of entity: EntityNumber, by model: Projection,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout Projector, _ key: [UInt8], _ value: [UInt8]) -> Void
    ) throws {
        guard !properties.isEmpty else { return }
        let (work, last) = (work, sequence.previous)
        try work?.begin(entity, projection.tables.rows, in: transaction)
        for object in try model.changedObjects(of: entity, in: transaction) {
            try work?.reach(object)
            var before: (fields: [[UInt8]], end: SequenceNumber)?
            var records: [(key: [UInt8], value: [UInt8])] = []
            try model.forEachState(of: object, through: last, in: transaction) {
                row, bytes, replacement in
                let fields = try properties.map { property in
                    var writer = ByteWriter(capacity: 16)
                    let slot = property.slot ?? 0
                    writer.append(try model.value(slot, of: object, row, bytes))
                    return writer.bytes
                }
                if let before, before.end == row.since {
                    for (index, property) in properties.enumerated()
                    where before.fields[index] != fields[index] {
                        records.append(
                            (
                                StoreKey.change(of: property.number, in: row.since, object),
                                ChangedValues.record(from: before.fields[index], to: fields[index])
                            ))
                    }
                }
                before = replacement.map { (fields, $0) }
                return .proceed
            }
            for record in records { body(&self, record.key, record.value) }
        }
    }
}

extension Projection {
    /// The objects of an entity that have versions, each once and in order.
    fileprivate func changedObjects(
        of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        var objects: [ObjectID] = []
        try transaction.scan(
            tables.versions, from: StoreKey.entity(entity).span.bytes,
            to: StoreKey.end(of: entity).span.bytes, order: .ascending
        ) { key, _ in
            var reader = KeyReader()
            let object = try reader.object(key)
            if object != objects.last { objects.append(object) }
            return .proceed
        }
        return objects
    }
}

extension NumberedEntity {
    /// Whether the values of a property are those of an earlier one, in another type.
    fileprivate func converts(_ property: SchemaProperty) -> Bool {
        guard let slot = property.slot, slot < slots.count, case .converted = slots[slot].fill
        else { return false }
        return true
    }
}
