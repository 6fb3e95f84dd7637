internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// One run over an open store.
struct Verification {
    let store: Store
    private let checkpoint: Checkpoint?
    var pending = PendingIndexes()
    var report: VerifyReport
    private var data: DataCheck
    private var states: StateCheck

    var parts: StoreParts { store.parts }

    /// Whether there are references to large data and no table to look for them in.
    var lacksChunks: Bool { data.lacksTable }

    /// Whether there are states of projections and no table to look for them in.
    var lacksStates: Bool { states.lacksTable }

    init(
        _ store: Store, _ report: VerifyReport, _ chunks: ChunkTable?, _ states: Table?,
        _ checkpoint: Checkpoint?
    ) {
        self.store = store
        data = DataCheck(chunks, store.schema)
        self.states = StateCheck(states, store.parts)
        self.report = report
        self.checkpoint = checkpoint
    }

    mutating func run(
        in transaction: borrowing ReadTransaction, _ progress: (String, Double) -> Void
    ) throws {
        try reporting("metadata", .metadata) { try $0.checkMetadata(in: transaction) }
        var account: ProjectionAccount?
        try reporting("journal", .journal) { run in
            account = try run.checkJournal(in: transaction, progress)
        }
        try reporting("tables", .projection) { run in
            if let account, try run.balances(account, in: transaction) { return }
            try run.replay(in: transaction, progress)
        }
        try reporting("references", .reference) { try $0.checkReferences(in: transaction) }
        progress("references", 1)
        if report.findings.isEmpty {
            try reporting("derived values", .derived) { try $0.checkDerived(in: transaction) }
        }
        try reporting("large data", .data) { run in
            try run.data.run(in: transaction) { progress("data", $0) }
        }
        report.findings += data.findings
        try reporting("projections of programs", .state) { run in
            try run.states.run(in: transaction) { progress("states", $0) }
        }
        report.findings += states.findings
        try reporting("checkpoint", .journal) { [checkpoint] run in
            try run.compare(with: checkpoint, in: transaction)
        }
    }

    /// Carries out a step. The pages of an open store are not checked before, so a damaged one may end a step: that is a
    /// finding, and the others go on.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read for another reason.
    private mutating func reporting(
        _ what: String, _ kind: VerifyFinding.Kind,
        _ step: (inout Verification) throws -> Void
    ) throws {
        do {
            try step(&self)
        } catch {
            let error = StoreError(wrapping: error, path: store.path)
            guard error.code == .corrupt else { throw error }
            // Several steps may come to the same page.
            if !report.findings.contains(where: { $0.message == error.message }) {
                report.add(error.cause is LMDBError ? .page : kind, what, error.message)
            }
            report.gaps.append(
                "The \(what) could be checked only in part, because something there cannot be read. Close "
                    + "the store and run 'daybook verify', which looks at every page.")
        }
    }

    /// Compares the journal with the checkpoint, whatever is wrong with all that is derived from it or kept beside it.
    private mutating func compare(
        with checkpoint: Checkpoint?, in transaction: borrowing ReadTransaction
    ) throws {
        guard let checkpoint else { return }
        guard !report.findings.contains(where: { $0.kind == .journal }) else {
            return report.leaveOut(checkpoint, because: "the journal is damaged")
        }
        report.flaw = try store.flaw(of: checkpoint, in: transaction)
        report.isCheckpointCompared = true
    }

    /// Whether the tables are what the journal gives, by a quick account that does not show where
    /// they differ.
    private mutating func balances(
        _ account: ProjectionAccount, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard report.findings.isEmpty, try account.comesOutEven(in: transaction) else {
            return false
        }
        report.recordsCompared = account.count
        return true
    }

