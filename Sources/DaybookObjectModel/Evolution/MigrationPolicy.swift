/// What may happen to a store that is opened with a model other than its own.
///
/// Under every policy, a program with an earlier model of the store keeps using that model, next to
/// programs with the newer one.
public enum MigrationPolicy: String, Sendable, Hashable, CaseIterable {
    /// The store stays as it is: one with another model is refused, with every difference.
    case never
    /// Only steps after which programs with the older model can still read and write: additions
    /// that are optional or have a default, new names, indexes added or dropped, wider rules. Any
    /// other step is refused by name. The default.
    case compatible
    /// Every step that can be inferred, as in Core Data's lightweight migration. That includes
    /// removals, tighter rules and conversions, if the objects in the store allow them.
    case automatic
}
