import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

@Suite struct RowTableTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a table agrees with a dictionary`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = RowEncoder()
        let nothing: [UInt8] = []
        var table = RowTable()
        var expected: [GraphID: (since: UInt64?, time: Int64, holders: Int)] = [:]

        for step in 1...20_000 {
            let id = GraphID(
                store: UInt32.random(in: 0...2, using: &random),
                object: ObjectID(
                    entity: EntityNumber(rawValue: 1),
                    number: UInt64.random(in: 1...400, using: &random)))
            let time = step < 5_000 ? 0 : Int64(step)
            encoder.encode(
                since: SequenceNumber(rawValue: UInt64(step)), new: [], from: nothing.span.bytes,
                parts: 1)
            let row = try EncodedRow(encoder.bytes)
            switch Int.random(in: 0...5, using: &random) {
            case 0, 1:
                if let slot = table.slot(of: id) {
                    table.addHolder(at: slot)
                    expected[id]?.holders += 1
                } else {
                    table.insert(row, readAt: time, for: id)
                    expected[id] = (UInt64(step), time, 1)
                }
            case 2:
                if let slot = table.slot(of: id) {
                    table.set(row, readAt: time, at: slot)
                    expected[id]?.since = UInt64(step)
                    expected[id]?.time = time
                }
            case 3:
                table.forget(id)
                expected[id]?.since = nil
            default:
                table.removeHolder(of: id)
                expected[id]?.holders -= 1
                if expected[id]?.holders == 0 { expected[id] = nil }
            }
            let slot = table.slot(of: id)
            #expect((slot == nil) == (expected[id] == nil), "seed \(seed)")
        }

        #expect(table.count == expected.count)
        for (id, kept) in expected {
            let slot = try #require(table.slot(of: id), "seed \(seed)")
            #expect(table.row(at: slot)?.since.rawValue == kept.since, "seed \(seed)")
            #expect(table.time(at: slot) == kept.time, "seed \(seed)")
        }
        table.forgetAll(of: 1)
        for (id, kept) in expected {
            let slot = try #require(table.slot(of: id), "seed \(seed)")
            let since = id.store == 1 ? nil : kept.since
            #expect(table.row(at: slot)?.since.rawValue == since, "seed \(seed)")
        }
    }
}
