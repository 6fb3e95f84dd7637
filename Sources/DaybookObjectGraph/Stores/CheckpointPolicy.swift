public import DaybookJournalLog
internal import DaybookSnapshotStore
import DaybookStopping
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Signs checkpoints automatically while a store grows.
///
/// ```swift
/// options.checkpoints = CheckpointPolicy(every: 1_000, signedBy: key) { result in
///     keep(try result.get())
/// }
/// ```
///
/// When a save crosses a multiple of the interval, the policy signs the newest state on a queue of its
/// own, after the save is durable; no save waits for it. Each checkpoint must continue the last one that
/// the policy signed for a store with the same ``PersistentStore/identifier``, or it is an error: sizes
/// only grow, and an older copy of the file is detected even when the store was removed and added again.
/// To continue after a restart, give the policy the last checkpoint that was kept. The key stays in
/// memory and is never stored.
public final class CheckpointPolicy: Sendable, Hashable {
    /// How many entries there are between two checkpoints.
    public let interval: UInt64
    private let key: SigningKey
    private let handler: @Sendable (Result<SignedNote, any Error>) -> Void
    private let queue = DispatchQueue(label: "daybook.checkpoints")
    private let first: SignedNote?
    private let signed = Mutex(Signed())

    /// The last known entry of each open store, and the last checkpoint of each file.
    private struct Signed {
        var reached: [ObjectIdentifier: SequenceNumber] = [:]
        var last: [UUID: SignedNote] = [:]
    }

    /// Describes when to sign and who gets the checkpoints.
    ///
    /// - Parameters:
    ///   - interval: How many entries there are between two checkpoints, at least 1.
    ///   - key: The key. Its name identifies the journal.
    ///   - previous: The last checkpoint of the store from an earlier run of the program; nil when there
    ///     is none, and for a policy of several stores.
    ///   - handler: Gets each checkpoint, or the error that prevented it, one after the other:
    ///     `ProofError` with code `mismatch` when the journal does not continue the checkpoint before,
    ///     with another code when the key has not signed `previous`; ``StoreError`` when the store
    ///     cannot be read. It must keep the checkpoint out of reach of everyone who can write the store,
    ///     and must not remove the store, which waits for it.
    /// - Precondition: The interval is at least 1.
    public init(
        every interval: UInt64, signedBy key: SigningKey, after previous: SignedNote? = nil,
        handler: @escaping @Sendable (Result<SignedNote, any Error>) -> Void
    ) {
        require(interval > 0, "There must be at least one entry between two checkpoints.")
        self.interval = interval
        self.key = key
        first = previous
        self.handler = handler
    }

    /// Counts entries up to here as known.
    func begin(_ store: PersistentStore, at sequence: SequenceNumber) {
        signed.withLock { $0.reached[ObjectIdentifier(store)] = sequence }
    }

    /// Waits for a store's checkpoint that is being signed when the store is removed. The last
    /// checkpoint stays known in case the store comes back.
    func end(_ store: PersistentStore) {
        queue.sync { signed.withLock { $0.reached[ObjectIdentifier(store)] = nil } }
    }

    /// Signs a checkpoint if the entry crosses the next multiple of the interval.
    func advance(_ store: PersistentStore, to sequence: SequenceNumber) {
        let id = ObjectIdentifier(store)
        let isDue = signed.withLock { signed in
            guard let before = signed.reached[id], sequence > before else { return false }
            signed.reached[id] = sequence
            return sequence.rawValue / interval > before.rawValue / interval
        }
        guard isDue else { return }
        queue.async { self.sign(store) }
    }

    private func sign(_ store: PersistentStore) {
        let previous = signed.withLock { $0.last[store.identifier] } ?? first
        let result = Result { try store.checkpoint(signedBy: key, after: previous) }
        if case .success(let note) = result {
            guard note != previous else { return }
            signed.withLock { $0.last[store.identifier] = note }
        }
        handler(result)
    }

    /// Whether both are the same policy.
    public static func == (left: CheckpointPolicy, right: CheckpointPolicy) -> Bool {
        left === right
    }

    /// Hashes the identity of the policy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
