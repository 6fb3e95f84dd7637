/// (b) Many objects made and inserted in one save.
struct BulkInsert: Workload {
    let count: Int

    let letter = "b"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(1, aim: 1.5)
    var title: String { "\(count.grouped) objects inserted in one save" }

    func measure(_ stage: Stage) throws -> Double {
        let rate = try rate(count) { try stage.contender.insertTogether(stage.contacts) }
        try stage.expect(count, "the number of objects", try stage.contender.count())
        return rate
    }
}
