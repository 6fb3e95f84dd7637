import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

@Suite struct DerivedVerifyTests {
    @Test func `verifying names a count that is not what the members come to`() throws {
        let temporary = try TemporaryStore(.payroll)
        let store = temporary.store
        let sales = try store.add("Department")
        #expect(try store.verify().isSound)
        let forged = store.update(sales, "headcount", from: .int(0), to: .int(7))
        let parts = store.parts

        // No save makes such an entry.
        try store.writing { transaction in
            let last = try LastCommitState.current(parts, in: transaction)
            var draft = EntryDraft(parts, after: last)
            try draft.fold(EntryPayload.bytes(EntryHeader(), [forged]), in: transaction)
            let entry = try draft.append(
                recordedAt: last.head.recordedAt, occurredAt: nil, in: transaction)
            transaction.remember(
                LastCommitState(
                    JournalHead(entry), greatest: draft.greatestKnown, model: last.model,
                    pending: last.pending))
        }

        let findings = try store.verify().findings
        #expect(findings.map(\.kind) == [.derived])
        #expect(
            findings.map(\.message) == [
                "'headcount' of Department/\(sales.number) is not what it is derived from."
            ])
    }
}