    /// Replays the journal into a scratch store and compares every record.
    private mutating func replay(
        in transaction: borrowing ReadTransaction, _ progress: (String, Double) -> Void
    ) throws {
        let isSoundSoFar = report.findings.isEmpty
        do {
            let scratch = try ScratchStore(of: store, pending)
            let folded = try fold(into: scratch, in: transaction, progress)
            if folded == report.head {
                try compare(with: scratch, in: transaction, progress)
            } else {
                report.gaps.append(
                    "The tables were not compared with the journal, which can be followed only to "
                        + "entry \(folded).")
                try checkDecoding(in: transaction)
            }
        } catch let failure as ScratchStore.Failure {
            // Earlier findings stay, and the account has already shown that something is wrong.
            if isSoundSoFar {
                report.add(.projection, "tables", "The tables do not follow from the journal.")
            }
            report.gaps.append(
                "The tables were not compared with the journal record by record, because no temporary "
                    + "store could be made: \(failure.message) Set TMPDIR to a folder with room, and "
                    + "verify again.")
        }
    }

    // MARK: - Steps

    /// - Returns: The account of the entries against the tables.
    private mutating func checkJournal(
        in transaction: borrowing ReadTransaction, _ progress: (String, Double) -> Void
    ) throws -> ProjectionAccount {
        var findings: [JournalFinding] = []
        let account = ProjectionAccount(parts, pending)
        report.head = try lastEntry(in: transaction)
        defer {
            for finding in findings {
                let place = finding.sequence.map { "entry \($0)" } ?? "journal"
                report.add(.journal, place, finding.message)
            }
        }
        try parts.journal.verify(
            in: transaction, { findings.append($0) },
            follow: { entry in
                try account.follow(entry, in: transaction)
                data.follow(entry)
            },
            progress: { done, last in progress("journal", fraction(done, last)) })
        if findings.isEmpty { report.headDigest = try parts.journal.headDigest(in: transaction) }
        return account
    }

    /// Folds as many entries as can be trusted.
    ///
    /// - Returns: The last one.
    private mutating func fold(
        into scratch: ScratchStore, in transaction: borrowing ReadTransaction,
        _ progress: (String, Double) -> Void
    ) throws -> SequenceNumber {
        var reached = SequenceNumber.zero
        var waiting: [JournalEntry] = []
        func foldWaiting() throws {
            guard let last = waiting.last?.sequence else { return }
            defer { waiting = [] }
            do {
                try scratch.fold(waiting)
            } catch is StoreError where waiting.count > 1 {
                // One of them does not fit; folded singly, those before it still count.
                for entry in waiting {
                    try scratch.fold([entry])
                    reached = entry.sequence
                }
            }
            reached = last
            progress("replay", fraction(reached, report.head))
        }
        do {
            var failure: (any Error)?
            do {
                try parts.journal.entries(
                    from: SequenceNumber(1), through: report.head, in: transaction
                ) { entry in
                    // An entry that cannot be decoded ends the walk; those before it still count.
                    _ = try Entry(entry)
                    waiting.append(entry)
                    if waiting.count == Self.foldedTogether { try foldWaiting() }
                    return .proceed
                }
            } catch {
                failure = StoreError(wrapping: error, path: store.path)
            }
            try foldWaiting()
            if let failure { throw failure }
        } catch let error as StoreError where error.code == .corrupt {
            // The journal's own check has reported an entry with the wrong digest.
            let isKnown = report.findings.contains {
                $0.kind == .journal || $0.message == error.message
            }
            if !isKnown { report.add(.journal, "entry \(reached.next)", error.message) }
        }
        return reached
    }

    private static let foldedTogether = 256

    private mutating func compare(
        with scratch: ScratchStore, in transaction: borrowing ReadTransaction,
        _ progress: (String, Double) -> Void
    ) throws {
        let tables = parts.tables.projection
        for (position, table) in tables.enumerated() {
            progress("tables", Double(position) / Double(tables.count))
            let twin = try scratch.table(table.name)
            var comparison = TableComparison(table, twin, store.schema)
            try reporting("table '\(table.name)'", .projection) { _ in
                try scratch.read { theirs in try comparison.run(transaction, theirs) }
            }
            report.recordsCompared += comparison.count
            report.findings += comparison.findings
        }
    }

