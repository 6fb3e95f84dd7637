internal import Dispatch
public import JournalLog
internal import SnapshotStore
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
/// policy, after the save is durable; no save waits for it. A checkpoint goes on from the one signed
/// before it by the same policy, or is an error: sizes only grow. The key stays in memory and is never
/// stored.
public final class CheckpointPolicy: Sendable, Hashable {
    /// How many entries lie between two checkpoints.
    public let interval: UInt64
    private let key: SigningKey
    private let handler: @Sendable (Result<SignedNote, any Error>) -> Void
    private let queue = DispatchQueue(label: "daybook.checkpoints")
    private let reached = Mutex<[ObjectIdentifier: State]>([:])

    /// What was signed of one store.
    private struct State {
        var sequence: SequenceNumber
        var last: SignedNote?
    }

    /// Describes when to sign and who is told.
    ///
    /// - Parameters:
    ///   - interval: How many entries lie between two checkpoints, at least 1.
    ///   - key: The key. Its name is what the journal is known by.
    ///   - handler: Is given each checkpoint, or why there is none, one after the other. It must keep
    ///     the checkpoint where nobody who can write the store can write, and must not remove the
    ///     store, which waits for it.
    /// - Precondition: The interval is at least 1.
    public init(
        every interval: UInt64, signedBy key: SigningKey,
        handler: @escaping @Sendable (Result<SignedNote, any Error>) -> Void
    ) {
        precondition(interval > 0, "Between two checkpoints lies at least one entry.")
        self.interval = interval
        self.key = key
        self.handler = handler
    }

    /// Counts entries up to here as known.
    func begin(_ store: PersistentStore, at sequence: SequenceNumber) {
        let id = ObjectIdentifier(store)
        reached.withLock { $0[id] = State(sequence: sequence) }
    }

    /// Waits for what is being signed of a store and forgets it.
    func end(_ store: PersistentStore) {
        queue.sync { reached.withLock { $0[ObjectIdentifier(store)] = nil } }
    }

    /// Has a checkpoint signed if the entry crosses the next multiple of the interval.
    func advance(_ store: PersistentStore, to sequence: SequenceNumber) {
        let id = ObjectIdentifier(store)
        let isDue = reached.withLock { reached in
            guard let before = reached[id]?.sequence, sequence > before else { return false }
            reached[id]?.sequence = sequence
            return sequence.rawValue / interval > before.rawValue / interval
        }
        guard isDue else { return }
        queue.async { self.sign(store) }
    }

    private func sign(_ store: PersistentStore) {
        let id = ObjectIdentifier(store)
        let previous = reached.withLock { $0[id]?.last }
        let result = Result { try store.checkpoint(signedBy: key, after: previous) }
        if case .success(let note) = result {
            guard note != previous else { return }
            reached.withLock { $0[id]?.last = note }
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
