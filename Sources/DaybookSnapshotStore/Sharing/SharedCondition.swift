package import DaybookJournalLog

/// How a linked file stands to the journal that it shares with other nodes.
package enum SharedCondition: Sendable {
    /// The last attempt reached it, and the file has everything up to this entry of it, and lacks so many more, as
    /// far as is known.
    case connected(head: SequenceNumber, behind: UInt64)
    /// It could not be reached since this time, in microseconds since 1970. Reading goes on, saving does not.
    case offline(since: Int64, SharedJournalError)
    /// What follows the file's last entry does not fit, or is not the file's own journal. Reading goes on, saving
    /// does not, until a person has seen to it.
    case stopped(StoreError)
}

/// A save of which it is not known whether the shared journal has its entry.
package struct SaveDoubt: Sendable, Hashable {
    /// The number that the entry has if it is there.
    package let sequence: SequenceNumber
    /// Its digest.
    package let digest: Digest
}

/// Lives as long as somebody has a save in doubt, and may make it again.
package final class DoubtWatch: Sendable {}

extension StoreError {
    /// The error of a store whose shared journal has refused.
    package init(_ error: SharedJournalError) {
        let code: Code =
            switch error.code {
            case .unreachable: .unreachable
            case .inDoubt: .inDoubt
            case .diverged: .diverged
            case .quarantined: .quarantined
            case .unprotected: .unprotected
            case .tooLarge: .tooLarge
            case .refused: .permission
            }
        self.init(code, error.message, cause: error)
    }

    static func quarantined(_ misfit: ForeignEntries.Misfit) -> StoreError {
        StoreError(
            .quarantined,
            "Entry \(misfit.entry.sequence) of the shared journal, appended by '\(misfit.entry.login)', does "
                + "not fit, and this node stops before it. Reading goes on; nothing is saved until the owner "
                + "of the servers has cut it off.",
            cause: misfit.cause, details: [misfit.cause.message] + misfit.cause.details)
    }

    static func inDoubt(
        _ sequences: ClosedRange<SequenceNumber>, _ cause: SharedJournalError, _ watch: DoubtWatch
    ) -> StoreError {
        let name =
            sequences.isSingle
            ? "entry \(sequences.lowerBound)"
            : "entries \(sequences.lowerBound) to \(sequences.upperBound)"
        return StoreError(
            .inDoubt,
            "It is not known whether the shared journal has \(name): the connection was lost before the "
                + "answer. The changes are still pending; save again to find out.", cause: cause
        ).watched(by: watch)
    }

    static func notLinked(_ path: String) -> StoreError {
        StoreError(
            .unreachable,
            "'\(path)' is not linked to a shared store. Clone the shared store into a new file, or push "
                + "this one.")
    }

    static func linkedElsewhere(_ path: String, _ link: FileLink, _ wanted: String) -> StoreError {
        StoreError(
            .unreachable,
            "'\(path)' is linked to '\(link.place)', not to '\(wanted)'. Open it with its own link, or "
                + "unlink it first.")
    }

    static func opensWithoutLink() -> StoreError {
        StoreError(
            .unreachable,
            "Nothing was saved: the file is linked to a shared store, and was opened without its link. "
                + "Open it with the link, or unlink it.")
    }

    static func unlinkedMeanwhile() -> StoreError {
        StoreError(
            .unreachable,
            "The file was opened with a link to a shared store, and another program has unlinked it since. "
                + "Nothing was saved or taken in. Close it and open it without the link.")
    }
}

extension SharedJournalError {
    static func diverged(at sequence: SequenceNumber) -> SharedJournalError {
        SharedJournalError(
            .diverged,
            "The file has another entry \(sequence) than the shared journal: it was restored from a copy and "
                + "gone on with, or the servers were. Look at both with 'daybook log', then clone anew, or "
                + "take the file back with 'daybook pull --rewind'.")
    }
}
