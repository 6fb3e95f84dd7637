extension ModelVersion {
    /// The version of another model that follows this one.
    ///
    /// - Parameters:
    ///   - model: The new model. Its renaming identifiers tell what is here under other names.
    ///   - entry: The number of the entry that will set it.
    ///   - matching: More names, which go before those of the model.
    /// - Returns: The version; this one where nothing differs.
    /// - Throws: ``ModelError`` when the model does not hold together, or with everything that cannot
    ///   be inferred.
    package func evolved(
        to model: ManagedObjectModel, in entry: UInt64,
        matching: ModelMatching = ModelMatching()
    ) throws(ModelError) -> ModelVersion {
        try model.validate()
        let names = ModelMatching(renamingIdentifiersOf: model).merging(matching)
        let wanted = model.versioned
        if wanted == self.model { return self }
        let builder = VersionBuilder(from: self, to: wanted, in: entry, matching: names)
        guard builder.problems.isEmpty else { throw ModelError(builder.problems) }
        return builder.version
    }
}
