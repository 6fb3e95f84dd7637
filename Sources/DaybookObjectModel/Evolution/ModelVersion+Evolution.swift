extension NumberedEntity {
    fileprivate func hasSameLayout(as other: NumberedEntity) -> Bool {
        isRemoved == other.isRemoved && name == other.name && properties == other.properties
            && constraints == other.constraints
            && slots.map(\.property) == other.slots.map(\.property)
            && slots.map { $0.removed == nil } == other.slots.map { $0.removed == nil }
            && members.map(\.property) == other.members.map(\.property)
    }
}

extension ModelVersion {
    /// The version that follows this one and has another model.
    ///
    /// - Parameters:
    ///   - model: The new model. Its renaming identifiers give the names that this version has.
    ///   - entry: The number of the entry that will set it.
    ///   - matching: More names, which take precedence over those of the model.
    /// - Returns: The version; this one when nothing differs.
    /// - Throws: ``ModelError`` when the model is not valid, or with everything that cannot be
    ///   inferred.
    package func evolved(
        to model: ManagedObjectModel, in entry: UInt64,
        matching: ModelMatching = ModelMatching()
    ) throws(ModelError) -> ModelVersion {
        try model.validate()
        let matching = matching.expanded(for: model)
        let names = ModelMatching(renamingIdentifiersOf: model).merging(matching)
        let wanted = model.versioned
        if wanted == self.model { return self }
        let idle = idleNames(of: matching, to: wanted)
        guard idle.isEmpty else { throw ModelError(idle) }
        var replaced: Set<PropertyNumber> = []
        while true {
            let builder = VersionBuilder(
                from: self, to: wanted, in: entry, matching: names, replacing: replaced)
            guard builder.problems.isEmpty else { throw ModelError(builder.problems) }
            let more = builder.reshaped
            if more.isEmpty { return builder.version }
            // Numbers decide which end of a relationship is stored, so new ones may make others
            // change.
            replaced.formUnion(more)
        }
    }

    /// The given names that match nothing: a slip there would remove what it should keep.
    private func idleNames(
        of matching: ModelMatching, to model: ManagedObjectModel
    ) -> [String] {
        let (before, after) = (self.model.entitiesByName, model.entitiesByName)
        var problems: [String] = []
        for (new, old) in matching.entities.sorted(by: { $0.key < $1.key }) {
            guard before[old] == nil || after[new] == nil || before[new] != nil else { continue }
            problems.append(
                "'\(old)' cannot be renamed to '\(new)': the store must have an entity '\(old)' and "
                    + "no '\(new)', and the new model a '\(new)'.")
        }
        for (entity, names) in matching.properties.sorted(by: { $0.key < $1.key }) {
            let earlier = before[matching.earlierName(of: entity) ?? entity]
            let was = Set(earlier?.propertyNames ?? [])
            let now = Set(after[entity]?.propertyNames ?? [])
            for (new, old) in names.sorted(by: { $0.key < $1.key })
            where !was.contains(old) || !now.contains(new) || was.contains(new) {
                problems.append(
                    "'\(entity).\(old)' cannot be renamed to '\(new)': the store must have the "
                        + "property '\(old)' and no '\(new)', and the new model a '\(new)'.")
            }
        }
        return problems
    }

    /// The same version as a custom stage sets it.
    ///
    /// - Parameters:
    ///   - name: What the plan calls the stage.
    ///   - entry: The number of the entry that will set it.
    /// - Returns: The version, which has one more stage.
    package func staged(_ name: String, in entry: UInt64) -> ModelVersion {
        var staged = self
        staged.stages.append(CustomStage(entry: entry, name: name))
        return staged
    }

    /// Whether this is the version that the model gets as the first of a store.
    package var isFirst: Bool { self == ModelVersion(firstValid: model) }

    /// The same numbers and layouts for a new store, which begins with them.
    package var restarted: ModelVersion {
        var restarted = self
        restarted.stages = []
        restarted.origins = [:]
        for index in restarted.entities.indices {
            restarted.entities[index].slots = entities[index].slots.map {
                NumberedSlot(
                    property: $0.property, since: Self.firstEntry, removed: $0.removed)
            }
            restarted.entities[index].members = entities[index].members.map {
                NumberedMembers(property: $0.property, since: Self.firstEntry)
            }
        }
        return restarted
    }

    /// Whether rows, entries and identifiers mean the same under both versions to a program of this
    /// one.
    package func hasSameLayout(as other: ModelVersion) -> Bool {
        entities.count == other.entities.count
            && zip(entities, other.entities).allSatisfy { $0.hasSameLayout(as: $1) }
    }

    /// Whether a later version has the same model, under the same numbers: it is this one, or what
    /// was set since has been reverted.
    package func isInForce(under later: ModelVersion) -> Bool {
        guard model == later.model, stages == later.stages else { return false }
        return entities.allSatisfy { entity in
            guard let same = later.entity(entity.number) else { return false }
            return entity.isRemoved
                ? same.isRemoved
                : entity.name == same.name && entity.properties == same.properties
                    && entity.constraints == same.constraints && entity.indexes == same.indexes
        }
    }

    /// The version that follows this one and has the model of an earlier one: what was added since
    /// is removed, and what was removed since is back under its number.
    package func reverted(to earlier: ModelVersion) -> ModelVersion {
        let now = Schema(self)
        let declared = Set(
            earlier.entities.lazy.filter { !$0.isRemoved }.flatMap(\.properties.values))
        var reverted = entities
        for index in reverted.indices {
            let number = reverted[index].number
            let was = earlier.entity(number)
            let isThere = was.map { !$0.isRemoved } ?? false
            reverted[index].isRemoved = !isThere
            reverted[index].name = isThere ? was?.name ?? "" : reverted[index].name
            reverted[index].properties = was?.properties ?? [:]
            reverted[index].constraints = was?.constraints ?? [:]
            reverted[index].indexes = was?.indexes ?? [:]
            let live = Set((was?.slots ?? []).filter { $0.removed == nil }.map(\.property))
            for slot in reverted[index].slots.indices {
                let property = reverted[index].slots[slot].property
                if isThere, live.contains(property) {
                    reverted[index].slots[slot].removed = nil
                } else if reverted[index].slots[slot].removed == nil {
                    var removed = RemovedSlot(now.entity(number)?.property(property))
                    if declared.contains(property) { removed.isIndexed = false }
                    reverted[index].slots[slot].removed = removed
                }
            }
        }
        return ModelVersion(
            earlier.model, reverted, next, stages: earlier.stages, origins: earlier.origins)
    }
}
