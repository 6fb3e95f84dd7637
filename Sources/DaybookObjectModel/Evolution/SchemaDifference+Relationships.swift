extension SchemaDifference {
    /// Adds the steps for a relationship whose objects are stored in another way.
    mutating func replace(
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

    /// What must be moved from a relationship; nil where the step of its other end says so.
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

    mutating func compare(
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
        // A relationship that replaces another one has had this step.
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
