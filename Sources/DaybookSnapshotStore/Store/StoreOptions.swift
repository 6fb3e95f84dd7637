package import DaybookObjectModel
package import Foundation

/// How a store is opened, and where its times and identifiers come from.
///
/// Every option has a default; tests use a counting clock and counted identifiers, so that their
/// stores are the same byte for byte.
package struct StoreOptions: Sendable {
    /// What an operating-system crash may lose.
    package enum Durability: Sendable, Hashable {
        /// Nothing that was reported as saved.
        case durable
        /// The last saves, but never the integrity of the store.
        case relaxed
    }

    /// How far a store checks itself.
    package enum Verification: Sendable, Hashable {
        /// No further than every read does.
        case off
        /// After each entry its objects are read back and compared with the entry, and a difference
        /// takes the entry back. For tests.
        case afterCommit
    }

    /// The first size of the memory map in bytes; it grows by itself.
    package var initialMapSize: Int
    /// When a save counts as done.
    package var durability: Durability
    /// Whether the store is only read. Its file is then never written.
    package var isReadOnly: Bool
    /// Whether the file comes from an untrusted source: then all its pages are checked before the
    /// first write.
    package var isUntrusted = false
    /// Told how far that check has come: how many pages of how many, on the thread of the first write.
    package var checking: (@Sendable (_ done: Int, _ total: Int) -> Void)?
    /// The time in microseconds since 1970 (UTC), for the recording time of entries.
    package var clock: @Sendable () -> Int64
    /// Makes the identifier of a new store.
    package var makeUUID: @Sendable () -> UUID
    /// How far the store checks itself.
    package var verification: Verification
    /// What opening with another model may do to the store.
    package var migration: MigrationPolicy
    /// The earlier names of what the model has renamed, besides its renaming identifiers.
    package var matching: ModelMatching
    /// When the indexes that a new model adds are built.
    package var indexes = IndexBuilding.immediate
    /// How long to wait for other processes.
    package var waiting: Waiting
    /// How to reach the shared journal that the file is linked to; nil for a store of its own, and to read a
    /// linked file without asking anybody.
    package var link: SharedLink?
    /// Called now and then with the progress of a migration that looks at every object of an
    /// entity.
    package var work: WorkHandler?

    /// Takes the work done and the total. What it throws ends the work and is thrown on: a
    /// migration leaves the store unchanged then, and building indexes keeps what is built. It may
    /// be called on another thread.
    package typealias WorkHandler = @Sendable (_ done: Int64, _ total: Int64) throws -> Void

    /// Options with the default values.
    package init(
        initialMapSize: Int = 1 << 30, durability: Durability = .durable,
        isReadOnly: Bool = false,
        clock: @escaping @Sendable () -> Int64 = StoreOptions.systemClock,
        makeUUID: @escaping @Sendable () -> UUID = { UUID() },
        verification: Verification = .off, migration: MigrationPolicy = .compatible,
        matching: ModelMatching = ModelMatching(), waiting: Waiting = .usual,
        work: WorkHandler? = nil
    ) {
        self.initialMapSize = initialMapSize
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.clock = clock
        self.makeUUID = makeUUID
        self.verification = verification
        self.migration = migration
        self.matching = matching
        self.waiting = waiting
        self.work = work
    }

    /// The system's time in microseconds since 1970.
    package static let systemClock: @Sendable () -> Int64 = {
        Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down))
    }
}
