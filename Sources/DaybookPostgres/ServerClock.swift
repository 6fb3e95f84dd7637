internal import Synchronization

/// The time that the entries of a shared store follow: that of the server that leads, carried on by how long ago it was
/// told.
///
/// Once a server has told its time, the clock of this machine does not matter: it may be set forward or back.
///
/// Invariant: between two readings of a server's clock the times that are told never fall.
final class ServerClock: Sendable {
    /// What a server's clock has shown.
    struct Reading: Sendable {
        /// The time, in microseconds since 1970.
        let time: Int64
        /// When that was.
        let moment: ContinuousClock.Instant

        /// What a server says; nil when that is no time.
        ///
        /// - Parameters:
        ///   - time: What its clock shows.
        ///   - asked: When it was asked.
        ///   - answered: When the answer had come.
        init?(
            _ time: Int64, askedAt asked: ContinuousClock.Instant,
            answeredAt answered: ContinuousClock.Instant
        ) {
            guard Self.times.contains(time) else { return nil }
            self.time = time
            moment = asked + asked.duration(to: answered) / 2
        }

        /// The time at another moment.
        func time(at other: ContinuousClock.Instant) -> Int64 {
            let (seconds, attoseconds) = moment.duration(to: other).components
            return time + seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        }

        /// No clock has come so far as the end: it is the year 3111.
        private static let times = 0..<Int64(1) << 55
    }

    private struct State {
        var reading: Reading?
        /// The last time told since then.
        var last = Int64.min
        /// The last time told that a reading has taken back.
        var takenBack = Int64.min
    }

    private let own: @Sendable () -> Int64
    private let state = Mutex(State())

    /// A clock that has not heard of a server.
    ///
    /// - Parameter own: The time of this machine, which is told until then.
    init(own: @escaping @Sendable () -> Int64) {
        self.own = own
    }

    /// The time, in microseconds since 1970.
    func now() -> Int64 {
        state.withLock { state in
            state.last = max(state.last, time(state.reading))
            return state.last
        }
    }

    /// Follows a server from now on. A time that was told by a clock that was wrong does not hold the next ones up.
    func follow(_ reading: Reading) {
        state.withLock { state in
            state.reading = reading
            let time = time(reading)
            guard state.last > time else { return }
            state.takenBack = max(state.takenBack, state.last)
            state.last = time
        }
    }

    /// Whether a time that the server has refused was told here, and an earlier one is told now. Once for each: who
    /// comes with it again has made it up.
    func hasTakenBack(_ time: Int64) -> Bool {
        state.withLock { state in
            guard time <= state.takenBack, time > self.time(state.reading) + Self.tolerance
            else { return false }
            state.takenBack = .min
            return true
        }
    }

    private func time(_ reading: Reading?) -> Int64 {
        reading?.time(at: .now) ?? own()
    }

    /// Less is no step of a clock: answers take so long. A time that is refused was further ahead.
    private static let tolerance: Int64 = 1_000_000
}
