import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Reads the lines of a page.
struct BrowserPageReader {
    /// How many changes of an entry, objects of an entity or members of a relationship a page has.
    private static let linesMaximum = 1_000

    private let store: Store
    /// The entry; nil where there is none.
    private let record: AuditRecord?
    private let sequence: SequenceNumber
    private let schema: Schema
    private let tags: [String]
    private let text = EntryText(Palette(isColored: false), within: EntryText.Bounds())

    init(_ browser: Browser, _ record: AuditRecord?) {
        store = browser.store
        self.record = record
        sequence = browser.selected
        schema = browser.schema
        tags = browser.tags(of: browser.selected)
    }

    func lines(of page: BrowserPage) throws -> [BrowserLine] {
        switch page {
        case .changes: try changes()
        case .entities: try entities()
        case .objects(let entity): try objects(of: entity)
        case .object(let object): try self.object(object)
        case .text(_, let lines): lines
        }
    }

    // MARK: - The entry

    private func changes() throws -> [BrowserLine] {
        guard let record else { return [BrowserLine("There is no entry yet.", .faint)] }
        let header = record.entry.header
        var lines: [BrowserLine] = []
        func add(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            let indented = name.padding(to: 10) + text
            lines.append(BrowserLine(indented))
        }
        add("happened", header.occurredAt.map { EntryText.time($0) })
        add("recorded", EntryText.time(record.entry.recordedAt))
        add("author", header.author.map { DisplayText.escaped($0) })
        for (place, line) in EntryText.lines(of: header.note, indentation: "").enumerated() {
            add(place == 0 ? "note" : "", line)
        }
        for (key, value) in EntryInfo.ordered(header.info) {
            add("info", DisplayText.escaped("\(key)=\(value)"))
        }
        add("tags", tags.map { DisplayText.escaped($0) }.joined(separator: ", "))
        if let undoes = header.undoes {
            lines.append(
                BrowserLine(
                    "undoes".padding(to: 10) + undoes.entryName, .name,
                    to: .entry(undoes.lowerBound)))
        }
        add("changes", EntryText.count(of: record))
        let shown = record.shown.prefix(Self.linesMaximum)
        let titles = try titles(of: shown)
        for change in shown {
            lines.append(BrowserLine(""))
            let readable = AuditChange(change, in: record.schema)
            lines += self.lines(of: readable, change.object, titles[change.object] ?? "")
        }
        let rest = record.shown.count - Self.linesMaximum
        if rest > 0 { lines.append(BrowserLine("… and \(rest) more changes", .faint)) }
        return lines
    }

    private func lines(
        of change: AuditChange, _ object: ObjectID, _ title: String
    ) -> [BrowserLine] {
        let look = Screen.Look(change.operation)
        let heading =
            "\(text.verb(change.operation)) \(change.object)\(title)\(text.reason(of: change))"
        return [BrowserLine(heading, look, to: .object(object))]
            + text.details(of: change, indentation: "    ").map { BrowserLine($0) }
    }

    // MARK: - The objects

    private func entities() throws -> [BrowserLine] {
        var counts: [EntityNumber: [AuditChange.Operation: Int]] = [:]
        for change in record?.shown ?? [] {
            counts[change.object.entity, default: [:]][change.operation, default: 0] += 1
        }
        let width = schema.entities.map(\.name.count).max() ?? 0
        return schema.entities.filter { !$0.isAbstract }.map { entity in
            let parts = [AuditChange.Operation.insert, .update, .delete].compactMap { operation in
                counts[entity.number]?[operation].map { "\(text.verb(operation)) \($0)" }
            }
            return BrowserLine(
                entity.name.padding(to: width + 2) + parts.joined(separator: ", "),
                parts.isEmpty ? .plain : .changed, to: .entity(entity.number))
        }
    }

    private func objects(of number: EntityNumber) throws -> [BrowserLine] {
        guard let entity = schema.entity(number) else { return [] }
        let touched = touched
        return try store.read(at: sequence) { snapshot in
            var found: [ObjectID] = []
            var isCut = false
            try snapshot.objects(of: [number]) { object in
                guard found.count < Self.linesMaximum else {
                    isCut = true
                    return .stop
                }
                found.append(object)
                return .proceed
            }
            var lines = try found.map { object in
                BrowserLine(
                    schema.name(of: object) + (try title(of: object, entity, in: snapshot)),
                    touched[object].map { Screen.Look($0.operation) } ?? .plain, to: .object(object)
                )
            }
            if lines.isEmpty {
                lines.append(
                    BrowserLine("There is no object of '\(entity.name)' at that point.", .faint))
            }
            if isCut {
                lines.append(
                    BrowserLine(
                        "… the first \(Self.linesMaximum); with ':\(entity.name)/NUMBER' to any other",
                        .faint))
            }
            return lines
        }
    }

