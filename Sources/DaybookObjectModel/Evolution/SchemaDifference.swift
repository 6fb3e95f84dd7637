extension Schema {
    /// The steps that lead from an earlier version of the same store to this one, in the order of
    /// entities and properties.
    package func steps(from old: Schema) -> [ModelStep] {
        var difference = SchemaDifference(old, self)
        difference.compare()
        return difference.steps
    }
}

/// Compares two versions, number by number.
struct SchemaDifference {
    let old: Schema
    let new: Schema
    let oldDescriptions: [String: EntityDescription]
    let newDescriptions: [String: EntityDescription]
    let laws: LawDifference
    private(set) var steps: [ModelStep] = []

    init(_ old: Schema, _ new: Schema) {
        self.old = old
        self.new = new
        oldDescriptions = old.model.entitiesByName
        newDescriptions = new.model.entitiesByName
        laws = LawDifference(old, new)
    }

    mutating func compare() {
        for entity in old.entities where new.entity(entity.number) == nil {
            // Relationships to the superentity may lead to its objects.
            let isBelow = entity.superentity.map { new.entity($0) != nil } ?? false
            add(
                .removeEntity, entity.name, nil, "remove entity '\(entity.name)'",
                check: isBelow ? .noReferences(entity.number) : nil)
        }
        for entity in new.entities {
            guard let before = old.entity(entity.number) else {
                addEntity(entity)
                continue
            }
            compare(before, entity)
        }
        if old.model.configurations != new.model.configurations {
            add(.annotate, "", nil, "assign entities to other configurations", isCompatible: true)
        }
        compareRequirements()
        compareIndexesOfEntries()
        compareStages()
    }

    /// Programs with an older model go on writing where the newer one requires more: their saves are
    /// judged by it. To require less must be asked for, so that a program that does not know of a
    /// requirement does not end it.
    private mutating func compareRequirements() {
        let (before, after) = (old.model.requires, new.model.requires)
        for requirement in before.subtracting(after).ordered {
            add(
                .changeRequirements, "", nil,
                "no longer require \(requirement.noun) of every entry")
        }
        for requirement in after.subtracting(before).ordered {
            add(
                .changeRequirements, "", nil, "require \(requirement.noun) of every entry",
                isCompatible: true)
        }
    }

    /// A custom stage is not compatible: only programs that have it know which values it took
    /// where.
    private mutating func compareStages() {
        let (before, after) = (old.version.stages, new.version.stages)
        for stage in before where !after.contains(stage) {
            add(.customStage, "", nil, "take back the custom stage '\(stage.name)'")
        }
        for stage in after where !before.contains(stage) {
            add(.customStage, "", nil, "run the custom stage '\(stage.name)'")
        }
    }

    mutating func add(
        _ kind: ModelStep.Kind, _ entity: String, _ property: String?, _ text: String,
        isCompatible: Bool = false, check: ModelStep.Check? = nil
    ) {
        steps.append(
            ModelStep(kind, entity, property, text, isCompatible: isCompatible, check: check))
    }

    // MARK: - Entities

    private mutating func addEntity(_ entity: SchemaEntity) {
        let parent = entity.superentity.flatMap { new.entity($0) }
        // A program that does not know the entity would see its objects as those of the
        // superentity.
        let isApart = parent.map { old.entity($0.number) == nil } ?? true
        add(
            .addEntity, entity.name, nil,
            "add entity '\(entity.name)'" + (parent.map { ", a kind of '\($0.name)'" } ?? ""),
            isCompatible: isApart)
        // Its properties are new only to existing objects, of entities below it.
        guard entity.family.contains(where: { old.entity($0) != nil }) else { return }
        for (name, number) in entity.numbers.properties.sorted(by: { $0.key < $1.key }) {
            guard let property = entity.property(number) else { continue }
            if let was = old.property(number) {
                compare(was, property, entity)
            } else {
                addProperty(property, name, entity, takesOver: true)
            }
        }
        for (names, number) in entity.numbers.constraints.sorted(by: { $0.value < $1.value }) {
            addConstraint(names, number, to: entity)
        }
        for index in entity.indexes where entity.declares(index) { addIndex(index, to: entity) }
    }

    private mutating func addConstraint(
        _ names: [String], _ number: UInt32, to entity: SchemaEntity
    ) {
        add(
            .addConstraint, entity.name, nil,
            "make '\(entity.name)' unique by \(names.joined(separator: ", "))",
            check: .unique(entity.number, PropertyNumber(rawValue: number)))
    }

