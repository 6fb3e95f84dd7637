internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Makes a store of entries that come in order, some of which are missing.
struct StoreRebuilding {
    private let path: String
    private let data: SalvagedData
    private let models: SalvagedModels
    private let marks: SalvagedMarks?
    /// The last entry that the file says it has; nil when that is not known.
    private let said: RecordedHead?
    private let options: StoreOptions
    private var store: Store?
    private var recovery = Recovery()
    /// The last entry that came.
    private var last = SharedHead.start
    /// Whether no entry is missing so far.
    private var isWhole = true
    /// Whether the store was opened with the model in force.
    private var isCurrent = false
    /// Entries that follow each other, and are still to be folded.
    private var page: [SharedEntry] = []
    private var pageBytes = 0
    /// The numbers of the entries that are others in the new store than they were, in order.
    private var numbers: [(there: SequenceNumber, here: SequenceNumber)] = []

    /// Begins a store that has no file yet.
    init(
        at path: String, _ data: SalvagedData, _ models: SalvagedModels, _ marks: SalvagedMarks?,
        endingWith said: RecordedHead?, _ options: StoreOptions
    ) {
        self.path = path
        self.data = data
        self.models = models
        self.marks = marks
        self.said = said
        var options = options
        options.link = nil
        // The file is brought to the disk before it gets its name.
        options.durability = .relaxed
        self.options = options
        recovery.said = said?.sequence
        recovery.hasMarks = marks != nil
        recovery.lostMarks = marks?.lost ?? []
    }

    /// Takes the next entry.
    ///
    /// - Throws: ``StoreError`` when it is not the first one and none came before, or the file cannot be written.
    mutating func take(_ entry: JournalEntry) throws {
        let isNext = entry.sequence == last.sequence.next && entry.previous == last.digest
        // Behind the end that the store had there may be what was taken off it, in pages that are free; or the last
        // entry of a store whose newest state cannot be read, which follows.
        if !isNext, let said = recovery.said, entry.sequence > said { return }
        let gap =
            entry.sequence == last.sequence.next
            ? nil : last.sequence.next...entry.sequence.previous
        if let gap { recovery.missing.append(gap) }
        last = SharedHead(entry.sequence, entry.digest)
        if store == nil {
            guard let gap else { return try begin(with: entry) }
            try begin(before: entry, without: gap)
        }
        guard isWhole, isNext else {
            try foldPage()
            try setModel(of: gap, before: entry)
            isWhole = false
            return try carryOut(entry)
        }
        page.append(
            SharedEntry(
                sequence: entry.sequence, recordedAt: entry.recordedAt, payload: entry.payload,
                digest: entry.digest, token: 0, login: ""))
        pageBytes += entry.payload.count
        if pageBytes >= SharedPage.bytesUsual || page.count >= Self.pageEntries { try foldPage() }
    }

    /// Completes the store and closes it.
    ///
    /// - Returns: What became of the entries.
    /// - Throws: ``StoreError`` when there was no entry, or the file cannot be written.
    mutating func finish() throws -> Recovery {
        try foldPage()
        recovery.last = last.sequence
        if let said = recovery.said, said > last.sequence {
            recovery.missing.append(last.sequence.next...said)
        }
        // What it says of its end, or the last entry, is not what it was.
        if let said, said.sequence == last.sequence, said.digest != last.digest {
            recovery.said = nil
        }
        guard let store else {
            throw StoreError(
                .notAStore, "The file has no entry that could be recovered. Restore a backup.")
        }
        recovery.head = try store.head()
        recovery.digest = try store.headDigest()
        try keepMarks(in: store)
        try store.close()
        self.store = nil
        return recovery
    }

    /// Closes the store, if it was not completed.
    func end() { store?.closeQuietly() }

    private static let pageEntries = 4_096

    // MARK: - Entries as they were

    private mutating func begin(with entry: JournalEntry) throws {
        let first = try Entry(entry)
        guard first.version != nil else {
            throw StoreError.corrupt("Entry 1 sets no model. Restore a backup")
        }
        store = try Store.create(at: path, loading: first, options: options)
        recovery.unchanged = first.sequence
    }

    /// Begins with the model that was in force, which the tables have as well, where entry 1 is lost.
    private mutating func begin(
        before entry: JournalEntry, without lost: ClosedRange<SequenceNumber>
    ) throws {
        guard let model = models.last(in: lost) else {
            throw StoreError.corrupt(
                "Entry 1, which sets the model, is lost, and so is the model in the tables; the first "
                    + "entry that was found is entry \(entry.sequence). Without the model no other entry "
                    + "can be read. Restore a backup"
            )
        }
        var options = options
        // No entry is earlier than the one before it.
        options.clock = { [time = entry.recordedAt] in time }
        store = try Store.create(
            at: path, version: model.version, info: Self.said(ofModelOf: model.sequence),
            options: options)
        recovery.models.append(model.sequence)
        numbers.append((model.sequence, SequenceNumber(1)))
        isWhole = false
    }

