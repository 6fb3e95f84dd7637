/// What a figure counts.
enum Measure: String, Codable {
    /// Things done in a second: more is better.
    case perSecond = "per second"
    /// Bytes: less is better.
    case bytes
    /// Seconds: less is better.
    case seconds
}

/// One thing that every contender is asked to do.
protocol Workload {
    /// How it is called in the report.
    var letter: String { get }
    /// What is done.
    var title: String { get }
    var measure: Measure { get }

    /// Has one contender do it once, and checks that it did.
    func measure(_ stage: Stage) throws -> Double
}

extension Workload {
    /// How many of `count` things a second `body` does.
    func rate(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        Double(count) / (try seconds(body))
    }

    /// How long `body` takes.
    func seconds(_ body: () throws -> Void) rethrows -> Double {
        let time = try ContinuousClock().measure(body)
        let parts = time.components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }
}
