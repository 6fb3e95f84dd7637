internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

// What others have appended comes into the file, between the transactions of this node's own saves.

extension JournalGate {
    func catchUp(_ write: Write) throws {
        let (pulls, queues, isOvertaken) = state.withLock { state in
            defer { (state.pulls, state.isOvertaken) = ([], false) }
            return (state.pulls, state.hasSaves && state.queueing > 0, state.isOvertaken)
        }
        try asStoreError {
            if pulls.contains(where: \.settlesDoubt) { try settleDoubt() }
            if queues {
                // Who is behind takes in what is missing before others have to wait.
                if isOvertaken { try pull(write) }
                let isFirst = try enter(write)
                // Perhaps nobody else appends any more.
                if isFirst, !isOvertaken { state.withLock { $0.queueing -= 1 } }
            } else {
                try pull(write)
            }
            // Nothing is missing now, whatever was told of entries that have been taken back.
            state.withLock { ($0.stopped, $0.told) = (nil, min($0.told, $0.head.rawValue)) }
        }
        // A server that has been replaced may show no new entry to who has a turn there: what is appended in the turn
        // proves that there is none.
        guard !queues else { return }
        for pull in pulls { pull.finish() }
    }

    func end() {
        let hasTurn = state.withLock { state in
            defer {
                (state.hasTurn, state.hasSaves, state.isOvertaken) = (false, false, false)
                state.rounds = 0
            }
            return state.hasTurn
        }
        if hasTurn { calling.withLock { _ in journal.leave() } }
    }

    typealias Write = (_ body: @escaping WriteBody) throws -> Void

    /// Folds everything that is missing, a page at a time, and reads the next one meanwhile. Nobody is kept from
    /// appending.
    private func pull(_ write: Write) throws {
        leaveTurn()
        var ahead = PageAhead(of: self, after: try head(write))
        while true {
            let page = try ahead.page()
            guard let last = page.entries.last else { return }
            guard !page.isLast else { return try fold(page, write) }
            ahead = PageAhead(of: self, after: SharedHead(last.sequence, last.digest))
            ahead.begin()
            do {
                try fold(page, write)
            } catch {
                ahead.end()
                throw error
            }
        }
    }

    /// Folds everything that is missing, the last of it in turn: nobody else appends until this node has.
    ///
    /// - Returns: Whether nothing was missing.
    private func enter(_ write: Write) throws -> Bool {
        while true {
            let head = try head(write)
            let page = try asking { journal throws(SharedJournalError) in
                try journal.enter(after: head, bytes: SharedPage.bytesUsual)
            }
            state.withLock { $0.hasTurn = true }
            if page.isLast {
                try fold(page, write)
                return page.entries.isEmpty
            }
            // More than a page is not folded while others wait.
            try pull(write)
        }
    }

    private func leaveTurn() {
        let hasTurn = state.withLock { state in
            defer { state.hasTurn = false }
            return state.hasTurn
        }
        if hasTurn { calling.withLock { _ in journal.leave() } }
    }

    private func head(_ write: Write) throws -> SharedHead {
        let found = Found<SharedHead>()
        // What was accepted may be missing, if the file could not be written.
        state.withLock { $0.isHeadKnown = false }
        try write { [foreign] in found.set(try foreign.head(in: $0)) }
        if let head = found.value {
            state.withLock { ($0.head, $0.isHeadKnown) = (head.sequence, true) }
        }
        return found.value ?? .start
    }

    /// Folds a page, or what of it comes before an entry that does not fit.
    private func fold(_ page: SharedPage, _ write: Write) throws {
        do {
            try fold(page.entries[...], write)
        } catch let misfit as ForeignEntries.Misfit {
            try fold(page.entries[..<misfit.index], write)
            let error = StoreError.quarantined(misfit)
            state.withLock { $0.stopped = error }
            throw error
        }
    }

    private func fold(_ entries: ArraySlice<SharedEntry>, _ write: Write) throws {
        var rest = entries
        while !rest.isEmpty {
            let found = Found<ForeignEntries.Folded>()
            try write { [foreign, rest] in found.set(try foreign.fold(rest, in: $0)) }
            guard let folded = found.value else { return }
            state.withLock { state in
                if let range = folded.missing { state.news = range.upperBound }
                // Not the greater one: the file may have been cut back.
                state.head = folded.head
                state.settleDoubt(upTo: folded.head)
            }
            rest = rest[folded.end...]
            if let entry = rest.first {
                try bring(folded.lacking, of: entry, at: folded.end, write)
            }
        }
    }

    /// Brings the large data that an entry refers to.
    private func bring(
        _ lacking: [LargeData], of entry: SharedEntry, at index: Int, _ write: Write
    ) throws {
        do {
            let fetch = DataFetch(from: self, into: foreign.chunks)
            for data in lacking { try fetch.bring(data, write) }
        } catch let damage as ChunkDamage {
            throw ForeignEntries.Misfit(
                index: index, entry: entry,
                cause: StoreError.corrupt(
                    "Of the large data that it refers to, a \(damage.noun) on the servers "
                        + "\(damage.reason)"))
        }
    }
}
