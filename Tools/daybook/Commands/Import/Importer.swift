import Daybook
import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Turns the events of a foreign change stream into entries: one for each step of the source, all of
/// it or none of it.
///
/// The position reached in each table of a stream is kept in the store, in the same LMDB
/// transaction as the entry, so that importing a stream again adds nothing and an interrupted one
/// continues, whether all tables come together or one by one.
final class Importer {
    /// The user's options for the streams.
    struct Options {
        /// The entities of tables that have other names.
        var tables: [String: String] = [:]
        /// The attribute that identifies the objects of an entity.
        var keys: [String: String] = [:]
        /// Unknown members and columns are skipped.
        var ignoresUnknown = false
        /// The values in the store may differ from the stream's old values.
        var ignoresBefore = false
        /// Events at or before a position already reached are skipped.
        var skipsRepeated = false
        /// The positions that earlier imports have reached do not count.
        var forgetsPositions = false
    }

    /// An event and its line.
    struct Received {
        let event: ForeignEvent
        let line: Int
    }

    /// The last accepted event, and its line.
    fileprivate struct Reached {
        let origin: ForeignOrigin
        let position: ForeignPosition
        let line: Int
        /// Whether events before it have come since.
        var isRewound = false
    }

    let recorder: Recorder
    let options: Options
    var directory: ForeignDirectory
    private var open: [Received] = []
    /// The position of each table before this import, by the text of the table.
    private var kept: [String: ForeignPosition] = [:]
    /// The texts of the tables seen so far.
    private var texts: [ForeignTable: String] = [:]
    private var reached: [String: Reached] = [:]
    /// The ends of the tables' initial states, until they are kept.
    private var snapshots: [ForeignTable: ForeignPosition] = [:]
    /// The tables whose positions this import has kept.
    private var advanced: Set<ForeignTable> = []

    /// The entries made in this import, by their original entries in the other store.
    private var made: [SequenceNumber: SequenceNumber] = [:]

    /// The number of events that repeat others of this input.
    private(set) var repeated = 0
    /// The number of events of each table at or before the position that earlier imports reached.
    private var passedOver: [ForeignTable: Int] = [:]

    /// The tables with skipped events, because they are at or before `position`, which earlier
    /// imports reached; the store cannot say whether those imports included them.
    var passages: [(table: ForeignTable, position: ForeignPosition, count: Int)] {
        passedOver.map { ($0.key, $0.value, text(of: $0.key)) }.sorted { $0.2 < $1.2 }
            .compactMap { table, count, text in kept[text].map { (table, $0, count) } }
    }

    /// Prepares an import.
    ///
    /// - Throws: ``ToolError`` when a key or a table is not in the model.
    init(into recorder: Recorder, _ options: Options) throws {
        self.recorder = recorder
        self.options = options
        directory = try ForeignDirectory(recorder.schema, options)
        recorder.context.name = "import"
        for (name, value) in try recorder.store.userValues() where name.hasPrefix(Self.prefix) {
            guard case .string(let text) = value, let position = ForeignPosition(text: text) else {
                throw ToolError(
                    .unreadable,
                    "What the store keeps as '\(name)' is not a place in a stream. Remove it with "
                        + "the program that set it.")
            }
            guard !options.forgetsPositions else { continue }
            kept[String(name.dropFirst(Self.prefix.count))] = position
        }
    }

    /// The prefix of the names under which the store keeps positions.
    private static let prefix = "daybook.import."

    // MARK: - Steps

    /// Takes an event.
    ///
    /// - Returns: The entry made of the events before, if this one belongs to another step.
    /// - Throws: ``LineProblem`` for an event that does not fit; ``StoreError``.
    func take(_ event: ForeignEvent, line: Int) throws -> Recorder.RecordedEntry? {
        guard try isNew(event, line) else {
            directory.rememberSeen(event)
            return nil
        }
        var entry: Recorder.RecordedEntry?
        if let first = open.first?.event.origin, !first.isSameStep(as: event.origin) {
            entry = try save()
        }
        open.append(Received(event: event, line: line))
        return entry
    }

    /// Saves the events of the open step as one entry; nil if there was nothing to save.
    func save() throws -> Recorder.RecordedEntry? {
        guard let first = open.first, let last = open.last else { return nil }
        try apply(open)
        directory.finishStep()
        try keep(positions(after: open))
        open.removeAll()
        let origin = first.event.origin
        // What was overruled here is not what the entries there have changed and taken back.
        let undone = options.ignoresBefore ? nil : origin.undoes.flatMap(madeTogether)
        let entry = try recorder.save(
            Operation.SaveNotes(
                author: origin.author, note: origin.note, info: origin.info, time: origin.time),
            undoing: undone, line: last.line)
        if let source = origin.sequence { made[source] = entry?.sequence }
        return entry
    }

    /// The entries that were made of a run of entries of the other store; nil when one of them was not
    /// imported this time, or when others have saved in between.
    private func madeTogether(
        of run: ClosedRange<SequenceNumber>
    ) -> ClosedRange<SequenceNumber>? {
        guard let first = made[run.lowerBound] else { return nil }
        var (source, last) = (run.lowerBound, first)
        while source < run.upperBound {
            source = source.next
            guard made[source] == last.next else { return nil }
            last = last.next
        }
        return first...last
    }

