import CDaybookTerminal
import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// A store on the screen: left all entries, right what one of them has changed, or the objects as they were after it.
///
/// Nothing is kept of the store but what is on the screen: each picture reads the headings of the entries that are
/// seen and the lines of one page, whatever the length of the journal.
struct Browser {
    /// What keys type into.
    enum Prompt {
        case place, search, tag
    }

    let store: Store
    let name: String
    let reader: AuditReader
    /// Whether the store may be changed, and who does it.
    let canEdit: Bool
    let author: String?

    var head: SequenceNumber
    /// The entry whose moment is shown.
    var selected: SequenceNumber
    /// The newest entry that is seen on the left.
    var top: SequenceNumber
    /// The pages on the right, the last one shown.
    var pages = [OpenPage(page: .changes)]
    var isOnRight = false
    /// The entry from which a difference is shown.
    var marked: SequenceNumber?
    var prompt: (kind: Prompt, text: String)?
    /// What is said in the last row.
    var message = ""
    /// What was searched for last.
    var wanted = ""
    /// The undo that waits for a yes.
    var plannedUndo: SequenceNumber?
    var isEnded = false
    /// How wide the lines of the page can be, as it was drawn last.
    var pageWidth = 60

    /// How often the journal had been cut off when the head was read.
    private var rewinds: UInt64
    private var headings: [SequenceNumber: EntryHeading] = [:]
    private var tags: [SequenceNumber: [String]] = [:]
    private var drawn: (page: BrowserPage, at: SequenceNumber, lines: [BrowserLine])?
    /// The entry that was read last: its pages have it in common, and it may be long.
    private var read: AuditRecord?

    init(_ store: Store, named name: String, canEdit: Bool, author: String?) throws {
        self.store = store
        self.name = name
        self.canEdit = canEdit
        self.author = author
        reader = AuditReader(store)
        let end = try store.end()
        (head, rewinds) = (end.head, end.rewinds)
        (selected, top) = (head, head)
        try readTags()
    }

    var schema: Schema { store.schema }

    /// The page that is shown.
    var page: OpenPage {
        get { pages[pages.count - 1] }
        set { pages[pages.count - 1] = newValue }
    }

    mutating func readTags() throws {
        tags = Dictionary(grouping: try store.tags(), by: \.sequence).mapValues { $0.map(\.name) }
    }

    func tags(of sequence: SequenceNumber) -> [String] { tags[sequence] ?? [] }

    /// The heading of an entry, read once for as long as it is near what is seen; nil for one that cannot be read,
    /// which its page tells.
    mutating func heading(of sequence: SequenceNumber) -> EntryHeading? {
        if let heading = headings[sequence] { return heading }
        if headings.count > 2_000 { headings = [:] }
        do {
            let heading = try store.heading(of: sequence)
            headings[sequence] = heading
            return heading
        } catch {
            return nil
        }
    }

    /// The lines of the page that is shown, made anew when the page or the moment is another. What cannot be read is
    /// told on the page: the rest of the store can still be looked at.
    mutating func lines() -> [BrowserLine] {
        if let drawn, drawn.page == page.page, drawn.at == selected { return drawn.lines }
        let lines: [BrowserLine]
        do {
            lines = try BrowserPageReader(self, record()).lines(of: page.page)
        } catch {
            lines = BrowserLine("error: \(ToolError(error).message)", .removed).wrapped(
                to: pageWidth)
        }
        drawn = (page.page, selected, lines)
        return lines
    }

    /// The chosen entry; nil where there is none.
    private mutating func record() throws -> AuditRecord? {
        guard selected > .zero else { return nil }
        if let read, read.sequence == selected { return read }
        let record = try reader.record(at: selected)
        read = record
        return record
    }

    /// Makes the page be made anew.
    mutating func forget() { drawn = nil }

    // MARK: - What others do

    /// Takes in what has been saved. Who looks at the last entry goes on with the new one.
    mutating func follow() throws {
        try store.checkIsInPlace()
        let end = try store.end()
        let now = end.head
        guard now != head || end.rewinds != rewinds else { return }
        let wasLast = selected == head
        if end.rewinds != rewinds {
            // The numbers are those of other entries by now.
            (headings, read, plannedUndo) = ([:], nil, nil)
        }
        (head, rewinds) = (now, end.rewinds)
        try readTags()
        if selected > now {
            select(now)
        } else if wasLast, plannedUndo == nil {
            switch page.page {
            // What somebody reads is not taken away.
            case .text: break
            case .changes: select(now)
            case .entities, .objects, .object:
                let (line, top) = (page.line, page.top)
                select(now)
                (page.line, page.top) = (line, top)
            }
        }
        forget()
    }

    // MARK: - Moving

    /// Goes to the moment after an entry.
    mutating func select(_ sequence: SequenceNumber) {
        selected = min(max(sequence, SequenceNumber(1)), head)
        plannedUndo = nil
        // What was a text of another moment is over.
        while pages.count > 1, case .text = page.page { pages.removeLast() }
        page.line = 0
        page.top = 0
    }

    mutating func step(_ count: Int) {
        let now = Int64(clamping: selected.rawValue) + Int64(count)
        select(SequenceNumber(UInt64(max(1, now))))
    }

    mutating func open(_ page: BrowserPage) {
        pages.append(OpenPage(page: page))
        enterPage()
    }

    /// To the page, and on it to the first line that leads somewhere.
    mutating func enterPage() {
        isOnRight = true
        guard page.line == 0, page.page == .changes else { return }
        page.line = lines().firstIndex { $0.target != nil } ?? 0
    }

    /// Shows one of the pages with which every way begins.
    mutating func begin(with page: BrowserPage) {
        pages = [OpenPage(page: page)]
        enterPage()
    }

    /// One page back; from the first one to the entries.
    mutating func back() {
        plannedUndo = nil
        if pages.count > 1 { pages.removeLast() } else { isOnRight = false }
    }

    /// Moves on the page by so many lines, as far as it goes.
    mutating func moveLine(_ count: Int) {
        page.line = min(max(page.line + count, 0), max(0, lines().count - 1))
    }
}
