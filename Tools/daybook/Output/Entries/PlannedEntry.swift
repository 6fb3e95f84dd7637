import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What to do if later entries are in the way, from `--on-conflict`.
enum ConflictChoice: String, CaseIterable, Sendable {
    case refuse
    case keepLater = "keep-later"
    case overwrite

    var policy: UndoPolicy {
        switch self {
        case .refuse: .refuse
        case .keepLater: .keepLater
        case .overwrite: .overwrite
        }
    }
}

/// A prepared undo, redo or restore, which is shown, or carried out and reported.
struct PlannedEntry {
    private let plan: UndoPlan
    private let choice: ConflictChoice
    private let claim: String
    private let isDry: Bool
    private let members: [JSONText.Member]

    /// Takes the effect of the entry, as it reads after "Entry 8", and the additional members of a
    /// JSON document.
    init(
        _ plan: UndoPlan, _ choice: ConflictChoice, claim: String, isDry: Bool,
        members: [JSONText.Member] = []
    ) {
        self.plan = plan
        self.choice = choice
        self.claim = claim
        self.isDry = isDry
        self.members = members
    }

    /// Opens the store, for reading only if nothing will be changed.
    static func open(_ path: String, isDry: Bool, _ console: Console) throws -> Store {
        isDry ? try StoreReading.open(path) : try StoreWriting.open(path, console)
    }

    /// Shows or saves the entry.
    ///
    /// - Throws: `StoreError` with code `undoBlocked` when something is in the way; for a dry run
    ///   also any error that saving the entry would throw.
    func carryOut(in store: Store, _ console: Console) throws {
        let request = try permitted()
        guard !isDry else {
            try PlannedChanges.show(try store.preview(request).changes, in: store.schema, console)
            try tellLeftOut(console)
            return try console.talk(PlannedChanges.farewell)
        }
        let result = try store.commit(request)
        guard let sequence = result.sequence, let digest = result.digest else {
            throw ToolError(
                .conflict, "The same has just been saved elsewhere, so nothing was left to save.")
        }
        if console.format == .text {
            try console.print("Entry \(sequence) \(claim): \(effect(of: result.changes.count)).")
        } else {
            try console.print(document(sequence, digest))
        }
        try tellLeftOut(console)
    }

    /// The request; a refusal names the options that avoid it.
    private func permitted() throws -> SaveRequest {
        do {
            return try plan.permitted()
        } catch
            where choice == .refuse && !plan.obstacles.isEmpty && plan.request.version == nil
        {
            let refusal = ToolError(error)
            throw ToolError(
                refusal.code,
                refusal.message
                    + " '--on-conflict keep-later' keeps it, '--on-conflict overwrite' overwrites it.",
                details: refusal.details)
        }
    }

    /// What the entry does. One that takes a migration back sets a model, and often changes no object.
    private func effect(of count: Int) -> String {
        let changes = count == 1 ? "1 change" : "\(count) changes"
        guard plan.request.version != nil else { return changes }
        return count == 0 ? "the model of before" : "the model of before, and \(changes)"
    }

    private func document(_ sequence: SequenceNumber, _ digest: Digest) -> JSONText {
        var all: [JSONText.Member] = [
            .init("sequence", .unsigned(sequence.rawValue)),
            .init("digest", .string(digest.description)),
        ]
        all += members
        if let undoes = plan.request.header.undoes {
            let ends = [undoes.lowerBound, undoes.upperBound].map {
                JSONText.unsigned($0.rawValue)
            }
            all.append(.init("undoes", undoes.isSingle ? ends[0] : .array(ends)))
        }
        if !plan.obstacles.isEmpty {
            all.append(.init("leftOut", .array(plan.obstacles.map { JSONText($0) })))
        }
        return .object(all)
    }

    private func tellLeftOut(_ console: Console) throws {
        for obstacle in plan.obstacles { try console.warn("left out: \(obstacle.description)") }
    }
}

extension JSONText {
    /// An omitted part, and the entry that caused it.
    fileprivate init(_ obstacle: UndoObstacle) {
        var members: [Member] = []
        if let entry = obstacle.entry { members.append(.init("entry", .unsigned(entry.rawValue))) }
        if let author = obstacle.author { members.append(.init("author", .string(author))) }
        members.append(.init("object", .string(obstacle.objectName)))
        if let property = obstacle.propertyName {
            members.append(.init("property", .string(property)))
        }
        members.append(.init("message", .string(obstacle.description)))
        self = .object(members)
    }
}