    /// Saves the open step at the end of the input.
    func finish() throws -> Recorder.RecordedEntry? {
        let entry = try save()
        // An initial state counts as imported only when complete: an interrupted one is read again.
        let states = snapshots.filter { !advanced.contains($0.key) }
        if !states.isEmpty {
            try keep(states)
            try recorder.context.save()
        }
        return entry
    }

    // MARK: - Positions

    private func text(of table: ForeignTable) -> String {
        texts[table] ?? table.text
    }

    /// The positions of the tables after the events of a step.
    private func positions(after step: [Received]) -> [ForeignTable: ForeignPosition] {
        var positions: [ForeignTable: ForeignPosition] = [:]
        for received in step {
            let (table, origin) = (received.event.table, received.event.origin)
            guard let position = origin.position, origin.canBeKept else { continue }
            if origin.isSnapshot {
                snapshots[table] = position
            } else {
                positions[table] = position
            }
        }
        // With the first change, the initial state of a stream is complete, in all its tables.
        let streams = Set(positions.keys.map(\.stream))
        for (table, position) in snapshots where streams.contains(table.stream) {
            if positions[table] == nil, !advanced.contains(table) { positions[table] = position }
            snapshots[table] = nil
        }
        advanced.formUnion(positions.keys)
        return positions
    }

    /// Has the store keep the positions of tables.
    private func keep(_ positions: [ForeignTable: ForeignPosition]) throws {
        guard !positions.isEmpty else { return }
        let values = positions.map { (Self.prefix + text(of: $0.key), Value.string($0.value.text)) }
        try recorder.keep(Dictionary(values) { first, _ in first })
    }

    // MARK: - Order

    /// Whether an event is still to be imported.
    private func isNew(_ event: ForeignEvent, _ line: Int) throws -> Bool {
        let origin = event.origin
        guard let position = origin.position else { return true }
        if texts[event.table] == nil { texts[event.table] = event.table.text }
        if let kept = kept[text(of: event.table)] {
            guard !position.contradicts(kept) else {
                throw otherJournal(position, event.table, line)
            }
            switch position.order(to: kept) {
            case .after: break
            case .before, .same:
                passedOver[event.table, default: 0] += 1
                return false
            case nil:
                // A state may be read again, and a time alone says nothing in any case.
                guard origin.isSnapshot || !origin.canBeKept else {
                    throw incomparable(position, to: kept, in: event.table, line)
                }
            }
        }
        // All rows of an initial state have the position at which it was read.
        guard !origin.isSnapshot else { return true }
        if let last = reached[origin.stream], let order = position.order(to: last.position) {
            let isRepeated = order == .same && last.excludes(origin, position.precision)
            if isRepeated || order == .before {
                guard options.skipsRepeated else {
                    throw outOfOrder(position, after: last, isRepeated: isRepeated, line)
                }
                reached[origin.stream]?.isRewound = true
                repeated += 1
                return false
            }
        }
        reached[origin.stream] = Reached(origin: origin, position: position, line: line)
        return true
    }

    private func otherJournal(
        _ position: ForeignPosition, _ table: ForeignTable, _ line: Int
    ) -> LineProblem {
        LineProblem(
            "The event at \(position) is not the one up to which '\(table.name)' was imported: its entry "
                + "has another digest. The source was put back to an earlier state and written on, "
                + "or is another copy of that store; import it into a store of its own.",
            code: .conflict, line: line)
    }

    private func incomparable(
        _ position: ForeignPosition, to kept: ForeignPosition, in table: ForeignTable, _ line: Int
    ) -> LineProblem {
        LineProblem(
            "'\(table.name)' was imported up to \(kept), and the event is at \(position): nothing says "
                + "whether it was imported. Leave out what was, and use '--forget-positions' to "
                + "import the rest.", code: .conflict, line: line)
    }

    private func outOfOrder(
        _ position: ForeignPosition, after last: Reached, isRepeated: Bool, _ line: Int
    ) -> LineProblem {
        LineProblem(
            (isRepeated
                ? "The event at \(position) was in line \(last.line) already. "
                : "The event at \(position) comes after the one at \(last.position) in line "
                    + "\(last.line): the stream goes back. ")
                + "Put the events in order, or use '--skip-repeated' if it only repeats what came "
                + "before.", code: .conflict, line: line)
    }
}

extension Importer.Reached {
    /// Whether an event at the same position can only be a repetition.
    fileprivate func excludes(
        _ origin: ForeignOrigin, _ precision: ForeignPosition.Precision
    ) -> Bool {
        switch precision {
        case .event: true
        case .step: isRewound || !self.origin.isSameStep(as: origin)
        case .time: isRewound
        }
    }
}

extension ForeignOrigin {
    /// Whether the position shows if later events were imported: events of one moment have no
    /// order, and streams without a name cannot be distinguished.
    fileprivate var canBeKept: Bool {
        !stream.isEmpty && position?.precision != .time
    }

    /// Whether two events were saved in one step there.
    fileprivate func isSameStep(as other: ForeignOrigin) -> Bool {
        transaction != nil && transaction == other.transaction && stream == other.stream
            && isSnapshot == other.isSnapshot
    }
}