    /// Sets the model that a lost entry has set, if the tables still have it: those after it need it.
    private mutating func setModel(
        of lost: ClosedRange<SequenceNumber>?, before entry: JournalEntry
    ) throws {
        guard let lost, let model = models.last(in: lost),
            !recovery.models.contains(model.sequence),
            let store = try reopened()
        else { return }
        do {
            var header = EntryHeader(kind: .model, info: Self.said(ofModelOf: model.sequence))
            header.base = try store.head()
            var request = SaveRequest(header: header, changes: [], recordedAt: entry.recordedAt)
            request.version = model.version
            guard let sequence = try store.commit(request).sequence else { return }
            numbers.append((model.sequence, sequence))
            recovery.models.append(model.sequence)
            isCurrent = false
        } catch let error as StoreError where error.code.isOfContent {
            recovery.lose(model.sequence, error.message)
        }
    }

    private static func said(ofModelOf sequence: SequenceNumber) -> [String: String] {
        ["recovered": "model of entry \(sequence)"]
    }

    private mutating func foldPage() throws {
        let entries = page
        (page, pageBytes) = ([], 0)
        guard !entries.isEmpty, let store else { return }
        do {
            try fold(entries[...], in: store)
        } catch let misfit as ForeignEntries.Misfit {
            // What a program wrote that was not sound, or whoever forged it. Nothing of it was folded.
            try fold(entries[..<misfit.index], in: store)
            recovery.lose(misfit.entry.sequence, "It does not fit: \(misfit.cause.message)")
            isWhole = false
            for entry in entries[(misfit.index + 1)...] {
                try carryOut(
                    JournalEntry(
                        sequence: entry.sequence, recordedAt: entry.recordedAt, previous: .zero,
                        payload: entry.payload, digest: entry.digest))
            }
        }
    }

    private mutating func fold(_ entries: ArraySlice<SharedEntry>, in store: Store) throws {
        var foreign = ForeignEntries(
            store.models, store.parts, try store.chunkTableMade(), options)
        foreign.forgone = Set(recovery.lostData)
        var rest = entries
        while !rest.isEmpty {
            let folded = try store.writing { [foreign, rest] in try foreign.fold(rest, in: $0) }
            recovery.unchanged = folded.head
            rest = rest[folded.end...]
            try bring(folded.lacking, into: store)
            foreign.forgone = Set(recovery.lostData)
        }
    }

    /// Takes over large data, as far as all of them are there.
    private mutating func bring(_ lacking: [LargeData], into store: Store) throws {
        guard !lacking.isEmpty else { return }
        let fetch = DataFetch(from: data, into: try store.chunkTableMade())
        for data in lacking where !recovery.lostData.contains(data.detached) {
            do {
                try fetch.bring(data) { body in try store.writing { try body($0) } }
            } catch is ChunkDamage {
                recovery.lostData.append(data.detached)
            }
        }
    }

    // MARK: - Entries after a gap

    /// Carries an entry out again, on what is there.
    private mutating func carryOut(_ found: JournalEntry) throws {
        guard let store = try reopened() else { return }
        do {
            let entry = try Entry(found)
            try bring(store.lacking(entry.changes), into: store)
            let (changes, losses) = try store.fitting(entry)
            for loss in losses { recovery.lose(entry.sequence, loss) }
            guard !changes.isEmpty || entry.version != nil else { return }
            var request = entry.repeated(changes, as: found.digest, after: try store.head())
            request.forgone = Set(recovery.lostData)
            guard let sequence = try store.commit(request).sequence else { return }
            numbers.append((entry.sequence, sequence))
            recovery.repeated += 1
            isCurrent = entry.version == nil
        } catch let error as StoreError where error.code.isOfContent {
            recovery.lose(found.sequence, error.message)
        }
    }

    /// The store, opened with the model in force.
    private mutating func reopened() throws -> Store? {
        guard !isCurrent, let store else { return store }
        try store.close()
        self.store = nil
        self.store = try Store.open(at: path, options: options)
        isCurrent = true
        return self.store
    }

    // MARK: - Beside the journal

    private mutating func keepMarks(in store: Store) throws {
        if let marks {
            let tags = try marks.tags.compactMap { tag in try kept(tag, in: store) }
            let cursors = try marks.cursors.map { try kept($0, in: store) }
            // What others may have that is not here any more must not be taken for this store's.
            let identity = isWhole && recovery.hasAllEntries ? marks.identity : nil
            try store.writing {
                [meta = store.parts.tables.meta, values = marks.values] transaction in
                if let identity { try StoreMetadata.setIdentity(identity, meta, in: transaction) }
                try StoreMetadata.setTags(tags, meta, in: transaction)
                try StoreMetadata.setCursors(cursors, meta, in: transaction)
                try StoreMetadata.setUserValues(values, meta, in: transaction)
            }
        }
        guard !recovery.isComplete, recovery.unchanged != .zero else { return }
        let taken = Set(try store.tags().map(\.name))
        let name = (1...).lazy.map { $0 == 1 ? "recovered" : "recovered-\($0)" }
            .first { !taken.contains($0) }
        guard let name else { return }
        try store.setTag(
            name, at: recovery.unchanged,
            note: "What comes up to here is as it was in the damaged store.")
        recovery.tag = name
    }