    /// The properties that an entity gets because it moves below one that existed before.
    private mutating func addInherited(_ before: SchemaEntity, _ after: SchemaEntity) {
        for property in after.properties
        where property.isPersistent && before.property(property.number) == nil {
            guard let declarer = new.declarer(of: property.number), declarer != after.number,
                old.entity(declarer) != nil, old.property(property.number) != nil
            else { continue }
            addProperty(property, property.name, after, takesOver: true)
        }
        let had = Set(before.constraints.map(\.number))
        for constraint in after.constraints where constraint.isCompound {
            guard !had.contains(constraint.number),
                after.numbers.constraints.values.contains(constraint.number.rawValue) == false
            else { continue }
            addConstraint(constraint.properties.map(\.name), constraint.number.rawValue, to: after)
        }
        let indexed = Set(before.indexes.map(\.number))
        for index in after.indexes
        where !indexed.contains(index.number) && !after.declares(index) {
            addIndex(index, to: after)
        }
    }

    private mutating func compare(_ before: SchemaEntity, _ after: SchemaEntity) {
        let name = after.name
        if before.name != name {
            add(
                .renameEntity, name, nil, "rename entity '\(before.name)' to '\(name)'",
                isCompatible: true)
        }
        if before.superentity != after.superentity {
            let parent = after.superentity.flatMap { new.entity($0)?.name }
            add(
                .changeSuperentity, name, nil,
                parent.map { "make '\(name)' a kind of '\($0)'" }
                    ?? "take '\(name)' from under its superentity",
                check: .noReferences(after.number))
            addInherited(before, after)
        }
        if before.isAbstract != after.isAbstract {
            add(
                .changeAbstract, name, nil,
                "make '\(name)' \(after.isAbstract ? "abstract" : "concrete")",
                check: after.isAbstract ? .noObjects(after.number) : nil)
        }
        compareDeclared(before, after)
        compareConstraints(before, after)
        compareLaws(before, after)
        compareIndexes(before, after)
        compareIndexOfChanges(before, after)
        let (was, now) = (oldDescriptions[before.name], newDescriptions[name])
        // An index of changes that is also inherited says nothing more.
        let isSaidElsewhere =
            before.indexesChanges == after.indexesChanges
            && was?.indexesChanges != now?.indexesChanges
        if was?.versionHashModifier != now?.versionHashModifier || was?.userInfo != now?.userInfo
            || isSaidElsewhere
        {
            add(.annotate, name, nil, "annotate '\(name)'", isCompatible: true)
        }
    }

    /// The relationship of the earlier version that this one replaces; nil when it replaces none.
    func origin(of number: PropertyNumber) -> SchemaProperty? {
        var number = number
        while let earlier = new.version.origins[number] {
            number = earlier
            if let property = old.property(number), new.property(number) == nil { return property }
        }
        return nil
    }

    private mutating func compareDeclared(_ before: SchemaEntity, _ after: SchemaEntity) {
        let replaced = Set(
            after.numbers.properties.values.compactMap { origin(of: $0)?.number })
        for (name, number) in before.numbers.properties.sorted(by: { $0.key < $1.key })
        where new.property(number) == nil && !replaced.contains(number) {
            // The step of its replacement says so.
            let isConverted = after.slots.contains { property in
                guard let slot = property.slot, slot < after.fills.count, !property.isRemoved,
                    case .converted(let source, _) = after.fills[slot]
                else { return false }
                return source == number && before.slot(of: property.number) == nil
            }
            if isConverted { continue }
            add(
                .removeProperty, after.name, name,
                "remove \(Self.noun(before.property(number))) '\(after.name).\(name)'")
        }
        for (name, number) in after.numbers.properties.sorted(by: { $0.key < $1.key }) {
            guard let property = after.property(number) else { continue }
            if let was = old.property(number) {
                compare(was, property, after)
            } else if let origin = origin(of: number) {
                replace(origin, property, after)
            } else {
                addProperty(property, name, after)
            }
        }
    }

    private static func noun(_ property: SchemaProperty?) -> String {
        property?.isAttribute == false ? "relationship" : "attribute"
    }

    // MARK: - Properties

