package import DaybookObjectModel

/// Sizes that a test says, for plans without a store.
package struct FixedEstimates: PlanEstimates {
    package let schema: Schema
    /// The objects of each entity.
    private let total: Int
    /// The records of an index, by the name of the attribute; those of the others are a hundredth of all.
    private let records: [String: Int]
    /// The indexes that do not serve.
    private let missing: Set<String>

    package init(
        _ schema: Schema, total: Int, records: [String: Int] = [:], missing: Set<String> = []
    ) {
        self.schema = schema
        self.total = total
        self.records = records
        self.missing = missing
    }

    package func estimatedCount(of entities: [EntityNumber]) -> Int { total }

    package func estimatedVersionCount(of entities: [EntityNumber]) -> Int { total }

    package func estimatedCount(of index: SchemaProperty, in ranges: [IndexRange]) -> Int? {
        guard !missing.contains(index.name) else { return nil }
        return index.isUnique ? ranges.count : records[index.name] ?? total / 100
    }

    package func estimatedCount(ofEver index: SchemaProperty, in ranges: [IndexRange]) -> Int? {
        guard !missing.contains(index.name) else { return nil }
        return records[index.name] ?? total / 100
    }

    /// By the names of its properties, joined by a comma.
    package func estimatedCount(of index: SchemaIndex, in ranges: [CompoundRange]) -> Int? {
        let name = index.elements.map(\.property.name).joined(separator: ",")
        guard !missing.contains(name) else { return nil }
        return records[name] ?? total / 1_000
    }

    package func estimatedCount(
        ofReferrersTo object: ObjectID, through property: SchemaProperty
    ) -> Int {
        records[property.name] ?? total / 100
    }

    package func estimatedCount(of change: FilterChange) -> Int { total / 100 }

    package func estimate(ofIndexed change: FilterChange) -> IndexedChangesEstimate? {
        guard !missing.contains(change.property.name) else { return nil }
        return IndexedChangesEstimate(records[change.property.name] ?? total / 100)
    }
}
