import Observation
import Synchronization

/// Tells whether the current thread is inside `withObservationTracking`.
///
/// The library does not tell, and an object needs a registrar to track a read, which would cost memory
/// in every object that is read. But a read that is tracked inside is kept in a set, so its key path is
/// hashed; outside nothing happens. So a read of a probe, with a key path that counts how often it is
/// hashed, tells the two apart. If another thread counts in between, an object gets a registrar that it
/// does not need, and nothing worse happens.
///
/// That is how the library works and not what it promises, so it is tested once in each process. If it
/// works differently, every read counts as tracked: observers learn the same, at the cost of the memory.
enum ObservationProbe {
    /// Whether reads are, or may be, tracked on the current thread.
    @inline(never)  // Inlined, every read of a property would reserve space for a registrar.
    static var isTracking: Bool { isReliable ? isCounted : true }

    /// Whether a count of hashes tells the two apart.
    static let isReliable: Bool = {
        guard !isSwitchedOff.load(ordering: .relaxed) else { return false }
        return withObservationTracking({ isCounted }, onChange: {})
    }()

    /// If set before anything is read, every read counts as tracked.
    static let isSwitchedOff = Atomic<Bool>(false)

    private static var isCounted: Bool {
        let before = hashCount.load(ordering: .relaxed)
        registrar.access(probe, keyPath: path)
        return hashCount.load(ordering: .relaxed) != before
    }

    private static let hashCount = Atomic<Int>(0)
    private static let probe = Probe()
    private static let registrar = ObservationRegistrar()
    private static let path: any KeyPath<Probe, Bool> & Sendable = \Probe[HashCounter()]

    private final class Probe: Observable, Sendable {
        subscript(counter: HashCounter) -> Bool { true }
    }

    private struct HashCounter: Hashable, Sendable {
        static func == (left: HashCounter, right: HashCounter) -> Bool { true }

        func hash(into hasher: inout Hasher) {
            ObservationProbe.hashCount.add(1, ordering: .relaxed)
        }
    }
}
