import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension Browser {
    /// The width below which only one side is seen at a time.
    private static let widthOfOneSide = 70

    /// Draws everything.
    mutating func draw(on screen: Screen) {
        screen.begin()
        let (rows, columns) = (screen.rows, screen.columns)
        guard rows >= 4, columns >= 20 else {
            screen.put("Too small", row: 0, column: 0, width: columns)
            return screen.show()
        }
        drawHead(on: screen, columns)
        let height = rows - 2
        let isNarrow = columns < Self.widthOfOneSide
        let left = isNarrow ? columns : min(64, max(30, columns * 2 / 5))
        if !isNarrow || !isOnRight { drawEntries(on: screen, left, height) }
        if isNarrow {
            if isOnRight { drawPage(on: screen, 0, columns, height) }
        } else {
            drawPage(on: screen, left + 1, columns - left - 1, height)
        }
        let cursor = drawFoot(on: screen, rows - 1, columns)
        screen.show(cursor: cursor)
    }

    private mutating func drawHead(on screen: Screen, _ columns: Int) {
        var text = " \(DisplayText.escaped(name))  "
        if head == .zero {
            text += "no entry yet"
        } else {
            let heading = heading(of: selected)
            text += "entry \(selected) of \(head)"
            if let heading { text += "  " + EntryText.time(heading.time) }
            if let author = heading?.author { text += "  by \(DisplayText.escaped(author))" }
        }
        screen.put(text, row: 0, column: 0, width: columns, .strong, isReversed: true)
    }

    /// The entries, newest first, and beside them where among all of them they stand.
    private mutating func drawEntries(on screen: Screen, _ width: Int, _ height: Int) {
        keepSelectedSeen(height)
        let digits = String(head.rawValue).count
        for row in 0..<height {
            let isThere = top.rawValue > UInt64(row)
            if isThere {
                let sequence = SequenceNumber(top.rawValue - UInt64(row))
                let text = line(of: sequence, digits, width)
                screen.put(
                    text, row: row + 1, column: 0, width: width - 1,
                    sequence == marked ? .name : .plain,
                    isReversed: sequence == selected && !isOnRight)
                if sequence == selected, isOnRight {
                    screen.put(text, row: row + 1, column: 0, width: width - 1, .strong)
                }
            }
            screen.put("│", row: row + 1, column: width - 1, width: 1, .faint)
        }
        guard head > SequenceNumber(1) else { return }
        let part = Double(head.rawValue - selected.rawValue) / Double(head.rawValue - 1)
        screen.put(
            "█", row: 1 + Int((part * Double(height - 1)).rounded()), column: width - 1, width: 1,
            .name)
    }

    private mutating func keepSelectedSeen(_ height: Int) {
        let lowest = top.rawValue > UInt64(height) ? top.rawValue - UInt64(height) + 1 : 1
        if selected > top {
            top = selected
        } else if selected.rawValue < lowest {
            top = SequenceNumber(min(head.rawValue, selected.rawValue + UInt64(height) - 1))
        }
        if top > head { top = head }
    }

    /// Number, time, tags, note and author; with less room only the day.
    private mutating func line(
        of sequence: SequenceNumber, _ digits: Int, _ width: Int
    ) -> String {
        let number = String(sequence.rawValue)
        let mark = sequence == marked ? "◆" : " "
        var text = mark + String(repeating: " ", count: digits - number.count) + number
        guard let heading = heading(of: sequence) else { return text + "  cannot be read" }
        text += "  " + EntryText.time(heading.time).prefix(width < 56 ? 10 : 16) + "  "
        for tag in tags(of: sequence) { text += "[\(DisplayText.escaped(tag))] " }
        if let undoes = heading.undoes { text += "undoes \(undoes.entryName) " }
        return text
            + [Self.firstLine(of: heading.note), heading.author.map { DisplayText.escaped($0) }]
            .compactMap(\.self)
            .joined(separator: " · ")
    }

    /// The first line of a note, as far as one can be wide.
    static func firstLine(of note: String?) -> String? {
        let beginning = note.map { DisplayText.beginning(of: $0, characters: 1_000).text }
        return beginning?.split(separator: "\n").first.map { DisplayText.escaped(String($0)) }
    }

    private mutating func drawPage(
        on screen: Screen, _ column: Int, _ width: Int, _ height: Int
    ) {
        pageWidth = width - 2
        screen.put(title, row: 1, column: column, width: width, .strong)
        let lines = lines()
        let room = height - 1
        page.line = min(page.line, max(0, lines.count - 1))
        if page.line < page.top { page.top = page.line }
        if page.line >= page.top + room { page.top = page.line - room + 1 }
        for (row, line) in lines.dropFirst(page.top).prefix(room).enumerated() {
            let isChosen = isOnRight && page.top + row == page.line
            let isLink = line.target != nil
            screen.put(
                (isLink ? "▸ " : "  ") + line.text, row: row + 2, column: column, width: width,
                line.look, isReversed: isChosen)
        }
    }

    private var title: String {
        switch page.page {
        case .changes: "What entry \(selected) changes"
        case .entities: "Entities after entry \(selected)"
        case .objects(let entity):
            "\(schema.entity(entity)?.name ?? "?") after entry \(selected)"
        case .object(let object):
            "\(schema.name(of: object)) after entry \(selected)"
        case .text(let title, _): title
        }
    }

    /// The last row: what is typed, what is said, or the keys.
    private func drawFoot(on screen: Screen, _ row: Int, _ columns: Int) -> (row: Int, column: Int)?
    {
        if let prompt {
            let text = prompt.kind.question + DisplayText.escaped(prompt.text)
            screen.put(text, row: row, column: 0, width: columns)
            return (row, min(columns - 1, DisplayText.width(of: text)))
        }
        let keys =
            isOnRight
            ? "Enter follow  ← back  , . entry  b blame  e entities  c changes  ? help  q quit"
            : "↑ ↓ entry  → look  : go to  / search  m mark  d diff  e entities  ? help  q quit"
        screen.put(
            message.isEmpty ? keys : message, row: row, column: 0, width: columns,
            message.isEmpty ? .faint : .plain)
        return nil
    }
}

extension Browser.Prompt {
    fileprivate var question: String {
        switch self {
        case .place: "Go to entry, time, tag or object: "
        case .search: "Search all values and notes for: "
        case .tag: "Tag this entry: "
        }
    }
}
