package import DaybookObjectModel
package import DaybookSnapshotStore
package import Foundation
internal import Synchronization

/// A store in its own folder, which is removed with this value.
///
/// Its clock and its identifiers are counters, so that the same writes make two stores equal byte
/// for byte. Strict mode is on unless told otherwise.
package final class TemporaryStore: Sendable {
    /// The folder; tests may put more files into it.
    package let folder: URL
    /// The path of the store.
    package let path: String
    /// The store.
    package let store: Store

    /// Makes a store.
    package init(
        _ model: ManagedObjectModel = .sample, options: StoreOptions = .counting()
    ) throws {
        folder = try TemporaryStore.makeFolder()
        path = folder.appending(path: "test.daybook").path
        store = try TestStore.create(at: path, model: model, options: options)
    }

    deinit {
        do {
            try store.close()
            try FileManager.default.removeItem(at: folder)
        } catch {
            // The system clears its temporary folder itself.
            return
        }
    }

    /// A new folder in the system's temporary folder.
    package static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "daybook-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

extension StoreOptions {
    /// Options with a clock that advances by a millisecond at every reading, counted identifiers,
    /// and strict mode.
    package static func counting(
        verification: Verification = .afterCommit, durability: Durability = .relaxed
    ) -> StoreOptions {
        let clock = Counter(1_700_000_000_000_000, step: 1_000)
        let identifiers = Counter(1, step: 1)
        return StoreOptions(
            durability: durability, clock: { clock.next() },
            makeUUID: {
                let number = UInt8(truncatingIfNeeded: identifiers.next())
                return UUID(
                    uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
            }, verification: verification)
    }
}

/// Counts from a number, on any thread.
package final class Counter: Sendable {
    private let value: Mutex<Int64>
    private let step: Int64

    /// Starts at `first`.
    package init(_ first: Int64, step: Int64 = 1) {
        value = Mutex(first)
        self.step = step
    }

    /// The next number.
    package func next() -> Int64 {
        value.withLock { value in
            defer { value += step }
            return value
        }
    }
}
