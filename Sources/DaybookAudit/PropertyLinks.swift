internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// Which properties tell the values of which others, in any version of a model.
///
/// | who hides | hides, too |
/// |---|---|
/// | an attribute or a relationship | the attributes derived from it |
/// | a relationship | its inverse: the journal has one side only, under its own name |
/// | a property with another number than before, because its type or its kind changed | the one before |
struct PropertyLinks {
    /// What tells the values of a property.
    private var tellers: [PropertyNumber: Set<PropertyNumber>] = [:]
    /// The properties whose values another took over, by the number of the later one: several where an attribute moved
    /// up from several entities.
    private var predecessors: [PropertyNumber: Set<PropertyNumber>] = [:]

    /// Gathers the links of all versions.
    init(_ history: ModelHistory) {
        for (_, schema) in history.versions {
            for derivation in schema.derivations {
                for source in [derivation.source, derivation.relationship].compactMap(\.self) {
                    tellers[source, default: []].insert(derivation.property)
                }
            }
            for property in schema.entities.flatMap(\.properties) {
                guard let inverse = property.end?.inverse else { continue }
                tellers[property.number, default: []].insert(inverse)
            }
            for slot in schema.version.entities.flatMap(\.slots) {
                if case .converted(let earlier, _) = slot.fill {
                    predecessors[slot.property, default: []].insert(earlier)
                }
            }
            for (later, earlier) in schema.version.origins {
                predecessors[later, default: []].insert(earlier)
            }
        }
        for (later, earlier) in predecessors { tellers[later, default: []].formUnion(earlier) }
    }

    /// Some properties, and all that took over their values.
    func followed(from properties: Set<PropertyNumber>) -> Set<PropertyNumber> {
        // A later property has a greater number.
        predecessors.sorted { $0.key < $1.key }.reduce(into: properties) { found, pair in
            if !found.isDisjoint(with: pair.value) { found.insert(pair.key) }
        }
    }

    /// Some properties, and all that tell their values.
    func spread(from properties: Set<PropertyNumber>) -> Set<PropertyNumber> {
        var found = properties
        var rest = Array(properties)
        while let next = rest.popLast() {
            for teller in tellers[next] ?? [] where found.insert(teller).inserted {
                rest.append(teller)
            }
        }
        return found
    }
}
