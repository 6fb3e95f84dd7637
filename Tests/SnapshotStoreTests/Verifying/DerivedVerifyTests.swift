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

        try store.forge([forged])

        let findings = try store.verify().findings
        #expect(findings.map(\.kind) == [.derived])
        #expect(
            findings.map(\.message) == [
                "'headcount' of Department/\(sales.number) is not what it is derived from."
            ])
    }
}
