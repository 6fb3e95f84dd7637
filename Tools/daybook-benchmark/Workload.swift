import Foundation
import Synchronization

/// The unit of a figure.
enum Measure: String, Codable {
    /// Operations per second: more is better.
    case perSecond = "per second"
    /// Bytes on disk: less is better.
    case bytes
    /// Seconds: less is better.
    case seconds
    /// Bytes in memory for each of many: less is better.
    case bytesEach = "bytes each"
    /// One time divided by another: less is better.
    case times

    /// Whether a greater figure is a better one.
    var isMoreBetter: Bool { self == .perSecond }
}

/// The goal of a figure.
struct Target: Encodable {
    /// The value to compare with the bounds.
    enum Basis: String, Encodable {
        /// Daybook's median divided by SQLite's.
        case ratioToSQLite = "ratio to SQLite"
        /// Daybook's median itself.
        case figure
    }

    let basis: Basis
    /// The bound: a minimum, or a maximum where less is better.
    let bound: Double
    let aim: Double?

    /// So many times SQLite's figure.
    static func toSQLite(_ bound: Double, aim: Double? = nil) -> Target {
        Target(basis: .ratioToSQLite, bound: bound, aim: aim)
    }

    /// A figure by itself.
    static func figure(_ bound: Double, aim: Double? = nil) -> Target {
        Target(basis: .figure, bound: bound, aim: aim)
    }

    /// Whether a value is good enough.
    func isMet(by value: Double, _ measure: Measure) -> Bool {
        measure.isMoreBetter ? value >= bound : value <= bound
    }
}

/// A workload for every contender.
protocol Workload {
    /// Its name in the report.
    var letter: String { get }
    /// Its description.
    var title: String { get }
    var measure: Measure { get }
    /// Daybook's goal.
    var target: Target? { get }

    /// Whether a contender supports it.
    func concerns(_ contender: any Contender.Type) -> Bool
    /// Runs it once with one contender, and checks the result.
    func measure(_ stage: Stage) throws -> Double
}

extension Workload {
    var target: Target? { nil }

    func concerns(_ contender: any Contender.Type) -> Bool { true }

    /// The rate of `body`, which does `count` operations.
    func rate(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        Double(count) / (try Stopwatch.seconds(body))
    }
}

/// Measures time.
enum Stopwatch {
    /// Which time is measured.
    enum Clock: String, Encodable, Sendable {
        /// Wall-clock time.
        case wall = "wall clock"
        /// The processor time of all threads of the process. It excludes waiting and other
        /// processes.
        case processor = "processor time"
    }

    private static let measuresProcessor = Atomic(false)

    /// Set once, before anything is measured.
    static var clock: Clock {
        get { measuresProcessor.load(ordering: .relaxed) ? .processor : .wall }
        set { measuresProcessor.store(newValue == .processor, ordering: .relaxed) }
    }

    /// The duration of `body` in seconds.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        guard clock == .processor else { return seconds(try ContinuousClock().measure(body)) }
        let start = Foundation.clock()
        try body()
        // POSIX: a million of these units are a second.
        return Double(max(1, Foundation.clock() - start)) / 1e6
    }

    /// A duration in seconds.
    static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }
}
