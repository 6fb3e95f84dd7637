import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore

/// Prints entries as they are saved, by any program.
struct JournalFollower {
    /// The number of entries shown before the first new one, unless the user says otherwise.
    static let tailLength = 10

    private let store: Store
    private let filter: AuditFilter

    init(of store: Store, _ filter: AuditFilter) {
        self.store = store
        self.filter = filter
    }

    /// Refuses a form of output that is complete only at its end, which never comes.
    static func check(_ console: Console) throws {
        guard console.format != .json else {
            throw ToolError.usage("'--follow' cannot print json, which has an end: take jsonl.")
        }
    }

    /// Prints the last entries that pass the filter, and then each new one, until the user ends it
    /// or the reader of the output is gone.
    func follow(from count: Int, _ layout: EntryLayout, _ console: Console) throws {
        var listing = Listing(console)
        let reached = try position(beforeLast: count)
        let head = try store.head()
        // Noted before anything is shown: what is cut off meanwhile is missed then.
        var place = try store.place(after: max(head, reached))
        if head > reached {
            // Those that are there may be far apart; of new ones none may be left out, so all are read.
            try AuditReader(store).recordsLookedUp(
                matching: filter.narrowed(to: reached.next...head)
            ) { record in
                try layout.append(record, to: &listing, console)
                return Interruption.isThere ? .stop : .proceed
            }
            try console.flush()
        }
        try eachBatch(after: &place) { record in
            try layout.append(record, to: &listing, console)
        } end: { _ in
            try console.flush()
        }
    }

    /// Hands every entry after a place that passes the filter to `body`, new ones included.
    ///
    /// - Parameters:
    ///   - place: The last entry that was tested.
    ///   - body: Takes an entry.
    ///   - end: Called when all existing entries have been handed over, with the last one tested,
    ///     even if it did not pass.
    /// - Throws: ``OutputClosed`` when the reader of the output is gone; ``StoreError`` with code `generation` when the
    ///   journal does not have the last entry that was tested any more; errors of the closures.
    func eachBatch(
        after place: inout JournalPlace, _ body: (AuditRecord) throws -> Void,
        end: (SequenceNumber) throws -> Void
    ) throws {
        let saves = try SaveWait(for: store)
        while true {
            try store.checkIsInPlace()
            try store.checkHas(place)
            let head = try store.head()
            if head > place.sequence {
                let newest = try store.place(after: head)
                let reached = try pass(from: place.sequence.next, through: head, body)
                // An interruption ends this.
                if reached == head { place = newest }
                try end(reached)
            }
            if Interruption.isThere { return }
            switch saves.wait() {
            case .saved: continue
            case .interrupted: return
            case .outputClosed: throw OutputClosed()
            }
        }
    }

    /// Hands the entries of a range that pass the filter to `body`.
    ///
    /// - Returns: The last entry of the range, or the last one handed over before an interruption.
    private func pass(
        from first: SequenceNumber, through last: SequenceNumber,
        _ body: (AuditRecord) throws -> Void
    ) throws -> SequenceNumber {
        var reached = last
        try AuditReader(store).records(matching: filter.narrowed(to: first...last)) { record in
            try body(record)
            guard Interruption.isThere else { return .proceed }
            reached = record.sequence
            return .stop
        }
        return reached
    }

    /// The entry before the last `count` entries that pass the filter.
    func position(beforeLast count: Int) throws -> SequenceNumber {
        let head = try store.head()
        guard count > 0 else { return head }
        var first = SequenceNumber.zero
        var found = 0
        try AuditReader(store).recordsLookedUp(matching: filter, .newestFirst) { record in
            found += 1
            guard found == count else { return .proceed }
            first = record.sequence.previous
            return .stop
        }
        return max(
            first, filter.range.lowerBound > .zero ? filter.range.lowerBound.previous : .zero)
    }
}

extension AuditFilter {
    /// The same filter for a range of the journal.
    func narrowed(to range: ClosedRange<SequenceNumber>) -> AuditFilter {
        var filter = self
        filter.range = range
        return filter
    }
}
