// The room of reading objects that are known or all wanted. Questions have rooms of their own: 'Questions', 'Shapes' and
// 'Past'.

/// (c) Objects read by identifier in random order, one attribute each.
///
/// For Daybook both manners are the same: an instance is made and registered, and reads its own
/// record when its attribute is used.
struct PointReads: Workload {
    let count: Int
    let objects: Int
    let manner: ReadingManner

    let measure = Measure.perSecond
    var letter: String { manner == .together ? "c" : "c1" }
    var target: Target? {
        manner == .together ? .toSQLite(0.8, aim: 1) : .toSQLite(1.8, aim: 2.5)
    }
    var title: String {
        manner == .together
            ? "\(count.grouped) faults fired by ID; peers: one read for all"
            : "\(count.grouped) faults fired by ID; peers: each its own read"
    }

    func measure(_ stage: Stage) throws -> Double {
        let order = stage.readingOrder
        let ages = stage.contacts.ages
        let expected = order.reduce(0) { $0 + ages[$1] }
        try stage.contender.prepareToRead(order)
        var sum = 0
        let rate = try rate(order.count) {
            sum = try stage.contender.readAges(order, manner)
        }
        try stage.expect(expected, "the sum of what was read", sum)
        return rate
    }
}
