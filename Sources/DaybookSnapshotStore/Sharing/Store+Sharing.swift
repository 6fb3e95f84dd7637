internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// What the file says about the shared journal that it is linked to; nil for a store of its own.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``.
    package func link() throws -> FileLink? {
        try reading { try StoreMetadata.link(parts.tables.meta, in: $0) }
    }

    /// How the file stands to the shared journal; nil when it was opened without a link.
    package var condition: SharedCondition? { sharing?.condition }

    /// Brings the file up to the shared journal, and to what is kept beside it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable``, ``StoreError/Code/unprotected``,
    ///   ``StoreError/Code/diverged`` or ``StoreError/Code/quarantined``. What was folded before stays, and
    ///   reading goes on.
    /// - Complexity: O(*k* log *n*) page reads and writes, *k* the number of changes that were missing.
    package func pull() throws {
        guard sharing != nil else { throw StoreError.notLinked(path) }
        try carryOut(SharedPull())
        try exchangeMarks()
    }

    /// Finds out what became of a save that ended with ``StoreError/Code/inDoubt``.
    ///
    /// It is tried again, as it was: afterwards its entry is there, or another one stands in its place.
    ///
    /// - Parameter doubt: What the error says.
    /// - Returns: What the save would have answered; nil when nothing was saved, and nothing of it ever will be.
    /// - Throws: ``StoreError`` with ``StoreError/Code/inDoubt`` or ``StoreError/Code/unreachable`` when it is
    ///   still not known; as ``pull()``.
    package func settle(_ doubt: SaveDoubt) throws -> SaveResult? {
        guard let sharing else { throw StoreError.notLinked(path) }
        try carryOut(SharedPull(settlesDoubt: true))
        return try hasTakenIn(doubt) ? sharing.result(for: doubt.digest) : nil
    }

    /// Whether the file has the entry of a save in doubt.
    ///
    /// - Throws: ``StoreError`` when it cannot be read.
    package func hasTakenIn(_ doubt: SaveDoubt) throws -> Bool {
        try reading { transaction in
            guard try doubt.sequence <= parts.journal.head(in: transaction) else { return false }
            return try parts.journal.digest(at: doubt.sequence, in: transaction) == doubt.digest
        }
    }

    /// Pulls, unless there is no need for it any more when its turn to write has come.
    private func carryOut(
        _ pull: SharedPull, unless isNeedless: @escaping @Sendable () -> Bool = { false }
    ) throws {
        try writing { transaction in
            if !pull.isDone, !isNeedless() { transaction.submit(pull) }
        }
    }

    /// Makes the file a store of its own, which nobody else appends to. Tags and cursors stay. A process that has the file
    /// open with its link can no more save, nor take in what others append, until it opens it anew.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/busy`` while this process has it open with its link; when it
    ///   cannot be written.
    package func unlink() throws {
        guard try sharing == nil && openEnvironment().gate == nil else {
            throw StoreError(.busy, "'\(path)' is open with its link. Close it first.")
        }
        // What is written from now on is nowhere else.
        defer { bringToDiskQuietly() }
        try writing { [parts] transaction in
            let meta = parts.tables.meta
            guard try StoreMetadata.link(meta, in: transaction) != nil else { return }
            try StoreMetadata.setSharedNumbers(nil, meta, in: transaction)
            try StoreMetadata.setKnownMarks([:], meta, in: transaction)
            try StoreMetadata.remove(StoreMetadata.Name.link, meta, in: transaction)
        }
    }

    // MARK: - Numbers

    /// The first object number that no object of this file has, and none will get without a word to the file.
    package func reservedNumbers() throws -> UInt64 {
        try reading { try StoreMetadata.reserved(parts.tables.meta, in: $0) }
    }

    /// Takes numbers from those that the file has kept, or from the shared journal.
    ///
    /// Those that were kept in an earlier run of the system are given out only while no server answers: another machine
    /// may have begun with an image of this one, and then has them, too.
    func takeSharedNumbers(_ sharing: JournalGate, count: UInt64) throws {
        let file = try openEnvironment().fileIdentity
        let (kept, areCertain) = try writing { [meta = parts.tables.meta] transaction in
            let kept = try StoreMetadata.sharedNumbers(meta, in: transaction)
            if kept != nil { try StoreMetadata.setSharedNumbers(nil, meta, in: transaction) }
            return (kept?.blocks(of: file) ?? [], kept?.areCertain == true)
        }
        if kept.isEmpty || !areCertain && sharing.isReached {
            do {
                return try takeNewNumbers(sharing, count, once: !kept.isEmpty)
            } catch {
                guard !kept.isEmpty else { throw error }
            }
        }
        for block in kept { numbers.add(block) }
    }

    private func takeNewNumbers(_ sharing: JournalGate, _ count: UInt64, once: Bool) throws {
        let block = try sharing.takeNumbers(count, once: once)
        try writing { [meta = parts.tables.meta] in
            try ObjectNumbers.cover(block, meta, in: $0)
        }
        numbers.add(block)
    }

    /// Takes more numbers before the last ones are given out, so that objects can be made while no server is reached.
    func takeNumbersAhead() {
        ahead?.run { [weak self] in
            guard let self, let sharing, numbers.isLow else { return }
            do {
                try takeSharedNumbers(sharing, count: numbers.countToTake())
            } catch {
                // The next save asks again, and the object for which there are none says why.
            }
        }
    }

    /// Puts a block of numbers of a shared journal into the file, so that whoever opens it can make objects while no
    /// server is reached. A login that may only read gets none.
    ///
    /// - Parameter take: Takes so many.
    /// - Throws: ``StoreError`` when the file cannot be written.
    func keepFirstNumbers(_ take: (UInt64) throws -> Range<UInt64>) throws {
        let block: Range<UInt64>
        do {
            block = try take(StoreLayout.numberBlockSize)
        } catch {
            // The first object asks again, and says why there are none.
            return
        }
        let file = try openEnvironment().fileIdentity
        try writing { [meta = parts.tables.meta] transaction in
            try ObjectNumbers.cover(block, meta, in: transaction)
            try StoreMetadata.setSharedNumbers(
                KeptNumbers([block], of: file), meta, in: transaction)
        }
    }

    /// Keeps the numbers that were not given out, for the next opening.
    func keepSharedNumbers(_ environment: Environment) throws {
        var blocks: [Range<UInt64>] = []
        while let block = numbers.removeLast() { blocks.append(block) }
        guard !blocks.isEmpty else { return }
        let unused = blocks
        try wrapping {
            try environment.perform(waiting: LockPatience(limit: .zero)) {
                [meta = parts.tables.meta, file = environment.fileIdentity] transaction in
                let kept = try StoreMetadata.sharedNumbers(meta, in: transaction)
                let others = kept?.areCertain == true ? kept?.blocks(of: file) ?? [] : []
                try StoreMetadata.setSharedNumbers(
                    KeptNumbers(others + unused, of: file), meta, in: transaction)
            }
        }
    }

    // MARK: - News

    /// Tells all who listen of entries that were brought in from other nodes.
    func tellOfForeignEntries() {
        guard let last = sharing?.takeNews() else { return }
        feed.publish(last)
        news.tellEverybody()
    }

    /// Brings entries in when there is news of them, until the store is closed. Nothing happens in a store that is
    /// not shared.
    package func followSharedJournal() {
        guard let sharing else { return }
        keep(
            sharing.follow { [weak self] sequence in
                self?.hearOfNewsSoon(of: sequence)
            })
    }

    private func hearOfNewsSoon(of sequence: SequenceNumber) {
        ahead?.run { [weak self] in self?.hearOfNews(of: sequence) }
    }

    /// While a save is in doubt, nothing is brought in that nobody asks for: it might be that very save, which its
    /// context would take for somebody else's.
    private func hearOfNews(of sequence: SequenceNumber) {
        guard let sharing else { return }
        sharing.forgetAbandonedDoubt()
        guard !sharing.isInDoubt else { return }
        do {
            if sharing.mayLack(sequence) {
                try carryOut(SharedPull()) { !sharing.mayLack(sequence) }
            }
            if ahead?.isExchangeDue() == true { try exchangeMarks() }
        } catch {
            // The condition of the store says why, and the next save meets it.
        }
    }
}
