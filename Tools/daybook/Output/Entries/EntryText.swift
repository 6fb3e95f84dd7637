// The room of entries: entries, changes and differences in words and in JSON.

import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Entries and changes as lines for people who have never seen a journal.
struct EntryText {
    private let palette: Palette

    init(_ palette: Palette) {
        self.palette = palette
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
        case .insert: return [palette(Self.text(of: field.new), .added)]
        case .delete: return [palette(Self.text(of: field.old), .removed)]
        case .update:
            if field.old.isText, field.new.isText,
                let words = WordDifference(from: field.old.text, to: field.new.text)
            {
                return WordDifferenceText(palette).lines(of: words, quoting: ReadableText.quotable)
            }
            return [
                palette(Self.text(of: field.old), .removed) + " → "
                    + palette(Self.text(of: field.new), .added)
            ]
        }
    }

    private func members(
        of membership: AuditMembership, in operation: AuditChange.Operation
    ) -> [String] {
        if operation != .update {
            let objects = membership.inOrder(membership.added + membership.removed)
            return [palette(objects.joined(separator: ", "), style(operation))]
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
            "\(words) " + palette(objects.joined(separator: ", "), style)
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
    /// and backslashes.
    static func text(of value: AuditValue) -> String {
        if value.isNull { return "none" }
        guard value.isText else { return DisplayText.escaped(value.text) }
        return ReadableText.quoted(value.text)
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
