// The room of saves: objects inserted, updated and deleted, one by one, together and as batches, what that takes on the
// disk, and bytes of files that are saved.

/// (a) Objects inserted one by one, each in its own durable save.
struct SingleSaves: Workload {
    let count: Int

    let letter = "a"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(0.45, aim: 1)
    var title: String { "durable saves of one object (\(count.grouped))" }

    func measure(_ stage: Stage) throws -> Double {
        let contender = try stage.type.init(in: try stage.makeFolder("single"))
        let contacts = Contacts(count: count, revision: 0)
        let rate = try rate(count) { try contender.insertSingly(contacts) }
        try stage.expect(count, "the number of objects", try contender.count())
        try contender.close()
        return rate
    }
}
