/// When an index that a new model wants is built over the objects that are there.
public enum IndexBuilding: String, Sendable, Hashable, CaseIterable {
    /// When the store is opened with the model, before anything else is saved. The default. Opening
    /// finishes what another program has put off.
    case immediate
    /// Later, by `PersistentStore.buildIndexes(progress:)`. Until then queries read all objects.
    /// Indexes of unique values are built at once all the same, because saves need them.
    case deferred
}
