internal import DaybookObjectModel

/// What joins several properties: derived attributes, relationships and constraints.
extension RandomEvolution {
    // MARK: - Derived attributes

    /// Adds a derived attribute, or derives one from something else.
    mutating func changeDerived(_ plan: inout PlannedModel, _ taken: Set<String>) {
        let derived = plan.attributes.keys.filter { plan.attributes[$0]?.source != nil }
        if oneIn(2), let id = pick(derived.sorted()), let attribute = plan.attributes[id] {
            let source = pick(sources(of: attribute.type, in: attribute.owner, plan))
            plan.attributes[id]?.source = source
            return
        }
        let type: AttributeType = oneIn(2) ? .string : .int64
        guard let owner = pick(plan.entities.keys.sorted()),
            let source = pick(sources(of: type, in: owner, plan))
        else { return }
        var attribute = PlannedModel.Attribute(
            owner: owner, name: name("d", taken.union(plan.names)), type: type)
        attribute.isIndexed = oneIn(2)
        attribute.source = source
        plan.attributes[identity()] = attribute
    }

    /// What an attribute of an entity can be derived from.
    private func sources(
        of type: AttributeType, in owner: Int, _ plan: PlannedModel
    ) -> [PlannedModel.Source] {
        guard type == .string else {
            return plan.relationships.filter { $0.value.owner == owner && $0.value.isToMany }
                .keys.sorted().map { .count($0) }
        }
        return plan.attributes.filter {
            $0.value.owner == owner && $0.value.type == .string && $0.value.source == nil
        }.keys.sorted().flatMap { [.lowercase($0), .uppercase($0)] }
    }

    // MARK: - Relationships

    mutating func addRelationship(to plan: inout PlannedModel, _ taken: Set<String>) {
        guard let owner = pick(plan.entities.keys.sorted()),
            let destination = pick(plan.entities.keys.sorted())
        else { return }
        let (id, other) = (identity(), identity())
        let isPair = !oneIn(3)
        let isToMany = oneIn(2)
        let isOrdered = isToMany && oneIn(2)
        plan.relationships[id] = PlannedModel.Relationship(
            owner: owner, name: name("r", taken.union(plan.names)), destination: destination,
            inverse: isPair ? other : nil, isToMany: isToMany, isOrdered: isOrdered)
        guard isPair else { return }
        plan.relationships[other] = PlannedModel.Relationship(
            owner: destination, name: name("r", taken.union(plan.names)), destination: owner,
            inverse: id, isToMany: oneIn(2), isOrdered: false)
    }

    mutating func changeRelationship(_ plan: inout PlannedModel, _ taken: Set<String>) {
        guard let id = pick(plan.relationships.keys.sorted()) else { return }
        switch number(0...5) {
        case 0:
            let name = name("r", taken.union(plan.names))
            plan.relationships[id]?.name = name
        case 4:
            if plan.relationships[id]?.isToMany == true {
                plan.relationships[id]?.maximum = number(0...3)
            }
        case 5: changeDestination(of: id, &plan)
        case 1: plan.relationships[id]?.deleteRule = oneIn(2) ? .cascade : .nullify
        case 2: removeRelationship(id, from: &plan)
        default: addRelationship(to: &plan, taken)
        }
    }

    /// Lets a relationship without an inverse lead to the superentity, or to one below.
    private mutating func changeDestination(of id: Int, _ plan: inout PlannedModel) {
        guard let end = plan.relationships[id], end.inverse == nil else { return }
        let below = plan.entities.keys.filter { plan.entities[$0]?.parent == end.destination }
        let above = [plan.entities[end.destination]?.parent].compactMap { $0 }
        if let destination = pick((below + above).sorted()) {
            plan.relationships[id]?.destination = destination
        }
    }

    /// Makes a relationship to-one or to-many, ordered or unordered, or gives it an inverse.
    mutating func changeKind(
        _ plan: inout PlannedModel, _ taken: Set<String>, since before: PlannedModel
    ) {
        let known = plan.relationships.keys.filter { before.relationships[$0] != nil }
        guard let id = pick(known.sorted()), let end = plan.relationships[id],
            end.isLike(before.relationships[id]), plan.dependents(of: id).isEmpty
        else { return }
        if end.inverse == nil, oneIn(2) {
            let other = identity()
            plan.relationships[id]?.inverse = other
            plan.relationships[other] = PlannedModel.Relationship(
                owner: end.destination, name: name("r", taken.union(plan.names)),
                destination: end.owner, inverse: id, isToMany: oneIn(2), isOrdered: false)
            return
        }
        let isMain = plan.mainEnd(of: id) == id
        let isToMany = isMain && end.isToMany && oneIn(2) || !end.isToMany
        let isOrdered = isToMany && isMain && (end.isToMany ? !end.isOrdered : oneIn(2))
        plan.relationships[id]?.isToMany = isToMany
        plan.relationships[id]?.isOrdered = isOrdered
        if !isToMany { plan.relationships[id]?.maximum = 0 }
    }

    func removeRelationship(_ id: Int, from plan: inout PlannedModel) {
        for end in [id, plan.relationships[id]?.inverse ?? id] {
            for dependent in plan.dependents(of: end) { plan.attributes[dependent] = nil }
        }
        if let inverse = plan.relationships[id]?.inverse { plan.relationships[inverse] = nil }
        plan.relationships[id] = nil
    }

    mutating func changeConstraints(
        _ plan: inout PlannedModel, since before: PlannedModel
    ) {
        guard let id = pick(plan.entities.keys.sorted()), let entity = plan.entities[id],
            entity.constraints.keys == before.entities[id]?.constraints.keys ?? [:].keys
        else { return }
        if oneIn(3), let constraint = pick(entity.constraints.keys.sorted()) {
            plan.entities[id]?.constraints[constraint] = nil
            return
        }
        let usable = plan.attributes(of: id).filter {
            guard let attribute = plan.attributes[$0] else { return false }
            return attribute.type != .codable && attribute.merge == nil && attribute.source == nil
        }
        guard let first = pick(usable), let second = pick(usable), first != second else { return }
        let names = [first, second].sorted()
        guard !entity.constraints.values.contains(names) else { return }
        plan.entities[id]?.constraints[identity()] = names
    }
}

extension PlannedModel {
    /// Counts up for relationships whose objects are kept in another way than before.
    mutating func countMoves(since before: PlannedModel) {
        for (id, end) in relationships {
            guard let was = before.relationships[id], mainEnd(of: id) == id else { continue }
            let other = end.inverse.flatMap { relationships[$0] }
            let otherWas = end.inverse.flatMap { before.relationships[$0] }
            // With a new inverse that is to-one, the objects of a to-many relationship are kept there.
            let isMoved =
                was.inverse == nil && other?.isToMany == false && end.isToMany && !end.isOrdered
            let isSame =
                end.hasKind(of: was) && (otherWas == nil || other?.hasKind(of: otherWas) == true)
            guard isMoved || !isSame else { continue }
            relationships[id]?.generation += 1
            if let inverse = end.inverse { relationships[inverse]?.generation += 1 }
        }
    }
}

extension PlannedModel.Relationship {
    fileprivate func hasKind(of other: PlannedModel.Relationship?) -> Bool {
        isToMany == other?.isToMany && isOrdered == other?.isOrdered
    }

    /// Whether neither the kind nor the inverse are others.
    fileprivate func isLike(_ other: PlannedModel.Relationship?) -> Bool {
        hasKind(of: other) && inverse == other?.inverse
    }
}
