internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Lets the next save use the pages that one of many changes has given up.
    ///
    /// LMDB takes a page that a write gave up into use again in the second write after it, so that
    /// the state before the last write stays whole. Two saves in a row that change much would
    /// therefore both make the file longer. One small write between them, after a save that took
    /// far longer, keeps it shorter by what the first has given up.
    func freePages(after changes: [Change]) {
        // Inserts give up next to nothing.
        let count = changes.count { !$0.isInsert }
        guard count >= StoreLayout.changesBeforePagesAreFreed else { return }
        do {
            try writing { [meta = parts.tables.meta] in
                let number = try StoreMetadata.reserved(meta, in: $0)
                try StoreMetadata.setReserved(number, meta, in: $0)
            }
        } catch {
            // The save itself is done. Whatever keeps the store from writing, the next one is told.
            return
        }
    }
}
