package import DaybookJournalLog
internal import DaybookLMDB

/// Where a journal ends, and how often entries were cut off there: with the same number of its last entry it may be
/// another journal.
package struct JournalEnd: Sendable, Hashable {
    /// The last entry.
    package var head: SequenceNumber
    /// How often entries were cut off.
    package let rewinds: UInt64

    /// An end.
    package init(head: SequenceNumber, rewinds: UInt64) {
        self.head = head
        self.rewinds = rewinds
    }

    /// Whether whoever knew the journal up to `known` lacks something: entries have come, or some that were known are
    /// gone.
    package func isNews(after known: JournalEnd) -> Bool {
        rewinds != known.rewinds || head > known.head
    }
}

extension Store {
    /// Where the journal ends now.
    ///
    /// - Complexity: O(1).
    package func end() throws -> JournalEnd {
        try reading { transaction in
            JournalEnd(
                head: try StateFindings.head(of: parts.journal, in: transaction),
                rewinds: try StateFindings.rewinds(parts.tables, in: transaction))
        }
    }
}
