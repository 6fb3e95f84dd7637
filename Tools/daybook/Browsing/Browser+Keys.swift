import CDaybookTerminal
import DaybookJournalLog
import DaybookSnapshotStore

extension Browser {
    /// Characters that are keys.
    private enum Typed {
        static let tab: Int32 = 0x09
        static let newline: Int32 = 0x0A
        static let enter: Int32 = 0x0D
        static let escape: Int32 = 0x1B
        static let deletion: Int32 = 0x7F
        static let backspace: Int32 = 0x08
        /// Control-C.
        static let interrupt: Int32 = 0x03
        /// Control-L.
        static let redraw: Int32 = 0x0C

        static func character(_ character: Unicode.Scalar) -> Int32 { Int32(character.value) }
    }

    /// Does what a key says. What cannot be done is said in the last row.
    mutating func take(_ key: Screen.Key, on screen: Screen) {
        // What the terminal has made of the old picture is not known.
        guard key != Int32(SCREEN_RESIZED) else { return screen.redraw() }
        guard key != Int32(SCREEN_CLOSED) else { return isEnded = true }
        do {
            if prompt != nil { return try type(key, on: screen) }
            message = ""
            if let sequence = plannedUndo {
                plannedUndo = nil
                guard key == Typed.character("y") else { return back() }
                return try undo(sequence)
            }
            try press(key, on: screen)
        } catch {
            message = ToolError(error).message
        }
    }

    private mutating func press(_ key: Screen.Key, on screen: Screen) throws {
        let height = max(1, screen.rows - 3)
        switch key {
        case Typed.character("q"), Typed.interrupt: isEnded = true
        case Typed.redraw: screen.redraw()
        case Typed.tab:
            if isOnRight { isOnRight = false } else { enterPage() }
        case Typed.character("?"):
            let lines = Self.help.flatMap { $0.wrapped(to: pageWidth, indentation: Self.keysWidth) }
            open(.text(title: "Keys", lines: lines))
        case Typed.character(":"): prompt = (.place, "")
        case Typed.character("0")...Typed.character("9"):
            prompt = (.place, String(key - Typed.character("0")))
        case Typed.character("/"): prompt = (.search, "")
        case Typed.character("n"): try search(onwards: true, on: screen)
        case Typed.character("N"): try search(onwards: false, on: screen)
        case Typed.character(","): stepKeepingPage(-1)
        case Typed.character("."): stepKeepingPage(1)
        case Typed.character("c"): begin(with: .changes)
        case Typed.character("e"): begin(with: .entities)
        case Typed.character("b"): try showBlame()
        case Typed.character("m"): mark()
        case Typed.character("d"): try showDifference()
        case Typed.character("t"):
            try checkEditing()
            prompt = (.tag, "")
        case Typed.character("u"): try planUndo()
        default:
            if isOnRight { pressOnPage(key, height) } else { pressOnEntries(key, height) }
        }
    }

    private mutating func pressOnEntries(_ key: Screen.Key, _ height: Int) {
        guard head > .zero else { return }
        switch key {
        case Int32(SCREEN_DOWN), Typed.character("j"): step(-1)
        case Int32(SCREEN_UP), Typed.character("k"): step(1)
        case Int32(SCREEN_PAGE_DOWN), Typed.character(" "): step(-height)
        case Int32(SCREEN_PAGE_UP): step(height)
        case Int32(SCREEN_HOME), Typed.character("g"): select(head)
        case Int32(SCREEN_END), Typed.character("G"): select(SequenceNumber(1))
        case Int32(SCREEN_RIGHT), Typed.enter, Typed.newline, Typed.character("l"):
            enterPage()
        default: break
        }
    }

    private mutating func pressOnPage(_ key: Screen.Key, _ height: Int) {
        let lines = lines()
        switch key {
        case Int32(SCREEN_DOWN), Typed.character("j"): moveLine(1)
        case Int32(SCREEN_UP), Typed.character("k"): moveLine(-1)
        case Int32(SCREEN_PAGE_DOWN), Typed.character(" "): moveLine(height)
        case Int32(SCREEN_PAGE_UP): moveLine(-height)
        case Int32(SCREEN_HOME), Typed.character("g"): moveLine(-lines.count)
        case Int32(SCREEN_END), Typed.character("G"): moveLine(lines.count)
        case Int32(SCREEN_LEFT), Typed.escape, Typed.deletion, Typed.backspace,
            Typed.character("h"):
            back()
        case Int32(SCREEN_RIGHT), Typed.enter, Typed.newline, Typed.character("l"):
            guard page.line < lines.count else { return }
            let line = lines[page.line]
            if let target = line.target { follow(target) } else { showWhole(line) }
        default: break
        }
    }

    private mutating func follow(_ target: BrowserLine.Target) {
        switch target {
        case .entity(let entity): open(.objects(entity))
        case .object(let object): open(.object(object))
        case .entry(let sequence):
            select(sequence)
            begin(with: .changes)
        }
    }

    /// Another moment, with the same page and the same line.
    private mutating func stepKeepingPage(_ count: Int) {
        guard head > .zero else { return }
        let (line, top) = (page.line, page.top)
        step(count)
        (page.line, page.top) = (line, top)
    }

    private mutating func mark() {
        marked = marked == selected ? nil : selected
        message =
            marked == nil
            ? "No entry is marked."
            : "Entry \(selected) is marked; 'd' on another shows what differs."
    }

    // MARK: - Typing

    private mutating func type(_ key: Screen.Key, on screen: Screen) throws {
        guard let kind = prompt?.kind, var text = prompt?.text else { return }
        switch key {
        case Typed.escape, Typed.interrupt: prompt = nil
        case Typed.enter, Typed.newline:
            prompt = nil
            let trimmed = text.split(separator: " ").joined(separator: " ")
            guard !trimmed.isEmpty else { return }
            switch kind {
            case .place: try go(to: trimmed)
            case .search:
                wanted = trimmed
                try search(onwards: true, on: screen, includingThis: true)
            case .tag: try tag(trimmed)
            }
        case Typed.deletion, Typed.backspace:
            if text.isEmpty { prompt = nil } else { text.removeLast() }
            if prompt != nil { prompt = (kind, text) }
        default:
            guard key >= 0x20, let scalar = Unicode.Scalar(UInt32(key)) else { return }
            text.unicodeScalars.append(scalar)
            prompt = (kind, text)
        }
    }

    private static let help: [BrowserLine] = [
        ("↑ ↓ PgUp PgDn", "move; Home and End to the ends, on the left Home is the newest entry"),
        ("→ Enter", "from an entry to what it changes; follow a line that begins with ▸"),
        ("← Esc Backspace", "one page back, and to the entries"),
        ("Tab", "to the other side"),
        (", .", "one entry older or newer, on the same page: an object through time"),
        (
            ": or a digit",
            "go to an entry, a time ('2011-12-15', 'yesterday'), a tag, or 'Country/17'"
        ),
        ("/", "search values of all times and notes, letter by letter, from here to older entries"),
        ("n N", "the next older entry with it, the next newer"),
        ("Enter", "on a line that is cut off: all of it"),
        ("c e", "what the entry changes; entities and objects as they were after it"),
        ("b", "who wrote each value of an object"),
        ("m d", "mark an entry; show what differs between it and another"),
        ("t u", "tag the entry, undo it with a preview: with '--edit' only"),
        ("Ctrl-L", "draw everything anew"),
        ("q", "quit"),
    ].map { BrowserLine($0.0.padding(to: keysWidth) + $0.1) }

    private static let keysWidth = 18
}
