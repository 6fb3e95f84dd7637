/// How long to wait between attempts to reach a server: 50 milliseconds at first, twice as long each time,
/// and at most 5 seconds, of which a random half is left out, so that nodes do not come back together.
package struct Backoff: Sendable {
    private var next = Self.shortest

    private static let shortest = Duration.milliseconds(50)
    private static let longest = Duration.seconds(5)

    /// No attempt has failed.
    package init() {}

    /// The wait after one more failure.
    ///
    /// - Parameter random: From 0 to 1: how much of the half is waited.
    /// - Returns: The wait.
    package mutating func wait(random: Double = .random(in: 0...1)) -> Duration {
        let wait = next / 2 + next / 2 * random
        next = min(next * 2, Self.longest)
        return wait
    }

    /// An attempt has succeeded.
    package mutating func reset() {
        next = Self.shortest
    }
}