    /// The tag, if its entry is in the new store. One that says that its entry was another one goes on saying so.
    private mutating func kept(_ tag: StoreTag, in store: Store) throws -> StoreTag? {
        guard tag.sequence > recovery.unchanged else { return tag }
        guard let found = lastNumber(upTo: tag.sequence), found.there == tag.sequence else {
            recovery.lose(tag.sequence, "The tag '\(tag.name)' stood here.")
            return nil
        }
        let sequence = found.here
        return StoreTag(
            name: tag.name, sequence: sequence, digest: try digest(at: sequence, in: store),
            author: tag.author, note: tag.note, time: tag.time)
    }

    /// The cursor, at the last entry of the new store that its reader had read.
    private func kept(_ cursor: StoreCursor, in store: Store) throws -> StoreCursor {
        guard cursor.sequence > recovery.unchanged else { return cursor }
        let read = lastNumber(upTo: cursor.sequence)?.here
        let sequence = read ?? max(recovery.unchanged, SequenceNumber(1))
        return StoreCursor(
            name: cursor.name, at: JournalPlace(sequence, try digest(at: sequence, in: store)))
    }

    /// The last of the entries with another number that had one up to this there; nil for none.
    private func lastNumber(
        upTo sequence: SequenceNumber
    ) -> (there: SequenceNumber, here: SequenceNumber)? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle].there <= sequence { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? numbers[low - 1] : nil
    }

    private func digest(at sequence: SequenceNumber, in store: Store) throws -> Digest {
        try store.reading { try store.parts.journal.digest(at: sequence, in: $0) }
    }
}

extension Recovery {
    mutating func lose(_ sequence: SequenceNumber, _ text: String) {
        losses.append(Loss(sequence: sequence, text: text))
    }
}

extension Entry {
    /// The request that carries it out again.
    fileprivate func repeated(
        _ changes: [Change], as digest: Digest, after head: SequenceNumber
    ) -> SaveRequest {
        var header = header
        header.base = head
        // Numbers of other entries mean other ones by now.
        if header.kind == .undo { header.kind = .save }
        header.undoes = nil
        let before = header.info["recovered"].map { ", before that \($0)" } ?? ""
        header.info["recovered"] = "entry \(sequence), digest \(digest.hexadecimal)\(before)"
        var request = SaveRequest(
            header: header, changes: changes, policy: .mergeByPropertyObjectTrump,
            recordedAt: recordedAt)
        // The numbers are those of the damaged store.
        request.returnInserted()
        request.version = version
        return request
    }
}

extension Store {
    fileprivate func lacking(_ changes: [Change]) throws -> [LargeData] {
        guard changes.haveLargeData else { return [] }
        let chunks = try chunkTableMade()
        return try reading { try chunks.lacking(changes, in: $0) }
    }

    /// The changes of an entry, as far as they can be made to what is there, and what cannot.
    fileprivate func fitting(_ entry: Entry) throws -> ([Change], losses: [String]) {
        guard entry.version == nil else { return (entry.changes, []) }
        return try reading { transaction in
            var plan = GraphRepair(parts, .overwrite)
            var losses: [String] = []
            for change in entry.changes.withoutDerived(in: schema) {
                guard let entity = schema.entity(change.object.entity) else {
                    losses.append("The model has no entity for \(schema.name(of: change.object)).")
                    continue
                }
                let state = try plan.state(of: change.object, in: transaction)
                switch change.kind {
                case .insert:
                    plan.want(change.applied(to: nil, of: entity), for: change.object)
                case .update:
                    guard let state else {
                        losses.append(
                            "\(schema.name(of: change.object)) was changed, and is not there: the entry "
                                + "that inserted it is missing.")
                        continue
                    }
                    let moved = change.starting(from: state, of: entity, unmergeable: .kept)
                    plan.want(moved.applied(to: state, of: entity), for: change.object)
                case .delete: plan.want(nil, for: change.object)
                }
            }
            try plan.settle(in: transaction)
            losses += plan.obstacles.map(\.description)
            return (try plan.changes(in: transaction), losses)
        }
    }
}

extension Change {
    /// The state after a change that starts from that state.
    fileprivate func applied(to state: ObjectState?, of entity: SchemaEntity) -> ObjectState? {
        var after = state
        do {
            try apply(to: &after, of: entity)
            return after
        } catch {
            return state
        }
    }
}

extension StoreError.Code {
    /// Whether it is about what was to be saved, and not about the file.
    fileprivate var isOfContent: Bool {
        [
            .conflict, .validation, .duplicate, .law, .attribution, .information, .model,
            .modelMismatch, .modelSuperseded, .noSuchData, .noSuchEntity, .noSuchObject,
            .noSuchEntry, .conditionFailed, .corrupt,
        ].contains(self)
    }
}
