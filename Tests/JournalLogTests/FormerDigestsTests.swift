import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

/// Digests that stand in a table of their own, as they once did, brought to their entries.
struct FormerDigestsTests {
    /// A journal whose digests and roots stand where they once stood.
    private struct FormerJournal {
        let directory: TemporaryDirectory
        let environment: Environment
        let journal: Journal
        let former: Table
        /// The records as they are written today.
        let records: [Record]

        init(entries count: Int) throws {
            directory = try TemporaryDirectory()
            environment = try Environment.open(
                at: directory.path("file"),
                options: EnvironmentOptions(
                    tables: Journal.tableNames + [Journal.formerDigestsName],
                    durability: .relaxed))
            let journal = try Journal(in: environment)
            let table = try environment.table("journal")
            let former = try environment.table(Journal.formerDigestsName)
            try environment.write { transaction in
                for number in 0..<count {
                    _ = try journal.append(
                        payload: TemporaryJournal.payload(number == 2 ? 70_000 : 3, seed: number),
                        recordedAt: 0, in: transaction)
                }
            }
            let records = try FormerDigestsTests.records(table, environment)
            try environment.write { transaction in
                for record in records where record.key.count != 12 {
                    try transaction.put(
                        former, record.key.span.bytes, record.value.span.bytes, .append)
                    _ = try transaction.delete(table, record.key.span.bytes)
                }
            }
            (self.journal, self.former, self.records) = (journal, former, records)
        }

        func takeDigests() throws {
            try environment.write { [journal, former] transaction in
                try journal.takeDigests(from: former, in: transaction)
            }
        }
    }

    private struct Record: Hashable {
        let key: [UInt8]
        let value: [UInt8]
    }

    private static func records(_ table: Table, _ environment: Environment) throws -> [Record] {
        var records: [Record] = []
        let start: [UInt8] = []
        try environment.read { transaction in
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, value in
                records.append(
                    Record(
                        key: key.withUnsafeBytes { Array($0) },
                        value: value.withUnsafeBytes { Array($0) }))
                return .proceed
            }
        }
        return records
    }

    // 4,096 are moved at a time.
    @Test(arguments: [0, 1, 3, 300, 4_096, 4_100])
    func `digests that are moved stand as if they had been written there`(count: Int) throws {
        let file = try FormerJournal(entries: count)

        try file.takeDigests()

        let table = try file.environment.table("journal")
        #expect(try Self.records(table, file.environment) == file.records)
        #expect(try Self.records(file.former, file.environment) == [])
        var findings: [JournalFinding] = []
        try file.environment.read { try file.journal.verify(in: $0, { findings.append($0) }) }
        #expect(findings == [])
    }

    @Test func `a key among the digests that could be a part of an entry is refused`() throws {
        let file = try FormerJournal(entries: 3)
        let table = try file.environment.table("journal")
        let before = try Self.records(table, file.environment)
        let key = TemporaryJournal.key(2, chunk: 0)
        try file.environment.write { [former = file.former] transaction in
            try transaction.put(former, key.span.bytes, key.span.bytes, .upsert)
        }

        let error = #expect(throws: JournalError.self) { try file.takeDigests() }

        #expect(error?.code == .entryBroken)
        #expect(error?.message.contains("a key has 12 bytes instead of 8 or 9.") == true)
        #expect(try Self.records(table, file.environment) == before)
    }
}
