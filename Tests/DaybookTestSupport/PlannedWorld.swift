package import DaybookObjectModel
internal import Foundation

/// The objects of a store by the identities of a ``PlannedModel``: a dictionary for each, and a list of
/// links.
package struct PlannedWorld: Sendable, Equatable {
    /// An object.
    package struct Object: Sendable, Equatable {
        package let entity: Int
        /// What there is of its attributes.
        package var values: [Int: Value] = [:]
    }

    /// Two objects that a relationship joins, as its main end has it.
    package struct Link: Sendable, Hashable {
        package let relationship: Int
        package let owner: UInt64
        package let other: UInt64
    }

    /// The objects by their numbers.
    package var objects: [UInt64: Object] = [:]
    /// The links, each with its place.
    package var links: [Link: Double] = [:]

    package init() {}

    /// The objects that a relationship leads to from one, in its order if it has one.
    package func others(
        of relationship: Int, from object: UInt64, _ plan: PlannedModel
    ) -> [UInt64] {
        let main = plan.mainEnd(of: relationship)
        let found: [(UInt64, Double)] = links.compactMap { link, place in
            guard link.relationship == main else { return nil }
            if main == relationship { return link.owner == object ? (link.other, place) : nil }
            return link.other == object ? (link.owner, place) : nil
        }
        return found.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    }

    /// Takes an object away, and every link to it.
    package mutating func remove(_ object: UInt64) {
        objects[object] = nil
        links = links.filter { $0.key.owner != object && $0.key.other != object }
    }

    // MARK: - Derived values

    /// Works out all derived values.
    package mutating func derive(by plan: PlannedModel) {
        for (number, object) in objects {
            for id in plan.attributes(of: object.entity) {
                guard let source = plan.attributes[id]?.source else { continue }
                let value = value(of: source, number, object, plan)
                objects[number]?.values[id] = value
            }
        }
    }

    private func value(
        of source: PlannedModel.Source, _ number: UInt64, _ object: Object, _ plan: PlannedModel
    ) -> Value? {
        switch (source, object.values[source.identity]) {
        case (.count(let relationship), _):
            .int(Int64(others(of: relationship, from: number, plan).count))
        case (.lowercase, .string(let text)): .string(text.lowercased())
        case (.uppercase, .string(let text)): .string(text.uppercased())
        default: nil
        }
    }

    // MARK: - Another model

    /// What becomes of the objects when the model changes: of the state that the change finds, or of one
    /// of the past.
    ///
    /// - Parameters:
    ///   - before: The model before.
    ///   - after: The model after.
    ///   - isNow: Whether this is the state that the change finds.
    ///   - rank: The rank of an entity's objects among those without an order.
    /// - Returns: The objects as the model after has them.
    package func mapped(
        from before: PlannedModel, to after: PlannedModel, isNow: Bool,
        rank: (Int) -> UInt32 = { _ in 0 }
    ) -> PlannedWorld {
        var mapped = PlannedWorld()
        for (number, object) in objects where after.entities[object.entity] != nil {
            let had = before.attributes(of: object.entity)
            var values: [Int: Value] = [:]
            for id in after.attributes(of: object.entity) {
                guard let attribute = after.attributes[id] else { continue }
                guard let was = before.attributes[id], had.contains(id) else {
                    values[id] = attribute.defaultValue
                    continue
                }
                var value = object.values[id] ?? .null
                if was.generation != attribute.generation {
                    value = value.planned(as: attribute.type)
                }
                if isNow, value.isNull, !attribute.isOptional { value = attribute.defaultValue }
                values[id] = value
            }
            mapped.objects[number] = Object(
                entity: object.entity, values: values.filter { !$0.value.isNull })
        }
        mapped.links = links.filter { link, _ in
            guard let end = after.relationships[link.relationship],
                let owner = mapped.objects[link.owner], mapped.objects[link.other] != nil
            else { return false }
            // What is brought over in the entry of the change is there from then on.
            let isKept = end.generation == before.relationships[link.relationship]?.generation
            return after.lineage(of: owner.entity).contains(end.owner) && (isNow || isKept)
        }
        for (id, end) in after.relationships where after.mainEnd(of: id) == id {
            guard let was = before.relationships[id], was.generation != end.generation else {
                continue
            }
            mapped.arrange(id, isOrdered: end.isOrdered, rank)
        }
        if isNow { mapped.derive(by: after) }
        return mapped
    }

    /// Gives what must have a value and has none its default.
    package mutating func fill(by plan: PlannedModel) {
        for (number, object) in objects {
            for id in plan.attributes(of: object.entity) where object.values[id] == nil {
                guard let attribute = plan.attributes[id], !attribute.isOptional,
                    !attribute.defaultValue.isNull
                else { continue }
                objects[number]?.values[id] = attribute.defaultValue
            }
        }
    }

    /// Gives the links of a relationship their places anew.
    private mutating func arrange(
        _ relationship: Int, isOrdered: Bool, _ rank: (Int) -> UInt32
    ) {
        let own = links.filter { $0.key.relationship == relationship }
        for (_, list) in Dictionary(grouping: own, by: \.key.owner) {
            let sorted = list.sorted { one, other in
                func key(_ link: (key: Link, value: Double)) -> (Double, UInt32, UInt64) {
                    let entity = objects[link.key.other]?.entity
                    return (link.value, entity.map(rank) ?? 0, link.key.other)
                }
                return key((one.key, one.value)) < key((other.key, other.value))
            }
            for (place, link) in sorted.enumerated() {
                links[link.key] = isOrdered ? Double(place + 1) : 0
            }
        }
    }

    /// Whether everything has a value in the model after that had one before.
    package func loses(from before: PlannedModel, to after: PlannedModel) -> Bool {
        objects.values.contains { object in
            object.values.contains { id, value in
                guard let was = before.attributes[id], let attribute = after.attributes[id],
                    was.generation != attribute.generation
                else { return false }
                return value.planned(as: attribute.type).isNull
            }
        }
    }

    /// Whether a model allows the objects.
    package func isAllowed(by plan: PlannedModel) -> Bool {
        for object in objects.values {
            if plan.entities[object.entity]?.isAbstract == true { return false }
            for id in plan.attributes(of: object.entity) {
                guard let attribute = plan.attributes[id],
                    attribute.allows(object.values[id] ?? .null)
                else { return false }
            }
        }
        for (id, end) in plan.relationships {
            let family = plan.family(of: end.destination)
            let isLost = objects.keys.contains { number in
                let others = others(of: id, from: number, plan)
                return end.maximum > 0 && others.count > end.maximum
                    || others.contains { objects[$0].map { !family.contains($0.entity) } ?? true }
            }
            if isLost { return false }
        }
        for (id, end) in plan.relationships where !end.isToMany {
            let isMain = plan.mainEnd(of: id) == id
            let owners = links.keys.filter { $0.relationship == plan.mainEnd(of: id) }.map {
                isMain ? $0.owner : $0.other
            }
            if Set(owners).count < owners.count { return false }
        }
        return plan.entities.keys.allSatisfy { entity in
            plan.attributes.allSatisfy { id, attribute in
                attribute.owner != entity || !attribute.isUnique
                    || areUnique([id], in: entity, plan)
            }
                && (plan.entities[entity]?.constraints.values.allSatisfy {
                    areUnique($0, in: entity, plan)
                } ?? true)
        }
    }

    private func areUnique(_ attributes: [Int], in entity: Int, _ plan: PlannedModel) -> Bool {
        let family = plan.family(of: entity)
        var seen: Set<[Value]> = []
        for object in objects.values where family.contains(object.entity) {
            let values = attributes.compactMap { object.values[$0] }
            if values.count == attributes.count, !seen.insert(values).inserted { return false }
        }
        return true
    }
}

extension Value {
    /// This value as one of a type of another kind, for those that ``RandomEvolution`` has.
    package func planned(as type: AttributeType) -> Value {
        switch (self, type) {
        case (.int(let number), .string): return .string(String(number))
        case (.int(let number), .double): return .double(Double(number))
        case (.int(let number), .decimal): return .decimal(Decimal(number))
        case (.int(let number), .bool): return [0: .bool(false), 1: .bool(true)][number] ?? .null
        case (.bool(let truth), .int64): return .int(truth ? 1 : 0)
        case (.bool(let truth), .string): return .string(truth ? "true" : "false")
        case (.double(let number), .int64):
            return number.rounded() == number ? .int(Int64(number)) : .null
        case (.string(let text), .int64): return Int64(text).map { .int($0) } ?? .null
        case (.string(let text), .data): return .data(Data(text.utf8))
        case (.data(let data), .string):
            return .string(String(decoding: data, as: UTF8.self))
        case (.uuid(let id), .string): return .string(id.uuidString)
        default: return .null
        }
    }
}
