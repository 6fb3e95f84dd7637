/// (c') All objects fetched, and two attributes of each read: a number and a text.
///
/// The peers also make each record an instance of five attributes, like a program that goes on to
/// use them. In (c'') they make no instances and read two columns, like a program that only
/// computes a sum; Daybook has no such way.
struct WholeFetch: Workload {
    let count: Int
    /// Whether the peers make instances.
    let makesInstances: Bool

    let measure = Measure.perSecond
    var letter: String { makesInstances ? "c'" : "c''" }
    var target: Target? { makesInstances ? .toSQLite(0.8, aim: 1.5) : nil }
    var title: String {
        makesInstances
            ? "all \(count.grouped) fetched as objects, two properties read"
            : "the same; peers: two columns stepped over"
    }

    func measure(_ stage: Stage) throws -> Double {
        let contender = stage.contender
        var read = (ages: 0, nameBytes: 0)
        let rate = try rate(count) {
            read = try makesInstances ? contender.readAll() : contender.scanAll()
        }
        let ages = stage.contacts.ages.reduce(0, +)
        try stage.expect(ages, "the sum of all ages", read.ages)
        try stage.expect(
            count * Contacts.nameLength, "the length of all names", read.nameBytes)
        return rate
    }
}
