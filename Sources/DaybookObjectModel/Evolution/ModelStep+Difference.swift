import Foundation

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
private struct SchemaDifference {
    let old: Schema
    let new: Schema
    private let oldDescriptions: [String: EntityDescription]
    private let newDescriptions: [String: EntityDescription]
    private(set) var steps: [ModelStep] = []

    init(_ old: Schema, _ new: Schema) {
        self.old = old
        self.new = new
        oldDescriptions = old.model.entitiesByName
        newDescriptions = new.model.entitiesByName
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
        compareStages()
    }

    /// What a custom stage has made of objects is for the programs that have it: they alone know which
    /// values it took where.
    private mutating func compareStages() {
        let (before, after) = (old.version.stages, new.version.stages)
        for stage in before where !after.contains(stage) {
            add(.customStage, "", nil, "take back the custom stage '\(stage.name)'")
        }
        for stage in after where !before.contains(stage) {
            add(.customStage, "", nil, "run the custom stage '\(stage.name)'")
        }
    }

    private mutating func add(
        _ kind: ModelStep.Kind, _ entity: String, _ property: String?, _ text: String,
        isCompatible: Bool = false, check: ModelStep.Check? = nil
    ) {
        steps.append(
            ModelStep(kind, entity, property, text, isCompatible: isCompatible, check: check))
    }

    // MARK: - Entities

    private mutating func addEntity(_ entity: SchemaEntity) {
        let parent = entity.superentity.flatMap { new.entity($0) }
        // A program that does not know the entity would meet its objects as those of the superentity.
        let isApart = parent.map { old.entity($0.number) == nil } ?? true
        add(
            .addEntity, entity.name, nil,
            "add entity '\(entity.name)'" + (parent.map { ", a kind of '\($0.name)'" } ?? ""),
            isCompatible: isApart)
        // Its properties are new only to objects that were there before, of entities below it.
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
    }

    private mutating func addConstraint(
        _ names: [String], _ number: UInt32, to entity: SchemaEntity
    ) {
        add(
            .addConstraint, entity.name, nil,
            "make '\(entity.name)' unique by \(names.joined(separator: ", "))",
            check: .unique(entity.number, PropertyNumber(rawValue: number)))
    }

