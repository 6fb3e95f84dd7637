/// When an index that a new model adds is built over the existing objects.
public enum IndexBuilding: String, Sendable, Hashable, CaseIterable {
    /// When the store is opened with the model, before anything else is saved. The default. Opening
    /// finishes what another program has put off.
    case immediate
    /// Later, by `PersistentStore.buildIndexes(progress:)`. Until then queries read all objects.
    /// Indexes of unique values are still built at once, because saves need them.
    case deferred
}
