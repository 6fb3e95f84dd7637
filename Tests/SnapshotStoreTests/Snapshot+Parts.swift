import DaybookObjectModel

@testable import DaybookSnapshotStore

extension Snapshot {
    /// The number of parts in which all objects that a query may find are walked.
    func partCount(_ query: Query) throws -> Int {
        var count = 0
        try gather(query, among: nil) {
            0
        } add: { _, _, _, _, _ in
            .proceed
        } join: { _ in
            count += 1
            return .proceed
        }
        return count
    }
}
