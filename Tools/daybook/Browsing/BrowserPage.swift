import DaybookJournalLog
import DaybookObjectModel

/// A page on the right side.
enum BrowserPage: Hashable {
    /// What the entry changes.
    case changes
    /// The entities, with how much the entry changes of each.
    case entities
    /// The objects of an entity, as of the entry.
    case objects(EntityNumber)
    /// One object, as of the entry.
    case object(ObjectID)
    /// Text that does not follow the entry: blame, a difference, help.
    case text(title: String, lines: [BrowserLine])
}

/// A line of a page.
struct BrowserLine: Hashable {
    /// Where a line leads.
    enum Target: Hashable {
        case entity(EntityNumber)
        case object(ObjectID)
        case entry(SequenceNumber)
    }

    var text: String
    var look: Screen.Look = .plain
    var target: Target?

    /// No line that is read is longer, and each is looked at whenever it is drawn.
    private static let charactersMaximum = 50_000

    /// A line; behind the beginning of one that is far too long stands how much is left out.
    init(_ text: String, _ look: Screen.Look = .plain, to target: Target? = nil) {
        let (shown, rest) = DisplayText.beginning(of: text, characters: Self.charactersMaximum)
        self.text = rest > 0 ? "\(shown) … and \(rest) more bytes" : text
        self.look = look
        self.target = target
    }

    /// The line in pieces that fit into a width, those after the first indented.
    func wrapped(to width: Int, indentation: Int = 0) -> [BrowserLine] {
        let indent = String(repeating: " ", count: min(indentation, width / 2))
        var lines: [BrowserLine] = []
        var piece = ""
        var used = 0
        // Between words if it can be.
        var room = ""
        func end() {
            lines.append(BrowserLine(piece, look, to: target))
            piece = indent
            used = indent.count
        }
        for character in text + " " {
            if character != " " {
                room.append(character)
                if DisplayText.width(of: room) + indent.count >= width {
                    if used + DisplayText.width(of: room) > width, used > indent.count { end() }
                    piece += room
                    room = ""
                    end()
                }
                continue
            }
            let length = DisplayText.width(of: room)
            if used + length > width { end() }
            piece += room + " "
            used += length + 1
            room = ""
        }
        if !piece.allSatisfy({ $0 == " " }) || lines.isEmpty { end() }
        return lines
    }
}

/// A page that is open, with the place on it.
struct OpenPage {
    let page: BrowserPage
    /// The line that is chosen.
    var line = 0
    /// The first line that is shown.
    var top = 0
}
