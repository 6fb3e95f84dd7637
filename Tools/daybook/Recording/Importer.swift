import Daybook
import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Turns the events of a foreign change stream into entries: one for each step of the source, all of
/// it or none of it.
///
/// How far each table of a stream has been imported is kept in the store, in the same LMDB transaction
/// as the entry, so that a stream that is imported again adds nothing and one that was cut off goes on,
/// be it that all tables come together or each on its own.
final class Importer {
    /// What the user says about the streams.
    struct Options {
        /// The entities of tables that have other names.
        var tables: [String: String] = [:]
        /// The attribute by which the objects of an entity are told apart.
        var keys: [String: String] = [:]
        /// Members and columns that are not known are passed over.
        var ignoresUnknown = false
        /// What the store has need not be what the stream says it was before.
        var ignoresBefore = false
        /// Events at or before a place that the stream has reached are passed over.
        var skipsRepeated = false
    }

    /// An event and its line.
    struct Received {
        let event: ForeignEvent
        let line: Int
    }

    /// The last event that was taken, and its line.
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
    /// How far each table had come before this import, by the text of the table.
    private var kept: [String: ForeignPosition] = [:]
    /// The texts of tables that have come up.
    private var texts: [ForeignTable: String] = [:]
    private var reached: [String: Reached] = [:]
    /// Where the states end in which the tables begin, as long as that is not kept.
    private var snapshots: [ForeignTable: ForeignPosition] = [:]
    /// The tables of which it is kept in this import how far they have come.
    private var advanced: Set<ForeignTable> = []

    /// The entries made in this import, by the entries of the other store that they were made of.
    private var made: [SequenceNumber: SequenceNumber] = [:]

    /// How many events repeat others of this input.
    private(set) var repeated = 0
    /// How many events of each table stand at or before the place that earlier imports reached.
    private var passedOver: [ForeignTable: Int] = [:]

    /// The tables of which events were passed over, because they stand at or before `place`, up to
    /// which earlier imports reached; whether they were among these the store cannot tell.
    var passages: [(table: ForeignTable, place: ForeignPosition, count: Int)] {
        passedOver.map { ($0.key, $0.value, text(of: $0.key)) }.sorted { $0.2 < $1.2 }
            .compactMap { table, count, text in kept[text].map { (table, $0, count) } }
    }

    /// Prepares an import.
    ///
    /// - Throws: ``ToolError`` when a key or a table is not of the model.
    init(into recorder: Recorder, _ options: Options) throws {
        self.recorder = recorder
        self.options = options
        directory = try ForeignDirectory(recorder.schema, options)
        recorder.context.name = "import"
        for (name, value) in try recorder.store.userValues() where name.hasPrefix(Self.prefix) {
            guard case .string(let text) = value, let position = ForeignPosition(text: text) else {
                throw ToolError(
                    .unreadable,
                    "What the store keeps as '\(name)' is no place in a stream; whoever has set it "
                        + "must take it away.")
            }
            kept[String(name.dropFirst(Self.prefix.count))] = position
        }
    }

    /// What the names begin with under which places are kept in the store.
    private static let prefix = "daybook.import."

    // MARK: - Steps

    /// Takes an event.
    ///
    /// - Returns: The entry that was made of the events before, if this one is of another step.
    /// - Throws: ``LineProblem`` for an event that does not fit; ``StoreError``.
    func take(_ event: ForeignEvent, line: Int) throws -> Recorder.RecordedEntry? {
        guard try isNew(event, line) else {
            directory.noteSeen(event)
            return nil
        }
        var entry: Recorder.RecordedEntry?
        if let first = open.first?.event.origin, !first.isSameStep(as: event.origin) {
            entry = try save()
        }
        open.append(Received(event: event, line: line))
        return entry
    }

    /// Saves the events of the open step as one entry; nil when nothing was left to save.
    func save() throws -> Recorder.RecordedEntry? {
        guard let first = open.first, let last = open.last else { return nil }
        try apply(open)
        directory.finishStep()
        try keep(positions(after: open))
        open.removeAll()
        let origin = first.event.origin
        let entry = try recorder.save(
            Operation.SaveNotes(author: origin.author, note: origin.note, time: origin.time),
            undoing: origin.undoes.flatMap(madeTogether), line: last.line)
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

    /// Saves what is open at the end of the input.
    func finish() throws -> Recorder.RecordedEntry? {
        let entry = try save()
        // A state counts as imported when it is there as a whole: one that was cut off is read again.
        let states = snapshots.filter { !advanced.contains($0.key) }
        if !states.isEmpty {
            try keep(states)
            try recorder.context.save()
        }
        return entry
    }

    // MARK: - Places

    private func text(of table: ForeignTable) -> String {
        texts[table] ?? table.text
    }

    /// How far the tables have come with the events of a step.
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
        // With the first change the state of a stream is there as a whole, that of its other tables, too.
        let streams = Set(positions.keys.map(\.stream))
        for (table, position) in snapshots where streams.contains(table.stream) {
            if positions[table] == nil, !advanced.contains(table) { positions[table] = position }
            snapshots[table] = nil
        }
        advanced.formUnion(positions.keys)
        return positions
    }

    /// Has the store keep how far tables have come.
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
        if let kept = kept[text(of: event.table)], let order = position.order(to: kept),
            order != .after
        {
            passedOver[event.table, default: 0] += 1
            return false
        }
        // The rows of a first state all have the place at which it was read.
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
    /// Whether an event at the same place can only be one that was there before.
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
    /// Whether the place says of later events if they were imported: events of one moment have no
    /// order, and streams without a name cannot be told apart.
    fileprivate var canBeKept: Bool {
        !stream.isEmpty && position?.precision != .time
    }

    /// Whether two events were saved in one step there.
    fileprivate func isSameStep(as other: ForeignOrigin) -> Bool {
        transaction != nil && transaction == other.transaction && stream == other.stream
            && isSnapshot == other.isSnapshot
    }
}
