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
        let opened = try SalvagedMarks(of: path)
        let recovery = try wrapping(newPath, besides: draft) {
            try wrapping(path) {
                try SalvagedFile.reading(path) { file in
                    var data = SalvagedData(in: file)
                    var models = SalvagedModels(in: file)
                    var metadata = SalvagedMetadata(in: file)
                    let journal = try JournalSalvage(of: file) { key, place in
                        data.add(key, place)
                        try models.add(key, place)
                        metadata.add(key, place)
                    }
                    let marks = try opened ?? SalvagedMarks(metadata, endingWith: journal.end)
                    let end = (marks?.end).flatMap { journal.isFollowed($0) ? nil : $0 }
                    var rebuilding = StoreRebuilding(
                        at: draft.path, data, models, marks, endingWith: end, options)
                    defer { rebuilding.end() }
                    try journal.forEachEntry(endingWith: end) { try rebuilding.take($0) }
                    return try rebuilding.finish()
                }
            }
        }
        try place(draft, at: newPath)
        return recovery
    }
}
