public import DaybookJournalLog
internal import DaybookSnapshotStore
import DaybookStopping
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Signs checkpoints by itself while a store grows.
///
/// ```swift
/// options.checkpoints = CheckpointPolicy(every: 1_000, signedBy: key) { result in
///     keep(try result.get())
/// }
/// ```
///
/// A save that reaches a multiple of the number of entries has the newest state signed on a queue of the
/// policy, after the save is durable; no save waits for it. A checkpoint goes on from the one that the
/// policy has signed before it of a store with the same ``PersistentStore/identifier``, or is an error:
/// sizes only grow, and a copy of the file from before is found out even when the store was removed and
/// added again. To go on after a restart, give the policy the last checkpoint that was kept. The key
/// stays in memory and is never stored.
public final class CheckpointPolicy: Sendable, Hashable {
    /// How many entries lie between two checkpoints.
    public let interval: UInt64
    private let key: SigningKey
    private let handler: @Sendable (Result<SignedNote, any Error>) -> Void
    private let queue = DispatchQueue(label: "daybook.checkpoints")
    private let first: SignedNote?
    private let signed = Mutex(Signed())

    /// How far each open store has come, and what was signed last of each file.
    private struct Signed {
        var reached: [ObjectIdentifier: SequenceNumber] = [:]
        var last: [UUID: SignedNote] = [:]
    }

    /// Describes when to sign and who is told.
    ///
    /// - Parameters:
    ///   - interval: How many entries lie between two checkpoints, at least 1.
    ///   - key: The key. Its name is what the journal is known by.
    ///   - previous: The last checkpoint that was signed of the store before this policy was made, in
    ///     an earlier run of the program; nil when there is none, and for a policy of several stores.
    ///   - handler: Is given each checkpoint, or why there is none, one after the other: `ProofError`
    ///     with code `mismatch` when the journal does not go on from the checkpoint before, with
    ///     another code when `previous` is none by the key; ``StoreError`` when the store cannot be
    ///     read. It must keep the checkpoint where nobody who can write the store can write, and must
    ///     not remove the store, which waits for it.
    /// - Precondition: The interval is at least 1.
    public init(
        every interval: UInt64, signedBy key: SigningKey, after previous: SignedNote? = nil,
        handler: @escaping @Sendable (Result<SignedNote, any Error>) -> Void
    ) {
        require(interval > 0, "Between two checkpoints lies at least one entry.")
        self.interval = interval
        self.key = key
        first = previous
        self.handler = handler
    }

    /// Counts entries up to here as known.
    func begin(_ store: PersistentStore, at sequence: SequenceNumber) {
        signed.withLock { $0.reached[ObjectIdentifier(store)] = sequence }
    }

    /// Waits for what is being signed of a store that is removed. What was signed stays known, should
    /// the store come back.
    func end(_ store: PersistentStore) {
        queue.sync { signed.withLock { $0.reached[ObjectIdentifier(store)] = nil } }
    }

    /// Has a checkpoint signed if the entry crosses the next multiple of the interval.
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

    /// Hashes which policy it is.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
