import DaybookSnapshotStore
import Synchronization

/// How commands that write open a store.
enum StoreWriting {
    /// Opens a store for writing. Where its pages have to be checked before the first save, because nobody closed
    /// the file in order, the terminal shows how far that has come.
    static func open(_ path: String, _ console: Console) throws -> Store {
        let progress = Mutex(console.progress("Checking pages, percent", of: 100))
        var options = StoreOptions()
        options.checking = { done, total in
            progress.withLock {
                done == total ? $0.finish() : $0.reach(100 * done / max(1, total))
            }
        }
        options.link = try SharedStores.link(of: path)
        return try Store.open(at: path, options: options)
    }
}
