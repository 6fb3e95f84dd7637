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
            let old = TracedProperties(of: before.schema.entity(number))
            let new = TracedProperties(of: after.schema.entity(number))
            try walkChanges(of: old.without(new), of: number, by: before, in: transaction) {
                projector, key, _ in
                projector.removals.add(after.tables.index, key)
            }
            let slots = Set(before.schema.version.entity(number)?.slots.map(\.property) ?? [])
            var added = new.without(old)
            // No entry has changed what no model before knew of, except under another type. Objects that were deleted
            // had a value of it all the same.
            added.changes.removeAll { property in
                !slots.contains(property.number) && !numbers.converts(property)
            }
            try walkChanges(of: added, of: number, by: after, in: transaction) {
                projector, key, values in
                projector.index.add(key, values)
            }
        }
    }

    /// Passes on key and value of the record of every change that entries before the one at hand have made, and of
    /// every value that they have replaced or taken along.
    ///
    /// - Parameters:
    ///   - properties: The properties.
    ///   - entity: The entity whose objects have them.
    ///   - model: The model by which rows are read.
    ///   - transaction: The state to read.
    ///   - body: Takes a key and a value.
    /// - Throws: ``StoreError`` when a row cannot be read.
    private mutating func walkChanges(
        of properties: TracedProperties, of entity: EntityNumber, by model: Projection,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout Projector, _ key: [UInt8], _ value: [UInt8]) -> Void
    ) throws {
        guard !properties.isEmpty else { return }
        let (work, last) = (work, sequence.previous)
        try work?.begin(entity, projection.tables.rows, in: transaction)
        for object in try model.changedObjects(of: entity, in: transaction) {
            try work?.reach(object)
            var before: (values: TracedValues, end: SequenceNumber)?
            var records: [(key: [UInt8], value: [UInt8])] = []
            try model.forEachState(of: object, through: last, in: transaction) {
                row, bytes, replacement in
                let values = try TracedValues(of: properties) { slot in
                    try model.value(slot, of: object, row, bytes)
                }
                if let before {
                    let next = before.end == row.since ? values : nil
                    records += before.values.records(of: object, until: before.end, next)
                }
                before = replacement.map { (values, $0) }
                return .proceed
            }
            if let before {
                records += before.values.records(of: object, until: before.end, nil)
            }
            for record in records { body(&self, record.key, record.value) }
        }
    }
}

/// The properties of an entity whose past has an index.
private struct TracedProperties {
    /// Those whose changes it has.
    var changes: [SchemaProperty]
    /// Those whose former values it has: the ones that have an index of their values as well.
    var values: [SchemaProperty]

    init(of entity: SchemaEntity?) {
        changes = entity?.slots.filter(\.hasIndexedChanges) ?? []
        values = changes.filter(\.isIndexed)
    }

    var isEmpty: Bool { changes.isEmpty && values.isEmpty }

    /// Those that others do not have.
    func without(_ other: TracedProperties) -> TracedProperties {
        let (changed, valued) = (
            Set(other.changes.map(\.number)), Set(other.values.map(\.number))
        )
        var rest = self
        rest.changes.removeAll { changed.contains($0.number) }
        rest.values.removeAll { valued.contains($0.number) }
        return rest
    }
}

/// What an object had in one state of the properties whose past has an index.
private struct TracedValues {
    private let properties: TracedProperties
    private let values: [PropertyNumber: Value]

    init(of properties: TracedProperties, _ value: (_ slot: Int) throws -> Value) rethrows {
        self.properties = properties
        var values: [PropertyNumber: Value] = [:]
        for property in properties.changes + properties.values {
            guard values[property.number] == nil, let slot = property.slot else { continue }
            values[property.number] = try value(slot)
        }
        self.values = values
    }

    private func value(_ property: SchemaProperty) -> Value { values[property.number] ?? .null }

    /// The records of the entry that ended the state.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - sequence: The entry.
    ///   - next: The state after it; nil where it deleted the object.
    /// - Returns: Their keys and values.
    func records(
        of object: ObjectID, until sequence: SequenceNumber, _ next: TracedValues?
    ) -> [(key: [UInt8], value: [UInt8])] {
        var records: [(key: [UInt8], value: [UInt8])] = []
        if let next {
            for property in properties.changes {
                let (old, new) = (value(property).encoded, next.value(property).encoded)
                guard old != new else { continue }
                let key = StoreKey.change(of: property.number, in: sequence, object)
                records.append((key, ChangedValues.record(from: old, to: new)))
            }
        }
        for property in properties.values {
            let old = value(property)
            if let next, old.encoded == next.value(property).encoded { continue }
            let record = StoreKey.index(property.number, old, object)
            records.append((StoreKey.former(record, of: property.number, until: sequence), []))
        }
        return records
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
