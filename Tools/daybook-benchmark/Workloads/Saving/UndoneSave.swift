/// (e) The save of (d) taken back by means of its history, itself saved as history.
struct UndoneSave: Workload {
    let count: Int

    let letter = "e"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(1, aim: 2)
    var title: String { "that save undone and saved" }

    func measure(_ stage: Stage) throws -> Double {
        let rate = try rate(count) { try stage.contender.undoLastSave() }
        let order = Array(0..<count)
        try stage.contender.prepareToRead(order)
        let sum = try stage.contender.readAges(order, .each)
        try stage.expect(
            stage.contacts.ages[..<count].reduce(0, +), "the sum of the ages brought back", sum)
        return rate
    }
}
