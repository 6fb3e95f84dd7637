import Foundation

// The room of opening a store, and of changing its model while it is opened.

/// (g) A store opened. Must not depend on its length.
struct Opening: Workload {
    let letter: String
    let changes: Int

    let measure = Measure.seconds
    var title: String { "open a store of \(changes.grouped) changes" }

    private func fill(_ folder: URL, _ type: any Contender.Type) throws {
        let contender = try type.init(in: folder)
        let contacts = Contacts(count: Self.entryLength, revision: 0)
        for _ in 0..<(changes / Self.entryLength) { try contender.insertTogether(contacts) }
        try contender.close()
    }

    /// The changes of one save while the store is filled.
    private static let entryLength = 100
    /// The figure of a round is the median of this many openings.
    private static let openingCount = 9

    func measure(_ stage: Stage) throws -> Double {
        let folder = try stage.makeFolder("opening-\(changes)")
        try fill(folder, stage.type)
        var times: [Double] = []
        for _ in 0..<Self.openingCount {
            var opened: (any Contender)?
            times.append(try Stopwatch.seconds { opened = try stage.type.init(in: folder) })
            try stage.expect(changes, "the number of objects", try opened?.count() ?? 0)
            try opened?.close()
        }
        return times.sorted()[times.count / 2]
    }
}
