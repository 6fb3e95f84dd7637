/// (c) Objects read by identifier in random order, one attribute each, each in a read of its own.
struct PointReads: Workload {
    let count: Int
    let objects: Int

    let letter = "c"
    let measure = Measure.perSecond
    var title: String { "\(count.grouped) reads by ID, each its own" }

    func measure(_ stage: Stage) throws -> Double {
        let order = stage.readingOrder
        let ages = stage.contacts.ages
        let expected = order.reduce(0) { $0 + ages[$1] }
        try stage.contender.prepareToRead()
        var sum = 0
        let rate = try rate(order.count) { sum = try stage.contender.readAges(order) }
        try stage.expect(expected, "the sum of what was read", sum)
        return rate
    }
}
