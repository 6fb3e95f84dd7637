import DaybookAudit
import DaybookObjectModel

/// `daybook import NEW FILE --format coredata --model MODEL`: a store from that of Core Data.
struct CoreDataImport {
    let options: CoreDataImporter.Options
    let console: Console

    /// Makes the store.
    func run(
        from source: String, to path: String, _ model: ManagedObjectModel,
        _ report: RecordingReport
    ) throws {
        let progress = console.progress("Reading object")
        defer { progress.finish() }
        let result = try CoreDataImporter(options) { progress.advance() }
            .run(from: source, to: path, model)
        progress.finish()
        for entry in result.entries {
            try report.add(
                Recorder.RecordedEntry(
                    sequence: entry.sequence, digest: entry.digest, inserts: entry.inserts,
                    updates: entry.updates, deletes: 0))
        }
        try report.close()
        try tellOmitted(result)
    }

    private func tellOmitted(_ result: CoreDataImporter.Result) throws {
        for name in result.suspects {
            try console.warn(
                "Every value of '\(name)' begins with the byte 1, as the values of an attribute that "
                    + "allows external storage do. If it is one, import with '--external \(name)'.")
        }
        if result.deletedCount > 0 {
            try console.talk(
                result.deletedCount == 1
                    ? "1 deleted object is in the history only; the source keeps nothing of it."
                    : "\(result.deletedCount) deleted objects are in the history only; the source "
                        + "keeps nothing of them.")
        }
        if result.emptyCount > 0 {
            try console.talk(
                result.emptyCount == 1
                    ? "1 transaction has no entry of its own, because later ones set the same values."
                    : "\(result.emptyCount) transactions have no entries of their own, because later ones "
                        + "set the same values.")
        }
    }
}
