/// What opening a store with another model than it has may do to the store.
///
/// Whatever the policy, a program whose model is an earlier one of the store goes on with it, next to
/// programs of the newer one.
public enum MigrationPolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing: a store that has another model is refused, with every difference.
    case never
    /// Steps after which programs with the older model go on reading and writing: what is added is
    /// optional or has a default, names change, indexes come and go, rules are widened. Others are
    /// refused, each by name. The default.
    case compatible
    /// Every step that can be inferred, as Core Data's lightweight migration does: what is removed,
    /// tightened or converted, too, if the objects in the store allow it.
    case automatic
}
