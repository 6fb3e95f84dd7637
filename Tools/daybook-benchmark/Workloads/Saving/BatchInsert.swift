/// (b') As many objects as in (b), inserted without managed objects into another store.
///
/// The peers do the same as in (b), because they never have objects.
struct BatchInsert: Workload {
    let count: Int

    let letter = "b'"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(1.5, aim: 2.2)
    var title: String { "\(count.grouped) objects inserted as a batch" }

    func measure(_ stage: Stage) throws -> Double {
        let contender = try stage.type.init(in: try stage.makeFolder("batch"))
        let rate = try rate(count) { try contender.insertBatch(stage.contacts) }
        try stage.expect(count, "the number of objects", try contender.count())
        let ages = try contender.scanAll().ages
        try stage.expect(stage.contacts.ages.reduce(0, +), "the sum of the ages", ages)
        try contender.close()
        return rate
    }
}
