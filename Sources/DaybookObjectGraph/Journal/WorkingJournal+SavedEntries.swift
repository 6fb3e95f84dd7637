import DaybookJournalLog

extension WorkingJournal {
    /// What has been taken back in a store since the base; nil when something was changed besides.
    func origins(inStore store: UInt32) -> [UndoneEntries]? {
        list.origins(inStore: store).map { $0 + unlistedOrigins(inStore: store) }
    }

    /// The saved entries of a store over which the cursor has moved since the base, one way or the
    /// other.
    func entriesMovedOver(inStore store: UInt32) -> [ClosedRange<SequenceNumber>] {
        list.entriesMovedOver(inStore: store) + unlistedOrigins(inStore: store).map(\.entries)
    }

    /// The saved entries of a store that steps stand for or that have been taken back.
    func entriesKnown(inStore store: UInt32) -> [ClosedRange<SequenceNumber>] {
        list.entriesKnown(inStore: store) + unlistedOrigins(inStore: store).map(\.entries)
    }
}
