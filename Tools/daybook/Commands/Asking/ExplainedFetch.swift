import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What `fetch --explain` prints: the plan of a fetch that was carried out, and what was read for it.
struct ExplainedFetch {
    private let plan: String
    /// How many objects or groups were found.
    private let found: Int
    private let counts: ReadCounts
    private let passedOver: Int

    /// Carries a fetch out.
    ///
    /// - Parameters:
    ///   - query: The query for the objects.
    ///   - store: The store.
    ///   - sequence: The entry; nil for the last one.
    ///   - find: Finds objects or groups, and says how many.
    /// - Throws: As reading the store; what `find` throws.
    init(
        of query: Query, in store: Store, at sequence: SequenceNumber?,
        _ find: (borrowing Snapshot) throws -> Int
    ) throws {
        let watch = ReadWatch()
        // The next state may be another one.
        let (plan, objects, last) = try store.readWithSequence(at: sequence) { snapshot, last in
            (try snapshot.explanation(of: query), try snapshot.count(query), last)
        }
        found = try store.read(at: last, watchedBy: watch, find)
        self.plan = plan
        counts = watch.counts
        passedOver = counts.passedOver(finding: objects)
    }

    /// Prints it, in the form of the console.
    func print(_ console: Console) throws {
        guard console.format != .text else {
            try console.printLines([
                plan, "found: \(found)", counts.text(passingOver: passedOver),
            ])
            return
        }
        let read: [(String, Int)] = [
            ("rows", counts.rows), ("passedOver", passedOver),
            ("indexRecords", counts.indexRecords), ("connections", counts.connections),
            ("versions", counts.versions), ("entries", counts.entries), ("pages", counts.pages),
        ]
        try console.print(
            [
                "plan": .string(plan), "found": .integer(Int64(found)),
                "read": .object(read.map { JSONText.Member($0, .integer(Int64($1))) }),
            ] as JSONText)
    }
}
