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
    /// How long `body` takes, in seconds.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        seconds(try ContinuousClock().measure(body))
    }

    /// A duration in seconds.
    static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }
}