    private func object(_ object: ObjectID) throws -> [BrowserLine] {
        guard let entity = schema.entity(object.entity) else { return [] }
        let change = touched[object]
        let lit = Set(change?.properties ?? [])
        return try store.read(at: sequence) { snapshot in
            guard try snapshot.exists(object) else {
                let isGone = change?.operation == .delete
                return [
                    BrowserLine(
                        isGone
                            ? "This entry deletes it. ',' shows it as it was before."
                            : "There is no such object at that point.", isGone ? .removed : .faint)
                ]
            }
            var lines: [BrowserLine] = []
            if change?.operation == .insert {
                lines.append(BrowserLine("This entry inserts it.", .added))
            }
            let width = entity.properties.map { DisplayText.width(of: $0.name) }.max() ?? 0
            for property in entity.properties where property.isPersistent {
                let look: Screen.Look = lit.contains(property.number) ? .changed : .plain
                let name = property.name.padding(to: width + 2)
                if property.relationship == nil {
                    let value = try snapshot.value(of: property, in: object)
                    let shown = EntryText.text(
                        of: AuditValue(value, type: property.attribute?.type, in: schema),
                        within: EntryText.Bounds())
                    lines.append(BrowserLine(name + shown, look))
                } else {
                    lines += try members(of: property, in: object, name, width, look, snapshot)
                }
            }
            return lines
        }
    }

    /// A line for each object at the other end, on the first of them the name of the relationship.
    private func members(
        of property: SchemaProperty, in object: ObjectID, _ name: String, _ width: Int,
        _ look: Screen.Look, _ snapshot: borrowing Snapshot
    ) throws -> [BrowserLine] {
        let members = try snapshot.members(of: property, in: object)
        guard !members.isEmpty else { return [BrowserLine(name + "none", look)] }
        var lines: [BrowserLine] = []
        for (place, member) in members.prefix(Self.linesMaximum).enumerated() {
            let title =
                try schema.entity(member.object.entity).map {
                    try self.title(of: member.object, $0, in: snapshot)
                } ?? ""
            lines.append(
                BrowserLine(
                    (place == 0 ? name : "".padding(to: width + 2)) + schema.name(of: member.object)
                        + title, look, to: .object(member.object)))
        }
        if members.count > Self.linesMaximum {
            let rest = members.count - Self.linesMaximum
            lines.append(BrowserLine("".padding(to: width + 2) + "and \(rest) more", .faint))
        }
        return lines
    }

    /// By object, what the entry does to it.
    private var touched: [ObjectID: Change] {
        Dictionary((record?.shown ?? []).map { ($0.object, $0) }) { first, _ in first }
    }

    /// The values by which people know the objects of changes: as of the entry, and of what it deletes as before.
    private func titles(of changes: some Sequence<Change>) throws -> [ObjectID: String] {
        var titles: [ObjectID: String] = [:]
        func add(at sequence: SequenceNumber, where isWanted: (Change) -> Bool) throws {
            try store.read(at: sequence) { snapshot in
                for change in changes where isWanted(change) {
                    guard let entity = schema.entity(change.object.entity) else { continue }
                    titles[change.object] = try title(of: change.object, entity, in: snapshot)
                }
            }
        }
        try add(at: sequence) { $0.operation != .delete }
        try add(at: sequence.previous) { $0.operation == .delete }
        return titles
    }

    private func title(
        of object: ObjectID, _ entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws -> String {
        guard let property = entity.displayProperty else { return "" }
        let value = AuditValue(
            try snapshot.value(of: property, in: object), type: property.attribute?.type, in: schema
        )
        guard !value.isNull else { return "" }
        return "  " + DisplayText.escaped(DisplayText.truncated(value.text, to: 60))
    }
}

extension Screen.Look {
    init(_ operation: AuditChange.Operation) {
        switch operation {
        case .insert: self = .added
        case .update: self = .changed
        case .delete: self = .removed
        }
    }
}

extension Change {
    /// The properties that it is about.
    fileprivate var properties: [PropertyNumber] {
        switch kind {
        case .update(let edits, let members): edits.map(\.property) + members.map(\.property)
        case .insert, .delete: []
        }
    }
}

extension String {
    /// The text with blanks behind it, up to a width.
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - DisplayText.width(of: self)))
    }
}
