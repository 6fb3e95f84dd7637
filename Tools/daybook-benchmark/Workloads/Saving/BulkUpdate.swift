/// (d) Many objects given three new values each, in one save.
struct BulkUpdate: Workload {
    let count: Int
    let objects: Int

    let letter = "d"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(0.9, aim: 1.5)
    var title: String { "\(count.grouped) objects updated in one save" }

    func measure(_ stage: Stage) throws -> Double {
        let rate = try rate(count) { try stage.contender.updateTogether(stage.revised) }
        try stage.expect(objects, "the number of objects", try stage.contender.count())
        let order = Array(0..<count)
        try stage.contender.prepareToRead(order)
        let sum = try stage.contender.readAges(order, .each)
        try stage.expect(stage.revised.ages.reduce(0, +), "the sum of the new ages", sum)
        return rate
    }
}
