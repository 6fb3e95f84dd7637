import CDaybookTerminal
import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension Browser {
    // MARK: - Going

    /// Goes to what somebody has typed.
    mutating func go(to text: String) throws {
        if text.contains("/"), let name = ObjectName(text) {
            return open(.object(try StoreReading.object(name, in: schema)))
        }
        guard let moment = JournalPosition(text) else {
            throw ToolError.usage("'\(text)' is no entry, time, tag or object.")
        }
        select(try StoreReading.entry(at: moment, in: store))
        isOnRight = false
    }

    // MARK: - Searching

    /// How many entries are read between two looks at the keys.
    private static let entriesBetweenLooks: UInt64 = 128

    /// Goes to the next entry in which the text occurs, at the end of the journal on from its other end; any key ends
    /// a long search, and another size of the terminal does not.
    mutating func search(
        onwards isOlder: Bool, on screen: Screen, includingThis: Bool = false
    ) throws {
        guard !wanted.isEmpty, head > .zero else {
            message = "Nothing was searched for yet: '/' does."
            return
        }
        let (here, last) = (selected.rawValue, head.rawValue)
        let (older, newer) = (1..<(includingThis ? here + 1 : here), here + 1..<last + 1)
        let parts: [Range<UInt64>] = isOlder ? [older, newer] : [newer, older]
        for (part, range) in parts.enumerated() {
            switch try find(in: range, newestFirst: isOlder, on: screen) {
            case .nothing: continue
            case .ended: return
            case .entry(let sequence):
                select(sequence)
                let way =
                    part == 0 ? "" : isOlder ? ", from the newest on" : ", from the oldest on"
                message =
                    "'\(DisplayText.escaped(wanted))' is in entry \(sequence)\(way). "
                    + "'n' and 'N' go on."
                return
            }
        }
        message = "'\(DisplayText.escaped(wanted))' is in no \(includingThis ? "" : "other ")entry."
    }

    /// How a search in a range comes out.
    private enum Finding {
        case nothing
        case entry(SequenceNumber)
        /// Somebody has pressed a key, or wants the command to end.
        case ended
    }

    /// The first entry of a range in which the text occurs.
    private mutating func find(
        in range: Range<UInt64>, newestFirst: Bool, on screen: Screen
    ) throws -> Finding {
        var (values, notes) = (AuditFilter(), AuditFilter())
        values.texts = [wanted]
        notes.notes = [wanted]
        let history = try store.modelHistory()
        let filters = try [notes, values].map { try $0.resolved(in: history, store.schema) }
        var rest = range
        while !rest.isEmpty {
            let count = min(Self.entriesBetweenLooks, UInt64(rest.count))
            let piece =
                newestFirst
                ? rest.upperBound - count..<rest.upperBound
                : rest.lowerBound..<rest.lowerBound + count
            rest =
                newestFirst
                ? rest.lowerBound..<piece.lowerBound : piece.upperBound..<rest.upperBound
            let numbers = SequenceNumber(piece.lowerBound)...SequenceNumber(piece.upperBound - 1)
            var found: SequenceNumber?
            try reader.records(
                matching: AuditFilter().narrowed(to: numbers),
                newestFirst ? .newestFirst : .oldestFirst
            ) { record in
                guard filters.contains(where: { $0.record(of: record.entry) != nil }) else {
                    return .proceed
                }
                found = record.sequence
                return .stop
            }
            if let found { return .entry(found) }
            message = "Searching, at entry \(piece.lowerBound) …"
            draw(on: screen)
            guard !isInterrupted(on: screen) else {
                message = "The search has ended at entry \(piece.lowerBound)."
                return .ended
            }
        }
        return .nothing
    }

    /// Whether somebody wants a search to end.
    private mutating func isInterrupted(on screen: Screen) -> Bool {
        while let key = screen.key(within: 0) {
            switch key {
            case Int32(SCREEN_RESIZED):
                screen.redraw()
                draw(on: screen)
            case Int32(SCREEN_CLOSED):
                isEnded = true
                return true
            default: return true
            }
        }
        return Interruption.isThere
    }

    /// Shows all of a line that is wider than the page.
    mutating func showWhole(_ line: BrowserLine) {
        guard DisplayText.width(of: line.text) > pageWidth else { return }
        open(.text(title: "The whole line", lines: line.wrapped(to: pageWidth)))
    }

    // MARK: - Looking

    /// Who wrote each value of the object that is shown or chosen.
    mutating func showBlame() throws {
        guard let object = objectMeant() else {
            message = "Choose an object first."
            return
        }
        let name = schema.name(of: object)
        guard let blames = try store.blame(of: object, at: selected) else {
            message = "There was no '\(name)' yet."
            return
        }
        let width = blames.map { DisplayText.width(of: $0.property.name) }.max() ?? 0
        let lines = blames.map { blame in
            let value =
                blame.property.relationship?.isToMany == true
                ? "\(blame.members.count) objects"
                : EntryText.text(
                    of: AuditValue(blame.value, type: blame.property.attribute?.type, in: schema),
                    within: EntryText.Bounds())
            let author = blame.author.map { " by \(DisplayText.escaped($0))" } ?? ""
            let note = Self.firstLine(of: blame.note).map { ": \($0)" }
            return BrowserLine(
                blame.property.name.padding(to: width + 2) + DisplayText.truncated(value, to: 40)
                    + "  entry \(blame.sequence), \(EntryText.time(blame.time).prefix(16))\(author)"
                    + (note ?? ""),
                to: .entry(blame.sequence))
        }
        open(.text(title: "Who wrote \(name), as of entry \(selected)", lines: lines))
    }

    private mutating func objectMeant() -> ObjectID? {
        if case .object(let object) = page.page { return object }
        let lines = lines()
        guard page.line < lines.count, case .object(let object)? = lines[page.line].target else {
            return nil
        }
        return object
    }

    /// What differs between the marked entry and this one.
    mutating func showDifference() throws {
        guard let marked, marked != selected else {
            message = "Mark another entry with 'm' first."
            return
        }
        let (older, newer) = (min(marked, selected), max(marked, selected))
        let differences = try reader.differences(from: older, to: newer)
        open(
            .text(
                title: "From entry \(older) to entry \(newer)",
                lines: lines(of: differences, none: "Nothing differs.")))
    }

    private func lines(of changes: [Change], none: String) -> [BrowserLine] {
        let text = EntryText(Palette(isColored: false), within: EntryText.Bounds())
        guard !changes.isEmpty else { return [BrowserLine(none, .faint)] }
        var lines: [BrowserLine] = []
        for change in changes.prefix(Self.changesMaximum) {
            let readable = AuditChange(change, in: schema)
            lines.append(
                BrowserLine(
                    "\(text.verb(readable.operation)) \(readable.object)\(text.reason(of: readable))",
                    Screen.Look(readable.operation), to: .object(change.object)))
            lines += text.details(of: readable, indentation: "    ").map { BrowserLine($0) }
        }
        if changes.count > Self.changesMaximum {
            let rest = changes.count - Self.changesMaximum
            lines.append(BrowserLine("… and \(rest) more", .faint))
        }
        return lines
    }

    private static let changesMaximum = 1_000

    // MARK: - Changing

    func checkEditing() throws {
        guard canEdit else {
            throw ToolError.usage("The store is only read: 'daybook browse --edit' may change it.")
        }
        guard head > .zero else { throw ToolError.usage("There is no entry yet.") }
    }

    mutating func tag(_ name: String) throws {
        let tag = try store.setTag(name, at: selected, author: author, note: nil, existing: .refuse)
        try readTags()
        forget()
        message = "Entry \(tag.sequence) is tagged '\(DisplayText.escaped(tag.name))'."
    }

    /// Shows what undoing the entry would do, and waits for a yes.
    mutating func planUndo() throws {
        try checkEditing()
        let request = try undoRequest(of: selected)
        let changes = try store.preview(request).changes
        let sequence = selected
        open(
            .text(
                title: "Undo entry \(sequence)? 'y' does it, any other key does not.",
                lines: lines(of: changes, none: "Nothing would change.")))
        plannedUndo = sequence
    }

    mutating func undo(_ sequence: SequenceNumber) throws {
        back()
        let result = try store.commit(try undoRequest(of: sequence))
        try follow()
        guard let entry = result.sequence else {
            message = "Nothing was left to undo."
            return
        }
        select(entry)
        begin(with: .changes)
        message = "Entry \(entry) takes entry \(sequence) back."
    }

    private func undoRequest(of sequence: SequenceNumber) throws -> SaveRequest {
        try store.undoPlan(of: sequence...sequence, policy: .refuse, author: author).permitted()
    }
}
