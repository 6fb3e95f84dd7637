import DaybookJournalLog
import DaybookSnapshotStore

/// The output of `record` and `import`: an acknowledgement for each entry, or a summary for people.
final class RecordingReport {
    private let console: Console
    /// The first word of the summary: "Recorded".
    private let deed: String
    /// The sentence for no entries.
    private let nothing: String
    private var listing: Listing
    private var first: SequenceNumber?
    private var last = SequenceNumber.zero
    private var entries = 0
    private var inserts = 0
    private var updates = 0
    private var deletes = 0

    init(_ console: Console, deed: String, nothing: String) {
        self.console = console
        self.deed = deed
        self.nothing = nothing
        listing = Listing(console)
    }

    /// Acknowledges an entry that has become durable.
    func add(_ entry: Recorder.RecordedEntry?) throws {
        guard let entry else { return }
        first = first ?? entry.sequence
        last = entry.sequence
        entries += 1
        inserts += entry.inserts
        updates += entry.updates
        deletes += entry.deletes
        let record: JSONText = [
            "sequence": .unsigned(entry.sequence.rawValue),
            "digest": .string(entry.digest.description),
        ]
        try listing.append(record) {}
        if console.format != .text { try console.flush() }
    }

    /// Tells why a row is not saved.
    func refuse(_ refusal: RowRefusal) throws {
        guard console.format == .text else { return try listing.append(refusal.json) {} }
        try console.refuse(refusal.sentence)
    }

    func close() throws {
        try listing.close()
        guard console.format == .text else { return }
        guard let first else { return try console.print(nothing) }
        let deeds = [(inserts, "inserted"), (updates, "updated"), (deletes, "deleted")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        try console.print(
            (entries == 1
                ? "\(deed) entry \(first)" : "\(deed) \(entries) entries, \(first) to \(last)")
                + ": \(deeds.joined(separator: ", ")).")
    }
}
