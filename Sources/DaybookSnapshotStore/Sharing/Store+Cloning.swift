package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
internal import Synchronization

// How a file becomes one node's copy of a shared store, and how far it agrees with it.

extension Store {
    /// Makes a file for a node of a shared store, with everything that the shared journal has.
    ///
    /// When it is interrupted, the file has a part, and the next opening goes on.
    ///
    /// - Parameters:
    ///   - link: How to reach the shared journal.
    ///   - path: Where there is no file yet.
    ///   - options: How to open the store; their link is not looked at.
    /// - Returns: The store, open with the link.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists``; with ``StoreError/Code/unreachable`` when nobody is
    ///   reached; with ``StoreError/Code/missing`` when the shared store has no entry yet; as ``pull()``.
    package static func clone(
        from link: SharedLink, into path: String, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        var options = options
        options.link = link
        try makeClone(from: link, at: path, options)
        let store = try open(
            at: path, model: nil, options: options, modelSource: .both)
        switch store.condition {
        case .offline(_, let error): throw StoreError(error)
        case .stopped(let error): throw error
        case .connected, nil:
            if let sharing = store.sharing {
                try store.keepFirstNumbers { count in
                    try sharing.ask { try $0.takeNumbers(count) }
                }
            }
            return store
        }
    }

    /// Makes a file with the first entry of a shared journal, which is brought up when it is opened.
    static func makeClone(
        from link: SharedLink, at path: String, _ options: StoreOptions
    ) throws {
        do {
            let identity = try link.identify()
            let file = FileLink(to: link.place, node: options.makeUUID())
            let journal = try link.connect(file, identity)
            let first = try Entry(try firstEntry(of: journal, link.place))
            guard let version = first.version else {
                throw StoreError.corrupt("The first entry of '\(link.place)' sets no model")
            }
            _ = try make(
                at: path, version: version, options: options, first.header, copying: first,
                as: identity, linkedTo: file)
        } catch let error as SharedJournalError {
            throw StoreError(error)
        }
    }

    /// Makes a file for a node, whose model is the shared store's; the first node sets it.
    ///
    /// - Parameters:
    ///   - link: How to reach the shared journal.
    ///   - path: Where there is no file yet.
    ///   - version: The model of a shared store that has no entry yet.
    ///   - options: How to open the store.
    /// - Throws: As ``clone(from:into:options:)`` and ``begin(_:at:version:options:_:)``. A file that was cloned in part
    ///   stays; another one does not.
    package static func makeCopy(
        of link: SharedLink, at path: String, version: ModelVersion, options: StoreOptions
    ) throws {
        do {
            return try clone(from: link, into: path, options: options).close()
        } catch let error as StoreError where error.code == .missing {
            // Nobody has pushed anything yet.
        }
        do {
            try begin(link, at: path, version: version, options: options)
        } catch let error as StoreError where error.code == .diverged {
            // Another node was quicker.
            try clone(from: link, into: path, options: options).close()
        }
    }

    /// Begins a shared store that has no entries.
    ///
    /// - Parameters:
    ///   - link: How to reach the shared journal.
    ///   - path: Where there is no file yet.
    ///   - version: The model, which its first entry sets.
    ///   - options: How to open the store; their link is not looked at.
    ///   - header: What the first entry says.
    /// - Returns: The digest of the first entry.
    /// - Throws: ``StoreError`` as ``push(to:_:)``, with ``StoreError/Code/diverged`` when another node was quicker.
    ///   The file is taken away then, also when it is not known whether its entry was appended: it has nothing else, and
    ///   who makes the copy again finds out.
    @discardableResult
    package static func begin(
        _ link: SharedLink, at path: String, version: ModelVersion, options: StoreOptions,
        _ header: EntryHeader = EntryHeader(kind: .model)
    ) throws -> Digest {
        let identity: StoreIdentity
        do {
            identity = try link.identify()
            let node = FileLink(to: link.place, node: options.makeUUID())
            let journal = try link.connect(node, identity)
            guard try journal.page(after: .start, bytes: 1).entries.isEmpty else {
                throw StoreError(
                    .diverged,
                    "The shared store at '\(link.place)' has entries already. Clone it, to make a copy."
                )
            }
        } catch let error as SharedJournalError {
            throw StoreError(error)
        }
        var options = options
        options.link = nil
        _ = try make(
            at: path, version: version, options: options, header, copying: nil, as: identity)
        let store = try open(at: path, model: nil, options: options, modelSource: .both)
        do {
            try store.push(to: link)
        } catch {
            store.closeQuietly()
            try remove(at: path)
            throw error
        }
        let digest = try store.headDigest()
        try store.close()
        return digest
    }