    private mutating func addProperty(
        _ property: SchemaProperty, _ name: String, _ after: SchemaEntity, takesOver: Bool = false
    ) {
        let title = "'\(after.name).\(name)'"
        let check = ModelStep.Check.values(after.number, property.number)
        let moved = attributesBelow(replacedBy: property, in: after)
        if let slot = property.slot, slot < after.fills.count,
            case .converted(let source, let type) = after.fills[slot]
        {
            let was = old.property(source)?.attribute?.type.rawValue ?? "another type"
            add(
                .convert, after.name, name, "convert \(title) from \(was) to \(type.rawValue)",
                check: check)
        } else if !moved.isEmpty {
            add(
                .moveProperty, after.name, name,
                "move \(moved.joined(separator: " and ")) to \(title)", check: check)
        } else if let attribute = property.attribute, let derivation = attribute.derivation {
            add(
                .addProperty, after.name, name,
                "add attribute \(title) of type \(attribute.type.rawValue), derived from "
                    + "'\(derivation)'",
                isCompatible: !takesOver)
        } else if let attribute = property.attribute {
            let isFilled = attribute.isOptional || !attribute.defaultValue.isNull
            add(
                .addProperty, after.name, name,
                "add \(attribute.isOptional ? "optional" : "required") attribute \(title) of type "
                    + attribute.type.rawValue
                    + (attribute.defaultValue.isNull
                        ? "" : " with default \(attribute.defaultValue)"),
                isCompatible: isFilled && !property.isUnique && !takesOver,
                check: isFilled && !takesOver ? nil : check)
        } else if let relationship = property.relationship {
            let counts = relationship.isOptional && relationship.minimumCount == 0
            add(
                .addProperty, after.name, name,
                "add \(relationship.isToMany ? "to-many" : "to-one") relationship \(title) to "
                    + "'\(relationship.destinationName)'",
                isCompatible: counts && !takesOver,
                check: counts ? nil : .counts(after.number, property.number))
        }
        if property.isUnique {
            add(
                .addUnique, after.name, name, "make \(title) unique",
                check: .unique(after.number, property.number))
        } else if property.isIndexed {
            add(.addIndex, after.name, name, "index \(title)", isCompatible: true)
        }
    }

    /// The attributes of entities below one whose values an attribute there takes over, by name and with their type
    /// where it is another.
    private func attributesBelow(
        replacedBy property: SchemaProperty, in entity: SchemaEntity
    ) -> [String] {
        var found: Set<String> = []
        for member in entity.family.compactMap({ new.entity($0) })
        where member.number != entity.number {
            guard let slot = member.slot(of: property.number), slot < member.fills.count,
                case .converted(let source, let type) = member.fills[slot],
                let was = old.property(source), let attribute = was.attribute
            else { continue }
            let declarer = old.declarer(of: source).flatMap { old.entity($0)?.name } ?? member.name
            let ofType = attribute.type == type ? "" : " of type \(attribute.type.rawValue)"
            found.insert("'\(declarer).\(was.name)'\(ofType)")
        }
        return found.sorted()
    }

    private mutating func compare(
        _ before: SchemaProperty, _ after: SchemaProperty, _ entity: SchemaEntity
    ) {
        let (name, title) = (after.name, "'\(entity.name).\(after.name)'")
        let declarer = old.declarer(of: after.number)
        if declarer != entity.number {
            let was = declarer.flatMap { old.entity($0)?.name } ?? "?"
            add(
                .moveProperty, entity.name, name, "move '\(was).\(before.name)' to \(title)",
                check: .values(entity.number, after.number))
            if after.isUnique {
                add(
                    .addUnique, entity.name, name, "make \(title) unique",
                    check: .unique(entity.number, after.number))
            }
        }
        if before.name != name {
            add(
                .renameProperty, entity.name, name,
                "rename '\(entity.name).\(before.name)' to \(title)", isCompatible: true)
        }
        if let old = before.attribute, let new = after.attribute {
            compare(old, new, after, entity)
        } else if let old = before.relationship, let new = after.relationship {
            compare(old, new, (before, after), entity)
        }
    }

    mutating func compareOptional(
        _ before: Bool, _ after: Bool, _ title: String, _ entity: SchemaEntity, _ name: String,
        _ check: ModelStep.Check
    ) {
        guard before != after else { return }
        add(
            after ? .makeOptional : .makeRequired, entity.name, name,
            "make \(title) \(after ? "optional" : "required")", isCompatible: after,
            check: after ? nil : check)
    }

    // MARK: - Constraints

    private mutating func compareConstraints(_ before: SchemaEntity, _ after: SchemaEntity) {
        let old = before.numbers.constraints
        let new = after.numbers.constraints
        for (names, number) in old.sorted(by: { $0.value < $1.value })
        where !new.values.contains(number) {
            add(
                .dropConstraint, after.name, nil,
                "let '\(after.name)' not be unique by \(names.joined(separator: ", "))",
                isCompatible: true)
        }
        for (names, number) in new.sorted(by: { $0.value < $1.value })
        where !old.values.contains(number) {
            addConstraint(names, number, to: after)
        }
    }
}
