import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import Foundation

// The room of the journal as a whole, and of how times grow with its length. Daybook alone.

/// (v), (r) and (j): a journal read from its first entry to its last.
///
/// The journal has the shape of ``ScalingStore``. The peers keep no journal that they could check,
/// replay or export.
struct JournalWork: Workload {
    enum Task: String {
        case verify = "v"
        case replay = "r"
        case export = "j"
    }

    let task: Task
    let journal: SampleJournal

    let measure = Measure.perSecond
    var letter: String { task.rawValue }
    var target: Target? {
        switch task {
        case .verify, .replay: .figure(400_000, aim: 1_000_000)
        case .export: .figure(300_000, aim: 1_000_000)
        }
    }
    var title: String {
        let changes = journal.changes.grouped
        return switch task {
        case .verify: "journal of \(changes) changes verified"
        case .replay: "its tables rebuilt from it"
        case .export: "it exported as JSON Lines"
        }
    }

    func concerns(_ contender: any Contender.Type) -> Bool {
        contender == DaybookContender.self
    }

    func measure(_ stage: Stage) throws -> Double {
        switch task {
        case .verify: try verify(stage)
        case .replay: try replay(stage)
        case .export: try export(stage)
        }
    }

    private func verify(_ stage: Stage) throws -> Double {
        let path = try journal.path()
        var findings = -1
        let rate = try rate(journal.changes) {
            findings = try Store.verify(path: path).findings.count
        }
        try stage.expect(0, "the number of findings", findings)
        return rate
    }

    private func replay(_ stage: Stage) throws -> Double {
        let store = try Store.open(at: journal.path(), options: SampleJournal.options)
        let before = try store.projectionDigest()
        let rate = try rate(journal.changes) { try store.rebuild() }
        let isSame = try store.projectionDigest() == before
        try stage.expect(1, "the sameness of the tables", isSame ? 1 : 0)
        try store.close()
        return rate
    }

    private func export(_ stage: Stage) throws -> Double {
        let reader = try AuditReader(path: journal.path())
        let target = try stage.makeFolder("export").appendingPathComponent("journal.jsonl")
        try Data().write(to: target)
        let file = try FileHandle(forWritingTo: target)
        var lines = 0
        let rate = try rate(journal.changes) {
            try AuditExport(of: reader).write(JSONLinesFormat()) { bytes in
                lines += 1
                try file.write(contentsOf: bytes)
            }
            try file.close()
        }
        try FileManager.default.removeItem(at: target)
        // The opening and the closing of the export count as pieces, too, even if empty.
        try stage.expect(journal.entries + 2, "the number of pieces", lines)
        return rate
    }
}

/// A journal that is made once and read in every round.
final class SampleJournal {
    static let options = StoreOptions(durability: .relaxed)

    let changes: Int
    /// The number of entries, including the one with the model.
    private(set) var entries = 0
    private var folder: TemporaryFolder?

    init(changes: Int) {
        self.changes = changes
    }

    /// Its location; it is made on first use.
    func path() throws -> String {
        if let folder { return Self.path(in: folder) }
        let made = try TemporaryFolder()
        let store = try ScalingStore(at: Self.path(in: made), changes: changes).store
        entries = Int(try store.head().rawValue)
        try store.close()
        folder = made
        return Self.path(in: made)
    }

    private static func path(in folder: TemporaryFolder) -> String {
        folder.url.appendingPathComponent("journal.daybook").path
    }
}
