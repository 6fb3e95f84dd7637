import Foundation
import Synchronization

/// What a figure counts.
enum Measure: String, Codable {
    /// Things done in a second: more is better.
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

/// What is asked of a figure, and what would be good.
struct Target: Encodable {
    /// What is compared with the bounds.
    enum Basis: String, Encodable {
        /// Daybook's median divided by SQLite's.
        case ratioToSQLite = "ratio to SQLite"
        /// Daybook's median itself.
        case figure
    }

    let basis: Basis
    /// The least, or where less is better the most, that is asked.
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

/// One thing that every contender is asked to do.
protocol Workload {
    /// How it is called in the report.
    var letter: String { get }
    /// What is done.
    var title: String { get }
    var measure: Measure { get }
    /// What is asked of Daybook.
    var target: Target? { get }

    /// Whether a contender has such a thing at all.
    func concerns(_ contender: any Contender.Type) -> Bool
    /// Has one contender do it once, and checks that it did.
    func measure(_ stage: Stage) throws -> Double
}

extension Workload {
    var target: Target? { nil }

    func concerns(_ contender: any Contender.Type) -> Bool { true }

    /// How many of `count` things a second `body` does.
    func rate(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        Double(count) / (try Stopwatch.seconds(body))
    }
}

/// Measures time.
enum Stopwatch {
    /// Which time is measured.
    enum Clock: String, Encodable, Sendable {
        /// As a person sees it.
        case wall = "wall clock"
        /// What all threads of the process together spend on processors. Waiting is not seen, and
        /// neither is what else the machine does.
        case processor = "processor time"
    }

    private static let measuresProcessor = Atomic(false)

    /// Set once, before anything is measured.
    static var clock: Clock {
        get { measuresProcessor.load(ordering: .relaxed) ? .processor : .wall }
        set { measuresProcessor.store(newValue == .processor, ordering: .relaxed) }
    }

    /// How long `body` takes, in seconds.
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
