/// What to do at a save when the store has moved on since the context read what it changes.
///
/// Attributes with a ``MergeStrategy`` take both changes under every policy. When both sides have
/// set the same value, all policies except ``error`` count that as settled.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// The save fails and names every conflict.
    case error
    /// Property by property the store's value is kept; changes that do not collide are saved.
    case mergeByPropertyStoreTrump
    /// Property by property the context's value is saved; changes of others that do not collide
    /// are kept.
    case mergeByPropertyObjectTrump
    /// The whole object is saved as the context has it, over any changes of others.
    case overwrite
    /// The context's changes of an object in conflict are dropped; the store's are kept.
    case rollback
}
