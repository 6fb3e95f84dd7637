import Observation
import Synchronization

/// Tells whether the current thread is inside `withObservationTracking`.
///
/// The library does not say, and an object needs a registrar to note a read with, which would cost
/// every object memory that is read at all. But a read that is noted inside is kept in a set, so its
/// key path is hashed; outside nothing happens. So a read of a probe, with a key path that counts how
/// often it is hashed, tells the two apart. Another thread may count in between: then an object gets
/// a registrar without need, and nothing worse.
///
/// That is how the library works and not what it promises, so it is tried once in each process. Where it
/// works otherwise, every read counts as tracked: the same is told, at the price of the memory.
enum ObservationProbe {
    /// Whether reads are being tracked here and now, or may be.
    @inline(never)  // Inlined, a registrar would be made room for at every read of a property.
    static var isTracking: Bool { isReliable ? isCounted : true }

    /// Whether a count of hashes tells the two apart.
    static let isReliable: Bool = {
        guard !isSwitchedOff.load(ordering: .relaxed) else { return false }
        return withObservationTracking({ isCounted }, onChange: {})
    }()

    /// Set before anything is read, has every read count as tracked.
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