    /// Checks that rows can be decoded, which needs no journal to compare with.
    private mutating func checkDecoding(in transaction: borrowing ReadTransaction) throws {
        for table in [parts.tables.rows, parts.tables.versions] {
            var broken: [(String, any Error)] = []
            let start: [UInt8] = []
            try transaction.scan(
                table.unchecked, from: start.span.bytes, to: nil, order: .ascending
            ) { key, stored in
                do {
                    guard table.accepts(key, stored: stored) else {
                        throw DecodingFailure(at: stored.byteCount, expected: "a check that fits")
                    }
                    let value = stored.extracting(droppingLast: table.checkSize)
                    var reader = KeyReader()
                    let object = try reader.object(key)
                    let entity = parts.projection.foldedEntity(object.entity)?.layout
                    let layout = try RowLayout(value)
                    _ = try layout.values(in: value)
                    _ = try layout.origins(
                        in: value,
                        relationships: entity?.relationshipCount(at: layout.since) ?? 0)
                } catch {
                    let record = StoreRecord(key: key.array, value: [])
                    broken.append((record.place(in: table, store.schema), error))
                }
                return .proceed
            }
            for (place, error) in broken {
                report.add(.projection, place, "The record of \(place) cannot be read: \(error).")
            }
        }
    }

    /// Checks that every reference leads to an object, unless the model lets it dangle, and back again where the
    /// relationship is its own inverse: both ends are stored then.
    private mutating func checkReferences(in transaction: borrowing ReadTransaction) throws {
        let schema = store.schema
        // A record whose check does not fit has been reported; here only keys count.
        let referrers = parts.tables.referrers
        let rows = parts.tables.rows.unchecked
        var lost: [Link] = []
        var oneSided: [Link] = []
        let start: [UInt8] = []
        try transaction.scan(
            referrers.unchecked, from: start.span.bytes, to: nil, order: .ascending
        ) { key, stored in
            // The comparison has found keys that are not those of a connection.
            guard key.byteCount == StoreKey.linkSize,
                stored.byteCount == 8 + referrers.checkSize
            else {
                return .proceed
            }
            let link = try Link(key, stored.extracting(droppingLast: referrers.checkSize))
            let target = StoreKey.object(link.object)
            guard let property = schema.property(link.property) else { return .proceed }
            guard try transaction.contains(rows, target.span.bytes) else {
                if !schema.leavesDangling(property) { lost.append(link) }
                return .proceed
            }
            if property.isSelfInverse {
                let back = StoreKey.link(from: link.other, link.property, to: link.object)
                if try !transaction.contains(referrers.unchecked, back.span.bytes) {
                    oneSided.append(link)
                }
            }
            return .proceed
        }
        for link in lost {
            let property = schema.property(link.property)?.name ?? "?"
            let place = "'\(property)' of \(schema.name(of: link.other))"
            report.add(
                .reference, place,
                "\(place) refers to \(schema.name(of: link.object)), which does not exist.")
        }
        for link in oneSided {
            let property = schema.property(link.property)?.name ?? "?"
            let place = "'\(property)' of \(schema.name(of: link.other))"
            report.add(
                .reference, place,
                "\(place) refers to \(schema.name(of: link.object)), which does not refer back, "
                    + "though the relationship is its own inverse.")
        }
    }

    /// Checks that counts, sums and extremes are what the members come to. Forms of texts are left out:
    /// they are those of the release that saved them.
    private mutating func checkDerived(in transaction: borrowing ReadTransaction) throws {
        let schema = parts.projection.schema
        let checked = schema.derivations.filter { $0.relationship != nil }.map(\.property)
        guard !checked.isEmpty else { return }
        let corrections = try DerivedValues.completed(
            [], parts.projection, renewing: Set(checked), in: transaction)
        for change in corrections {
            guard case .update(let edits, _) = change.kind else { continue }
            for edit in edits {
                let name = schema.entity(change.object.entity)?.property(edit.property)?.name
                let place = "'\(name ?? "?")' of \(schema.name(of: change.object))"
                report.add(.derived, place, "\(place) is not what it is derived from.")
            }
        }
    }

    private func fraction(_ done: SequenceNumber, _ last: SequenceNumber) -> Double {
        Double(done.rawValue) / Double(max(1, last.rawValue))
    }
}