    private static func firstEntry(
        of journal: any SharedJournal, _ place: String
    ) throws -> JournalEntry {
        guard let found = try journal.page(after: .start, bytes: 1).entries.first else {
            throw StoreError(
                .missing,
                "The shared store at '\(place)' has no entries yet. Push a store to it first.")
        }
        let entry = JournalEntry(
            sequence: found.sequence, recordedAt: found.recordedAt, previous: .zero,
            payload: found.payload)
        guard found.sequence == SequenceNumber(1), entry.digest == found.digest else {
            throw StoreError.digestMismatch(found.sequence, SequenceNumber(1))
        }
        return entry
    }

    /// Puts this store's journal into a shared one, and links the file to it.
    ///
    /// The shared journal has none of the entries, or the first ones: then the rest is appended. Saves go on
    /// meanwhile; the last entries are appended while nobody saves.
    ///
    /// - Parameters:
    ///   - link: How to reach the shared journal; a store of this identity must be there.
    ///   - progress: Told how many entries of how many are there.
    /// - Throws: ``StoreError`` with ``StoreError/Code/diverged`` when the shared journal has another entry than this
    ///   one, or more; with ``StoreError/Code/unreachable``, ``StoreError/Code/inDoubt`` or
    ///   ``StoreError/Code/unprotected``. What was appended stays, and pushing again
    ///   goes on.
    /// - Complexity: O(*b*), *b* the bytes of the journal.
    package func push(
        to link: SharedLink, _ progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws {
        if let found = try self.link() { throw StoreError.linkedElsewhere(path, found, link.place) }
        let file = FileLink(to: link.place, node: options.makeUUID())
        do {
            let identity = StoreIdentity(uuid: uuid, createdAt: createdAt)
            guard try link.identify() == identity else {
                throw StoreError(
                    .diverged, "The store at '\(link.place)' is another one than '\(path)'.")
            }
            let journal = try link.connect(file, identity)
            var head = try commonHead(with: journal)
            guard try journal.page(after: head, bytes: 1).entries.isEmpty else {
                throw SharedJournalError.diverged(at: head.sequence.next)
            }
            var reserved: UInt64
            repeat {
                head = try append(after: head, to: journal, link, progress)
                reserved = try reserveNumbers(in: journal)
            } while try !setLink(file, at: head, reserved: reserved)
            try keepFirstNumbers { try journal.takeNumbers($0) }
            try exchangeMarks(
                with: MarkServer(all: { try journal.marks($0) }, set: { try journal.set($0) }))
        } catch let error as SharedJournalError {
            throw StoreError(error)
        }
    }

    /// Appends what follows a place, a group at a time.
    private func append(
        after start: SharedHead, to journal: any SharedJournal, _ link: SharedLink,
        _ progress: (_ done: UInt64, _ total: UInt64) -> Void
    ) throws -> SharedHead {
        var (head, group, bytes) = (start, [JournalEntry](), 0)
        let last = try self.head()
        func send() throws {
            guard let end = group.last else { return }
            let shared = SharedGroup(after: head, token: link.makeToken(), group)
            guard try journal.append(shared, within: link.saveTimeout) == .accepted else {
                throw SharedJournalError.diverged(at: head.sequence.next)
            }
            head = SharedHead(end.sequence, end.digest)
            (group, bytes) = ([], 0)
            progress(head.sequence.rawValue, last.rawValue)
        }
        try journalEntries(from: start.sequence.next, through: last) { entry in
            try entry.forEachLargeData { data, _, _ in
                try journal.send(data.attached(to: self))
            }
            let isFull =
                group.count == SharedGroup.entriesMaximum
                || bytes + entry.payload.count > SharedGroup.bytesMaximum
            if isFull { try send() }
            group.append(entry)
            bytes += entry.payload.count
            return .proceed
        }
        try send()
        return head
    }

    /// Has the shared journal give out none of the numbers that this file has given out: since it was made, programs
    /// have gone on taking some from the file.
    ///
    /// - Returns: The first number that this file has not given out.
    private func reserveNumbers(in journal: any SharedJournal) throws -> UInt64 {
        let reserved = try reservedNumbers()
        var end = try journal.takeNumbers(1).upperBound
        while end < reserved {
            end = try journal.takeNumbers(min(reserved - end, Self.numbersAtOnce)).upperBound
        }
        return reserved
    }

    /// How many numbers a shared journal hands out at once at most.
    private static let numbersAtOnce: UInt64 = 1 << 30

    /// Links the file, unless it has an entry that the shared journal does not have yet, or has given out numbers since.
    private func setLink(
        _ link: FileLink, at head: SharedHead, reserved: UInt64
    ) throws -> Bool {
        try writing { [parts] transaction in
            guard try parts.journal.head(in: transaction) == head.sequence,
                try StoreMetadata.reserved(parts.tables.meta, in: transaction) == reserved
            else { return false }
            try StoreMetadata.setLink(link, parts.tables.meta, in: transaction)
            return true
        }
    }

    // MARK: - Comparing

    /// The last entry that the file and the shared journal have in common.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable``, also for a store that is not shared.
    /// - Complexity: O(log *n*) questions to the shared journal.
    package func lastCommonEntry() throws -> SequenceNumber {
        guard let sharing else { throw StoreError.notLinked(path) }
        return try sharing.ask { try commonHead(with: $0).sequence }
    }

    /// The last entry that a shared journal has, too.
    ///
    /// - Complexity: O(log *n*) questions to the journal.
    func commonHead(with journal: any SharedJournal) throws -> SharedHead {
        // All up to `lower` are common; none from `upper` on.
        var (lower, upper) = (SequenceNumber.zero.rawValue, try head().rawValue + 1)
        while upper - lower > 1 {
            let middle = lower + (upper - lower) / 2
            if try isCommon(SequenceNumber(middle), with: journal) {
                lower = middle
            } else {
                upper = middle
            }
        }
        return SharedHead(SequenceNumber(lower), try digest(at: SequenceNumber(lower)))
    }

    private func isCommon(
        _ sequence: SequenceNumber, with journal: any SharedJournal
    ) throws -> Bool {
        let place = SharedHead(sequence, try digest(at: sequence))
        do throws(SharedJournalError) {
            _ = try journal.page(after: place, bytes: 1)
            return true
        } catch {
            guard error.code == .diverged else { throw error }
            return false
        }
    }

    private func digest(at sequence: SequenceNumber) throws -> Digest {
        try reading { try parts.journal.digest(at: sequence, in: $0) }
    }

    /// Takes back all entries after one, as if the store had never gone on. Only for a file whose journal is kept
    /// elsewhere: what is cut off is lost.
    ///
    /// - Parameter last: The entry that becomes the last one.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with ``StoreError/Code/corrupt`` when an entry up
    ///   to that one cannot be trusted. The store is unchanged then.
    /// - Complexity: O(*j* log *n*) page reads and writes, *j* the number of changes in the journal: the tables are
    ///   rebuilt.
    package func cutBack(to last: SequenceNumber) throws {
        try writing { [parts] transaction in
            let head = try parts.journal.head(in: transaction)
            guard last > .zero, last <= head else { throw StoreError.noSuchEntry(last, head: head) }
            guard last < head else { return }
            try parts.journal.cutBack(to: last, in: transaction)
            try parts.rebuildProjection(in: transaction)
            // Servers that were put back may give them out again.
            try StoreMetadata.setSharedNumbers(nil, parts.tables.meta, in: transaction)
            try StoreMetadata.countRewind(parts.tables.meta, in: transaction)
        }
        news.look(at: self)
    }
}

extension SharedJournal {
    /// Appends a group until it is known what became of it, or the time for that is over.
    ///
    /// - Returns: The answer, which is final: ``SharedAnswer/accepted`` or ``SharedAnswer/behind``.
    fileprivate func append(
        _ group: SharedGroup, within limit: Duration
    ) throws(SharedJournalError) -> SharedAnswer {
        let end = ContinuousClock.now + limit
        var doubt: SharedJournalError?
        while true {
            do throws(SharedJournalError) {
                let answer = try append(group)
                guard answer == .turnedAway else { return answer }
                _ = try enter(after: group.head, bytes: 1)
            } catch {
                if error.code == .inDoubt { doubt = error }
                guard doubt != nil || error.code == .unreachable, .now < end else {
                    throw doubt ?? error
                }
            }
        }
    }
}
