import Daybook
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

    /// Shows what the open entry of a recorder would be if it were saved in this line.
    ///
    /// - Throws: What the save would throw.
    static func show(of recorder: Recorder, line: Int, _ console: Console) throws {
        let preview = try recorder.context.previewSave()
        if let refusal = preview.refusal {
            throw EntryDiagnosis(recorder).problem(refusal, savedInLine: line)
        }
        try show(preview.changes, in: recorder.schema, console)
        try console.talk(farewell)
    }
}