    /// The properties that an entity gets because it comes below one that has been there.
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
        let (was, now) = (oldDescriptions[before.name], newDescriptions[name])
        if was?.versionHashModifier != now?.versionHashModifier || was?.userInfo != now?.userInfo {
            add(.annotate, name, nil, "annotate '\(name)'", isCompatible: true)
        }
    }

    /// The relationship of the earlier version in whose place one has come, if it has.
    private func origin(of number: PropertyNumber) -> SchemaProperty? {
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
            // What took its place says so itself.
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

    /// What has become of a relationship whose objects are kept in another way.
    private mutating func replace(
        _ before: SchemaProperty, _ after: SchemaProperty, _ entity: SchemaEntity
    ) {
        guard let was = before.relationship, let now = after.relationship, let end = after.end
        else {
            return
        }
        let (name, title) = (after.name, "'\(entity.name).\(after.name)'")
        if before.name != name {
            add(
                .renameProperty, entity.name, name,
                "rename '\(entity.name).\(before.name)' to \(title)", isCompatible: true)
        }
        let check = content(of: before, after, end)
        if was.isToMany != now.isToMany || was.isOrdered != now.isOrdered {
            add(
                .changeCardinality, entity.name, name, "make \(title) \(now.kindText)", check: check
            )
        } else if let check {
            add(
                .changeInverse, entity.name, name,
                now.inverseName.map { "make '\($0)' the inverse of \(title)" }
                    ?? "leave \(title) without an inverse", check: check)
        }
        compare(was, now, (before, after), entity)
    }

    /// What has to be brought over from a relationship; nil where its other end tells.
    private func content(
        of before: SchemaProperty, _ after: SchemaProperty, _ end: RelationshipEnd
    ) -> ModelStep.Check? {
        guard let owner = old.declarer(of: before.number) else { return nil }
        let isOtherReplaced = end.inverse.map { origin(of: $0) != nil } ?? false
        guard end.isStored || !isOtherReplaced else { return nil }
        return .content(
            ModelStep.ContentMove(
                entity: owner, origin: before.number,
                target: end.isStored ? after.number : end.inverse ?? after.number,
                isInverted: !end.isStored))
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
        if let slot = property.slot, slot < after.fills.count,
            case .converted(let source, let type) = after.fills[slot]
        {
            let was = old.property(source)?.attribute?.type.rawValue ?? "another type"
            add(
                .convert, after.name, name, "convert \(title) from \(was) to \(type.rawValue)",
                check: check)
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

    private mutating func compare(
        _ before: AttributeDescription, _ after: AttributeDescription, _ property: SchemaProperty,
        _ entity: SchemaEntity
    ) {
        let (name, title) = (property.name, "'\(entity.name).\(property.name)'")
        let check = ModelStep.Check.values(entity.number, property.number)
        if before.type != after.type || before.isSet != after.isSet {
            add(
                .changeType, entity.name, name,
                "change \(title) from \(before.typeText) to \(after.typeText)",
                check: after.type.holdsAll(of: before.type) ? nil : check)
        }
        compareOptional(before.isOptional, after.isOptional, title, entity, name, check)
        if before.defaultValue != after.defaultValue {
            add(
                .changeDefault, entity.name, name,
                after.defaultValue.isNull
                    ? "let \(title) start without a value"
                    : "let \(title) start with \(after.defaultValue)", isCompatible: true)
        }
        if before.rules != after.rules {
            let isWider = after.rules.allow(all: before.rules)
            add(
                .changeRules, entity.name, name,
                "\(isWider ? "widen" : "tighten") the rules of \(title)", isCompatible: isWider,
                check: isWider ? nil : check)
        }
        if before.isUnique != after.isUnique {
            add(
                after.isUnique ? .addUnique : .dropUnique, entity.name, name,
                after.isUnique ? "make \(title) unique" : "let \(title) not be unique",
                isCompatible: !after.isUnique,
                check: after.isUnique ? .unique(entity.number, property.number) : nil)
        }
        let wasIndexed = before.isIndexed || before.isUnique
        if wasIndexed != property.isIndexed, before.isUnique == after.isUnique {
            add(
                property.isIndexed ? .addIndex : .dropIndex, entity.name, name,
                property.isIndexed ? "index \(title)" : "drop the index of \(title)",
                isCompatible: true)
        }
        if before.isConfidential != after.isConfidential {
            add(
                .changeConfidential, entity.name, name,
                after.isConfidential
                    ? "make \(title) confidential" : "let \(title) not be confidential",
                isCompatible: true)
        }
        if before.derivation != after.derivation, let derivation = after.derivation {
            add(
                .changeDerivation, entity.name, name, "derive \(title) from '\(derivation)'",
                isCompatible: true)
        }
        if before.merge != after.merge {
            add(
                .changeMerge, entity.name, name,
                after.merge.map { "merge \(title) by \($0.rawValue)" }
                    ?? "let changes of \(title) collide")
        }
        if before.versionHashModifier != after.versionHashModifier
            || before.userInfo != after.userInfo
        {
            add(.annotate, entity.name, name, "annotate \(title)", isCompatible: true)
        }
    }

    private mutating func compareOptional(
        _ before: Bool, _ after: Bool, _ title: String, _ entity: SchemaEntity, _ name: String,
        _ check: ModelStep.Check
    ) {
        guard before != after else { return }
        add(
            after ? .makeOptional : .makeRequired, entity.name, name,
            "make \(title) \(after ? "optional" : "required")", isCompatible: after,
            check: after ? nil : check)
    }

    private mutating func compare(
        _ before: RelationshipDescription, _ after: RelationshipDescription,
        _ properties: (before: SchemaProperty, after: SchemaProperty), _ entity: SchemaEntity
    ) {
        let property = properties.after
        let (name, title) = (property.name, "'\(entity.name).\(property.name)'")
        let counts = ModelStep.Check.counts(entity.number, property.number)
        let (oldEnd, newEnd) = (properties.before.end, property.end)
        if oldEnd?.destination != newEnd?.destination {
            add(
                .changeDestination, entity.name, name,
                "let \(title) lead to '\(after.destinationName)'", check: counts)
        }
        // What takes the place of another one has been told of.
        let isSame = properties.before.number == property.number
        if isSame,
            oldEnd?.inverse != newEnd?.inverse || oldEnd?.inverseIsToMany != newEnd?.inverseIsToMany
        {
            add(
                .changeInverse, entity.name, name,
                after.inverseName.map { "make '\($0)' the inverse of \(title)" }
                    ?? "leave \(title) without an inverse",
                isCompatible: oldEnd?.inverse == nil && newEnd?.isExclusive == false,
                check: newEnd?.isExclusive == true && oldEnd?.isExclusive != true
                    ? .exclusive(entity.number, property.number) : nil)
        }
        compareOptional(before.isOptional, after.isOptional, title, entity, name, counts)
        if before.deleteRule != after.deleteRule {
            add(
                .changeDeleteRule, entity.name, name,
                "let a delete \(after.deleteRule.rawValue) \(title)")
        }
        if before.minimumCount != after.minimumCount || before.maximumCount != after.maximumCount {
            let isWider =
                after.minimumCount <= before.minimumCount
                && (after.maximumCount == 0
                    || before.maximumCount != 0 && after.maximumCount >= before.maximumCount)
            add(
                .changeCounts, entity.name, name,
                "want \(after.countText) objects in \(title)", isCompatible: isWider,
                check: isWider ? nil : counts)
        }
        if before.versionHashModifier != after.versionHashModifier
            || before.userInfo != after.userInfo
        {
            add(.annotate, entity.name, name, "annotate \(title)", isCompatible: true)
        }
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

extension AttributeDescription {
    fileprivate var typeText: String { isSet ? "a set of type \(type.rawValue)" : type.rawValue }
}

extension AttributeType {
    /// Whether every value of another type of the same kind is one of this.
    fileprivate func holdsAll(of other: AttributeType) -> Bool {
        switch (other, self) {
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double),
            (.url, .string):
            true
        default: self == other
        }
    }
}

extension AttributeRules {
    /// Whether every value that meets other rules meets these.
    func allow(all other: AttributeRules) -> Bool {
        let isLower =
            minimum.isNull
            || !other.minimum.isNull && other.minimum.order(to: minimum) != .orderedAscending
        let isHigher =
            maximum.isNull
            || !other.maximum.isNull && maximum.order(to: other.maximum) != .orderedAscending
        return isLower && isHigher && minimumLength <= other.minimumLength
            && (maximumLength == 0
                || other.maximumLength != 0 && maximumLength >= other.maximumLength)
            && (pattern == nil || pattern == other.pattern)
    }
}

extension RelationshipDescription {
    /// To one or to many, in words.
    fileprivate var kindText: String {
        isToMany ? (isOrdered ? "to-many and ordered" : "to-many") : "to-one"
    }

    fileprivate var countText: String {
        maximumCount == 0
            ? "at least \(minimumCount)" : "\(minimumCount) to \(maximumCount)"
    }
}
