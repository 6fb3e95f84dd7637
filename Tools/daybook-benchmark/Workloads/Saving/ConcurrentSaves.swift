/// (a8) Objects inserted one by one from eight concurrent threads, each in its own durable save.
///
/// Every thread has its own context; the peers share a connection or environment if that is faster.
/// The figure is the total of all threads.
struct ConcurrentSaves: Workload {
    let count: Int

    let letter = "a8"
    let measure = Measure.perSecond
    let target: Target? = .toSQLite(2, aim: 5)
    var title: String { "the same from \(Self.threads) threads at once (\(count.grouped))" }

    private static let threads = 8

    func measure(_ stage: Stage) throws -> Double {
        let contender = try stage.type.init(in: try stage.makeFolder("concurrent"))
        let contacts = Contacts(count: count, revision: 0)
        try contender.prepareThreads(Self.threads)
        let rate = try rate(count) {
            try contender.insertSingly(contacts, fromThreads: Self.threads)
        }
        try stage.expect(count, "the number of objects", try contender.count())
        try contender.close()
        return rate
    }
}
