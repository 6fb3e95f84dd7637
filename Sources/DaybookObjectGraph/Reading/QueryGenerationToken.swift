public import DaybookJournalLog
import DaybookSnapshotStore
public import Foundation

/// A state of the stores that a context can be held to, so that it sees nothing that others save
/// until it asks for it.
///
/// A token names an entry of each store's journal. It keeps no lock and no reader open, so a context may
/// stay at it for as long as it likes. Where entries are cut off afterwards, a context is not held to another entry of
/// the same number.
public struct QueryGenerationToken: Sendable, Hashable {
    /// The last entry that is seen.
    struct Entry: Sendable, Hashable {
        let sequence: SequenceNumber
        /// Nil when it could not be read.
        let digest: Digest?

        /// Where the entry is; nil when it is known by its number only.
        var place: JournalPlace? { digest.map { JournalPlace(sequence, $0) } }
    }

    /// The last entry that is seen, by the identifier of the store; nil in ``current``.
    let entries: [UUID: Entry]?

    /// The state at the time of the first read after it was set.
    public static let current = QueryGenerationToken(entries: nil)

    /// The last entry that a context at this token sees of a store; nil when the token does not say.
    public func sequence(inStore identifier: UUID) -> SequenceNumber? {
        entries?[identifier]?.sequence
    }
}
