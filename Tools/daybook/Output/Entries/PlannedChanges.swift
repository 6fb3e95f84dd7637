import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// The output of dry runs.
enum PlannedChanges {
    /// Said last.
    static let farewell = "Nothing was changed: this was a dry run."

    /// Prints changes as `show` does.
    static func show(_ changes: [Change], in schema: Schema, _ console: Console) throws {
        var listing = Listing(console)
        let text = EntryText(console.palette)
        for change in changes {
            let audit = AuditChange(change, in: schema)
            try listing.append(members: { $0.append(audit) }) {
                try console.printLines(text.lines(of: audit, indentation: ""))
            }
        }
        try listing.close()
    }
}
