internal import DaybookObjectModel

// Records of large data go to and fro on the thread that saves as well as on the one that writes, and while this node
// has its turn or not. None of these calls is part of a turn.

extension JournalGate: SharedRecords {
    func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey] {
        try tryingBesideTurn { journal throws(SharedJournalError) in try journal.lacking(keys) }
    }

    func keep(_ records: [SharedRecord]) throws(SharedJournalError) {
        try tryingBesideTurn { journal throws(SharedJournalError) in try journal.keep(records) }
    }

    func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        try tryingBesideTurn { journal throws(SharedJournalError) in try journal.records(keys) }
    }

    /// Sends large data.
    ///
    /// - Throws: ``StoreError``; as ``SharedRecords/send(_:)``.
    func send(toShared data: LargeData) throws { try asStoreError { try send(data) } }

    private func tryingBesideTurn<R: Sendable>(
        _ body: (any SharedJournal) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        try trying { () throws(SharedJournalError) in try reaching(endsTurn: false, body) }
    }
}
