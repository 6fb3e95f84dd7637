internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookNewFiles
internal import DaybookObjectModel

extension Store {
    /// Makes a new store of what is left of a damaged one.
    ///
    /// The damaged file is not changed. Its pages are looked through one by one, whatever the trees in it say, so
    /// entries are found that nothing leads to any more. Each has to have the digest that stands beside it or in the next
    /// one. As far as none is missing, entries are taken over unchanged; those after a gap are carried out again, on what
    /// is there, with their authors, notes and times, and say in their information, under `recovered`, which entry they
    /// were. Everything else of a store follows from its entries and is made anew.
    ///
    /// - Parameters:
    ///   - path: The damaged file. No program should be writing to it.
    ///   - newPath: Where there is no file yet.
    ///   - options: How to make the new store.
    /// - Returns: What could be had, and what could not.
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists``; with ``StoreError/Code/missing``,
    ///   ``StoreError/Code/permission``, ``StoreError/Code/busy`` or ``StoreError/Code/inputOutput`` when the file, or a
    ///   part of it, cannot be read; with ``StoreError/Code/notAStore`` when there are no entries in it; with ``StoreError/Code/corrupt`` when the first
    ///   entry is lost, which sets the model, and the tables have no model either. Nothing is left of the new store then.
    /// - Complexity: O(*p* + *c* log *n*) page reads and writes, *p* the pages of the file, *c* the changes of its journal
    ///   and *n* of its objects.
    package static func recover(
        from path: String, into newPath: String, options: StoreOptions = StoreOptions()
    ) throws -> Recovery {
        let draft = try draft(for: newPath)
        defer { draft.discard() }
        let marks = try SalvagedMarks(of: path)
        let recovery = try wrapping(path) {
            try SalvagedFile.reading(path) { file in
                var data = SalvagedData(in: file)
                var models = SalvagedModels(in: file)
                let journal = try JournalSalvage(of: file) { key, place in
                    data.add(key, place)
                    try models.add(key, place)
                }
                var rebuilding = StoreRebuilding(at: draft.path, data, models, marks, options)
                defer { rebuilding.end() }
                try journal.forEachEntry(endingWith: marks?.end) { try rebuilding.take($0) }
                return try rebuilding.finish()
            }
        }
        try place(draft, at: newPath)
        return recovery
    }
}

/// What a store keeps beside its journal. It is only had where the file can be opened; each record proves itself by its
/// digest, and one that is damaged takes none of the others along.
struct SalvagedMarks {
    let identity: StoreIdentity
    /// The last entry that the store says it has; nil when that cannot be read.
    let end: RecordedHead?
    let tags: [StoreTag]
    let cursors: [StoreCursor]
    let values: [String: Value]
    /// Which of them were damaged, and are lost.
    let lost: [String]

    /// Reads them from a file; nil when it is too damaged to be opened.
    ///
    /// - Throws: ``StoreError`` when something else keeps the file from being read: what is there must not be given up
    ///   because another program was in the way, or a call has failed.
    init?(of path: String) throws {
        var options = StoreOptions()
        options.isReadOnly = true
        do {
            let store = try Store.open(at: path, options: options)
            defer { store.closeQuietly() }
            identity = StoreIdentity(uuid: store.uuid, createdAt: store.createdAt)
            let tags = try Self.sound { try store.tags() }
            let cursors = try Self.sound { try store.cursors() }
            let values = try Self.sound { try store.userValues() }
            lost = [
                ("tags", tags == nil), ("cursors", cursors == nil), ("kept values", values == nil),
            ]
            .filter(\.1).map(\.0)
            (self.tags, self.cursors, self.values) = (tags ?? [], cursors ?? [], values ?? [:])
            end = try Self.sound {
                try store.reading { try RecordedHead(recordedIn: store.parts.journal, in: $0) }
            }
            .flatMap(\.self)
        } catch let error as StoreError where error.code.isOfDamage {
            return nil
        }
    }

    /// What is read; nil when it is damaged.
    private static func sound<R>(_ read: () throws -> R) throws -> R? {
        do {
            return try read()
        } catch let error as StoreError where error.code.isOfDamage {
            return nil
        }
    }
}

extension StoreError.Code {
    /// Whether it says that something in the file is not what a store has there.
    fileprivate var isOfDamage: Bool {
        [.corrupt, .notAStore, .truncated, .newerFormat, .model].contains(self)
    }
}
