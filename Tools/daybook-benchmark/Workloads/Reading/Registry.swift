/// (h) Instances registered for identifiers, unread, and released. The rate must not depend on
/// their number.
struct Registry: Workload {
    let letter: String
    let count: Int

    let measure = Measure.perSecond
    var title: String { "\(count.grouped) faults registered and released" }

    func measure(_ stage: Stage) throws -> Double {
        try stage.contender.prepareToRead(Array(0..<count))
        var result = (held: 0, left: 0)
        let rate = try rate(count) { result = try stage.contender.registerAndRelease(count) }
        try stage.expect(count, "the number of instances", result.held)
        try stage.expect(0, "the number of instances left", result.left)
        return rate
    }
}
