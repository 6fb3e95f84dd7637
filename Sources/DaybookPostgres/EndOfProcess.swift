internal import DaybookJournalLog
internal import DaybookPQ
import DaybookSnapshotStore
internal import Foundation
internal import Synchronization

/// Ends the threads of all listeners before the process ends, and waits for every other thread that uses libpq.
///
/// OpenSSL takes its state down when a process ends, also under a thread that is about to use it.
enum EndOfProcess {
    private struct Entry {
        weak var listener: PostgresListener?
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// What is to be done at the end is done in the reverse order of its registration, so OpenSSL comes first.
    private static let isRegistered: Bool = {
        _ = Digest.of([])
        return atexit { EndOfProcess.stopAll() } == 0
    }()

    /// Has the end waited for. Before the first connection of a process.
    static func prepare() { _ = isRegistered }

    static func add(_ listener: PostgresListener) {
        entries.withLock { $0[ObjectIdentifier(listener)] = Entry(listener: listener) }
    }

    static func remove(_ listener: PostgresListener) {
        entries.withLock { $0[ObjectIdentifier(listener)] = nil }
    }

    private static func stopAll() {
        for entry in entries.withLock({ Array($0.values) }) { entry.listener?.stop() }
        LibraryUse.end(within: patience)
    }

    private static let patience = Duration.seconds(4)
}
