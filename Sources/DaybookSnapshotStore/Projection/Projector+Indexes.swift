internal import DaybookLMDB
internal import DaybookObjectModel

// The records of indexes over several properties. They are like those of single attributes, but the fields of a key
// may be partly in the entry and partly in the row before it.
extension Projector {
    /// Adds the records of a new object, whose fields are those of the entry.
    mutating func addIndexes(_ entity: FoldedEntity, _ entry: RawSpan) throws {
        for index in entity.indexes where !pending.lacks(index.number, of: change.object) {
            indexKeys.begin(index)
            for element in index.elements {
                guard element.slot < change.fields.count else { throw mismatch() }
                try append(change.fields[element.slot], in: entry, of: element)
            }
            indexKeys.end(change.object)
            self.index.add(indexKeys.bytes)
        }
    }

    /// The indexes of which an update touches a property, with the keys that their records have before it.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object.
    ///   - before: The row before the entry, in which the current fields are.
    /// - Returns: The indexes and the keys.
    /// - Throws: ``StoreError`` when a value cannot be read.
    mutating func touchedIndexes(
        _ entity: FoldedEntity, _ before: RawSpan
    ) throws -> [(index: FoldedIndex, key: [UInt8])] {
        var touched: [(index: FoldedIndex, key: [UInt8])] = []
        for index in entity.indexes where !pending.lacks(index.number, of: change.object) {
            let isTouched = change.edits.contains { edit in
                entity.property(edit.property).map { index.contains($0.slot) } ?? false
            }
            guard isTouched else { continue }
            try setIndexKey(index, before, before)
            touched.append((index, indexKeys.bytes))
        }
        return touched
    }

    /// Replaces the records of indexes whose keys the current fields change.
    mutating func move(
        _ touched: [(index: FoldedIndex, key: [UInt8])], _ entry: RawSpan, _ before: RawSpan
    ) throws {
        for (index, key) in touched {
            try setIndexKey(index, entry, before)
            guard indexKeys.bytes != key else { continue }
            removals.add(projection.tables.index, key)
            self.index.add(indexKeys.bytes)
        }
    }

    /// Takes out the records of an object that is deleted.
    mutating func removeIndexes(
        _ entity: FoldedEntity, _ entry: RawSpan, _ before: RawSpan
    ) throws {
        for index in entity.indexes where !pending.lacks(index.number, of: change.object) {
            try setIndexKey(index, entry, before)
            removals.add(projection.tables.index, indexKeys.bytes)
        }
    }

    /// Sets the key of the current fields.
    private mutating func setIndexKey(
        _ index: FoldedIndex, _ entry: RawSpan, _ before: RawSpan
    ) throws {
        indexKeys.begin(index)
        for element in index.elements {
            guard element.slot < fields.count else { throw mismatch() }
            let field = fields[element.slot]
            try append(field.range, in: field.isNew ? entry : before, of: element)
        }
        indexKeys.end(change.object)
    }

    private mutating func append(
        _ field: EncodedField, in bytes: RawSpan, of element: FoldedIndex.Element
    ) throws {
        do {
            try indexKeys.append(field, in: bytes, of: element)
        } catch {
            throw unreadable(error)
        }
    }
}
