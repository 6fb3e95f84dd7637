// The indexes of an entity, over several properties and of what entries change, and those of entries.
extension SchemaDifference {
    mutating func compareIndexes(_ before: SchemaEntity, _ after: SchemaEntity) {
        let (old, new) = (before.numbers.indexes, after.numbers.indexes)
        for index in before.indexes
        where before.declares(index) && !new.values.contains(index.number.rawValue) {
            add(
                .dropIndex, after.name, nil,
                "drop the index of '\(after.name)' by \(index.text)", isCompatible: true)
        }
        for index in after.indexes
        where after.declares(index) && !old.values.contains(index.number.rawValue) {
            addIndex(index, to: after)
        }
    }

    mutating func addIndex(_ index: SchemaIndex, to entity: SchemaEntity) {
        add(
            .addIndex, entity.name, nil, "index '\(entity.name)' by \(index.text)",
            isCompatible: true)
    }

    /// An index of changes is the store's: programs that do not know of it go on.
    mutating func compareIndexOfChanges(_ before: SchemaEntity, _ after: SchemaEntity) {
        let (was, isIndexed) = (before.indexesChanges, after.indexesChanges)
        guard was != isIndexed else { return }
        // What a superentity begins or ends is said of it, for all below it.
        if let parent = after.superentity, let (past, present) = pair(parent),
            (past.indexesChanges, present.indexesChanges) == (was, isIndexed)
        {
            return
        }
        add(
            isIndexed ? .addIndex : .dropIndex, after.name, nil,
            isIndexed
                ? "index the changes of '\(after.name)'"
                : "drop the index of the changes of '\(after.name)'", isCompatible: true)
    }

    /// An index of entries is the store's as well.
    mutating func compareIndexesOfEntries() {
        let (before, after) = (old.model.indexesEntries, new.model.indexesEntries)
        for attribution in before.subtracting(after).ordered {
            add(
                .dropIndex, "", nil, "drop the index of entries by \(attribution.noun)",
                isCompatible: true)
        }
        for attribution in after.subtracting(before).ordered {
            add(.addIndex, "", nil, "index entries by \(attribution.noun)", isCompatible: true)
        }
    }
}

extension SchemaDifference {
    /// An entity in both models; nil where one of them does not have it.
    private func pair(
        _ number: EntityNumber
    ) -> (before: SchemaEntity, after: SchemaEntity)? {
        guard let before = old.entity(number), let after = new.entity(number) else { return nil }
        return (before, after)
    }
}

extension SchemaEntity {
    /// Whether the entity itself declares an index, and does not inherit it.
    func declares(_ index: SchemaIndex) -> Bool {
        numbers.indexes.values.contains(index.number.rawValue)
    }
}
