public import DaybookJournalLog
public import Foundation

/// A state of the stores that a context can be held to, so that it sees nothing that others save
/// until it asks for it.
///
/// A token names an entry of each store's journal. It keeps no lock and no reader open, so a context may
/// stay at it for as long as it likes.
public struct QueryGenerationToken: Sendable, Hashable {
    /// The last entry that is seen, by the identifier of the store; nil in ``current``.
    let sequences: [UUID: SequenceNumber]?

    /// The state at the time of the first read after it was set.
    public static let current = QueryGenerationToken(sequences: nil)

    /// The last entry that a context at this token sees of a store; nil when the token does not say.
    public func sequence(inStore identifier: UUID) -> SequenceNumber? {
        sequences?[identifier]
    }
}
