internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Lets the next save use the pages that a save of many changes has freed.
    ///
    /// LMDB reuses a page that a write freed only in the second write after it, so that the state
    /// before the last write stays whole. Two large saves in a row would therefore both make the
    /// file longer. One small write between them, which costs little after a large save, lets the
    /// second reuse what the first has freed.
    func freePages(after changes: [Change]) {
        // Inserts free next to nothing.
        let count = changes.count { !$0.isInsert }
        guard count >= StoreLayout.changesBeforePagesAreFreed else { return }
        do {
            try writing { [meta = parts.tables.meta] in
                let number = try StoreMetadata.reserved(meta, in: $0)
                try StoreMetadata.setReserved(number, meta, in: $0)
            }
        } catch {
            // The save itself is done. If the store cannot be written, the next save reports it.
            return
        }
    }
}
