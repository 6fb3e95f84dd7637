import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// The differences between two states.
@Suite struct DifferenceTests {
    @Test(arguments: 1...10)
    func `differences are those of the two worlds`(seed: UInt64) throws {
        var history = try RandomHistory(seed: seed, entries: 20)
        let reader = AuditReader(history.store)
        let head = history.reference.head.rawValue

        for _ in 0..<20 {
            let older = SequenceNumber(UInt64(history.random.number(in: 0...Int(head))))
            let newer = SequenceNumber(UInt64(history.random.number(in: 0...Int(head))))
            let expected = ReferenceModel.changes(
                from: history.reference.world(at: older), to: history.reference.world(at: newer),
                history.store.schema)

            let found = try reader.differences(from: older, to: newer)

            #expect(
                found == expected.sorted { $0.object < $1.object },
                "seed \(seed), from \(older) to \(newer)")
        }
    }

    @Test func `a state does not differ from itself`() throws {
        let story = try AtlasStory.write()

        #expect(
            try AuditReader(story.store).differences(
                from: SequenceNumber(4), to: SequenceNumber(4)
            ).isEmpty)
    }
}
