// The room of entries: entries, changes and differences in words and in JSON.

import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Entries and changes as lines for people who have never seen a journal.
struct EntryText {
    /// How much is shown of what is long. What is left out is counted.
    struct Bounds {
        /// Of a value.
        var characters = 4_000
        /// Of the objects that come to a relationship, or leave it.
        var members = 1_000
    }

    private let palette: Palette
    private let bounds: Bounds?

    /// - Parameters:
    ///   - palette: Whether and how text is coloured.
    ///   - bounds: How much is shown of what is long; nil for all of it.
    init(_ palette: Palette, within bounds: Bounds? = nil) {
        self.palette = palette
        self.bounds = bounds
    }

    // MARK: - Entries

    /// `entry 7  2011-12-15 00:00:00 UTC  by registry`.
    func heading(of record: AuditRecord) -> String {
        var parts = [
            palette("entry \(record.sequence)", .name), Self.time(record.entry.time),
        ]
        if let author = record.author { parts.append("by \(DisplayText.escaped(author))") }
        return parts.joined(separator: "  ")
    }

    /// An entry in a few lines: heading, note, and how much it changes.
    func summary(of record: AuditRecord) -> [String] {
        var lines = [heading(of: record)]
        lines += Self.lines(of: record.note, indentation: "    ")
        if let info = EntryInfo.text(record.info) { lines.append("    " + palette(info, .faint)) }
        if let undoes = record.undoes { lines.append("    undoes \(undoes.entryName)") }
        lines.append("    " + palette(Self.count(of: record), .faint))
        return lines
    }

    /// `Country: 1 inserted, 2 updated; Subdivision: 1 deleted`.
    static func count(of record: AuditRecord) -> String {
        if let model = record.entry.model {
            let names = model.entities.map(\.name).sorted()
            return "sets the model: " + names.joined(separator: ", ")
        }
        return EntryCounts(record).sentence
    }

    // MARK: - Changes

    /// A change: what happens to which object, and a line for each property.
    func lines(of change: AuditChange, indentation: String) -> [String] {
        let title = palette(verb(change.operation), style(change.operation)) + " " + change.object
        return [indentation + title + reason(of: change)]
            + details(of: change, indentation: indentation + "    ")
    }

    /// The reason for a change that a delete rule made.
    func reason(of change: AuditChange) -> String {
        change.cause.map { " because \($0) was deleted" } ?? ""
    }

    /// A line for each property that changes.
    func details(
        of change: AuditChange, property: String? = nil, indentation: String
    ) -> [String] {
        let fields = change.fields.filter { property == nil || $0.name == property }
        let memberships = change.memberships.filter { property == nil || $0.name == property }
        let names = fields.map(\.name) + memberships.map(\.name)
        let width = names.map { DisplayText.width(of: $0) }.max() ?? 0
        func line(_ name: String, _ text: String) -> String {
            let gap = String(repeating: " ", count: width - DisplayText.width(of: name) + 2)
            return indentation + palette(name, .faint) + gap + text
        }
        return fields.flatMap { field in
            values(of: field, in: change.operation).enumerated().map { index, text in
                line(index == 0 ? field.name : "", text)
            }
        }
            + memberships.flatMap { membership in
                self.members(of: membership, in: change.operation).map {
                    line(membership.name, $0)
                }
            }
    }

    /// One line, or several for a long text that changes in part.
    private func values(of field: AuditField, in operation: AuditChange.Operation) -> [String] {
        switch operation {
        case .insert: return [palette(text(of: field.new), .added)]
        case .delete: return [palette(text(of: field.old), .removed)]
        case .update:
            if field.old.isText, field.new.isText, !isCut(field.old), !isCut(field.new),
                let words = WordDifference(from: field.old.text, to: field.new.text)
            {
                return WordDifferenceText(palette).lines(of: words, quoting: ReadableText.quotable)
            }
            return [
                palette(text(of: field.old), .removed) + " → "
                    + palette(text(of: field.new), .added)
            ]
        }
    }

    private func isCut(_ value: AuditValue) -> Bool {
        bounds.map { value.text.utf8.count > $0.characters } ?? false
    }

    private func text(of value: AuditValue) -> String { Self.text(of: value, within: bounds) }

    private func list(_ objects: [String]) -> String {
        let shown = bounds.map { objects.prefix($0.members) } ?? objects[...]
        let rest = objects.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private func members(
        of membership: AuditMembership, in operation: AuditChange.Operation
    ) -> [String] {
        if operation != .update {
            let objects = membership.inOrder(membership.added + membership.removed)
            return [palette(list(objects), style(operation))]
        }
        let stayed = Set(membership.added.map(\.object))
            .intersection(membership.removed.map(\.object))
        let (added, removed) = (
            membership.inOrder(membership.added), membership.inOrder(membership.removed)
        )
        let groups =
            [
                ("without", removed.filter { !stayed.contains($0) }, .removed),
                ("with", added.filter { !stayed.contains($0) }, .added),
                ("in another order:", added.filter { stayed.contains($0) }, .changed),
            ] as [(String, [String], Style)]
        return groups.filter { !$0.1.isEmpty }.map { words, objects, style in
            "\(words) " + palette(list(objects), style)
        }
    }

    /// `inserted`, `updated`, `deleted`.
    func verb(_ operation: AuditChange.Operation) -> String {
        switch operation {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
    }

    /// The colour of an operation.
    func style(_ operation: AuditChange.Operation) -> Style {
        switch operation {
        case .insert: .added
        case .update: .changed
        case .delete: .removed
        }
    }

    // MARK: - Values

    /// A value on one line: `none` for null; text in quotes, with a backslash before its own quotes
    /// and backslashes. Behind the beginning of a long one stands how much is left out.
    static func text(of value: AuditValue, within bounds: Bounds? = nil) -> String {
        if value.isNull { return "none" }
        let text = value.text
        let (shown, rest) = DisplayText.beginning(of: text, characters: bounds?.characters ?? .max)
        let remark = rest > 0 ? " … and \(rest) more bytes" : ""
        return (value.isText ? ReadableText.quoted(shown) : DisplayText.escaped(shown)) + remark
    }

    /// `2011-12-15 00:00:00 UTC`.
    static func time(_ microseconds: Int64) -> String {
        DateText.text(microseconds: microseconds).replacing("T", with: " ", maxReplacements: 1)
            .replacing("Z", with: " UTC")
    }

    /// Text that may have several lines, made safe for a terminal.
    static func lines(of text: String?, indentation: String) -> [String] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.isEmpty ? "" : indentation + DisplayText.escaped(String(line))
        }
    }
}

extension AuditMembership {
    /// The names of members in the order of the relationship, if it has one.
    fileprivate func inOrder(_ members: [Member]) -> [String] {
        (isOrdered ? members.sorted { $0.order < $1.order } : members).map(\.object)
    }
}
