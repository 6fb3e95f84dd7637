/// Values of the first properties of an index over several, and a range of the next one.
package struct CompoundRange: Sendable, Hashable {
    /// The values of the first properties.
    package var equals: [Value]
    /// The range of the property after them; nil for all of its values.
    package var next: IndexRange?

    /// A range of the records of an index.
    package init(equals: [Value], next: IndexRange? = nil) {
        self.equals = equals
        self.next = next
    }
}

/// Ranges of an index over several properties, in which all objects are that meet some conditions.
package struct CompoundAccess: Sendable {
    /// The index.
    package let index: SchemaIndex
    /// The ranges, in the order of the conditions' values.
    package let ranges: [CompoundRange]
    /// The conditions that led to them.
    let conditions: [KeyCondition]

    /// How many ranges are taken at most.
    private static let rangesMaximum = 256

    /// How conditions that all must hold find objects by an index; nil where none is on its first property.
    init?(_ index: SchemaIndex, _ conditions: [KeyCondition]) {
        var used: [KeyCondition] = []
        var found = [CompoundRange(equals: [])]
        for element in index.elements {
            guard let condition = conditions.onProperty(element.property),
                condition.ranges.count * found.count <= Self.rangesMaximum
            else { break }
            used.append(condition)
            let values = condition.ranges.compactMap(\.value)
            guard values.count == condition.ranges.count else {
                found = found.flatMap { range in
                    condition.ranges.map { CompoundRange(equals: range.equals, next: $0) }
                }
                break
            }
            found = found.flatMap { range in
                values.map { CompoundRange(equals: range.equals + [$0]) }
            }
        }
        guard !used.isEmpty else { return nil }
        self.index = index
        ranges = found
        self.conditions = used
    }

    /// Whether exactly the objects within the ranges meet the conditions.
    package var isExact: Bool { conditions.allSatisfy(\.isExact) }
}

extension IndexRange {
    /// The value, if it is one.
    fileprivate var value: Value? {
        if case .exactly(let value) = self { value } else { nil }
    }
}

extension [KeyCondition] {
    /// The condition on a property that says most: an equality before a range.
    func onProperty(_ property: SchemaProperty) -> KeyCondition? {
        let own = filter { $0.property.number == property.number }
        return own.first { $0.ranges.allSatisfy { $0.value != nil } } ?? own.first
    }
}

extension [Filter] {
    /// What the conditions say of single properties. Two ranges of one property that close each other's open end
    /// are one.
    var keyConditions: [KeyCondition] {
        var found: [KeyCondition] = []
        for condition in self.compactMap(KeyCondition.init) {
            var isClosing = false
            for index in found.indices where !isClosing {
                guard let closed = found[index].narrowed(by: condition) else { continue }
                found[index] = closed
                isClosing = true
            }
            if !isClosing { found.append(condition) }
        }
        return found
    }
}

extension Query {
    /// The indexes over several properties that have all objects of the query's entities.
    func compoundIndexes(in schema: Schema) -> [SchemaIndex] {
        schema.compoundIndexes(of: entities)
    }
}

extension Schema {
    /// The indexes over several properties that have all objects of some entities.
    func compoundIndexes(of entities: [EntityNumber]) -> [SchemaIndex] {
        if entities.count == 1 { return entity(entities[0])?.indexes ?? [] }
        let all = entities.compactMap { entity($0) }
        guard all.count == entities.count, let first = all.first else { return [] }
        return first.indexes.filter { index in
            all.allSatisfy { $0.indexes.contains { $0.number == index.number } }
        }
    }
}
