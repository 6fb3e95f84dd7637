import DaybookJournalLog
import DaybookObjectModel
import Foundation

// The text of history, blame and differences for a screen. It has the same form wherever a program runs:
// times are in UTC, and nothing depends on a language.

extension ObjectChangeKind: CustomStringConvertible {
    /// `inserted`, `updated` or `deleted`.
    public var description: String { rawValue }

    /// The parts of a property's change that are shown.
    fileprivate var sides: ReadableText.Sides {
        switch self {
        case .inserted: .new
        case .updated: .both
        case .deleted: .old
        }
    }
}

extension PropertyChange: CustomStringConvertible {
    /// The name, and the change of the value or of the objects that the property leads to:
    ///
    /// ```
    /// name: "Turkey" → "Türkiye"
    /// department: Department/3 → none
    /// members: without Person/4; with Person/9
    /// ```
    public var description: String { text(.both) }

    fileprivate func text(_ sides: ReadableText.Sides) -> String {
        guard !old.isNull || !new.isNull else {
            let (left, joined) = (removed.map(\.description), added.map(\.description))
            return "\(name): " + ReadableText.members(removed: left, added: joined, sides)
        }
        let before = old.text(isCoded: isCoded) { self.name(of: $0, among: removed) }
        let after = new.text(isCoded: isCoded) { self.name(of: $0, among: added) }
        return "\(name): " + ReadableText.change(from: before, to: after, sides)
    }

    private func name(of object: ObjectID, among objects: [ManagedObjectID]) -> String {
        objects.first { $0.object == object }?.description ?? object.description
    }
}

extension ObjectRevision: CustomStringConvertible {
    /// What the entry did to the object, who saved it, when and why, and a line for each property:
    ///
    /// ```
    /// updated by entry 3 by 'registry' at 2022-07-11T00:00:00Z: "Newsletter VI-8"
    ///   name: "Turkey" → "Türkiye"
    /// ```
    public var description: String {
        let entry = EntryCredit(sequence, author, note, info, time)
        return ([entry.text(after: "\(kind) by ")] + changes.map { "  " + $0.text(kind.sides) })
            .joined(separator: "\n")
    }
}

extension ObjectDifference: CustomStringConvertible {
    /// What happened to the object, and a line for each property:
    ///
    /// ```
    /// updated Country/1
    ///   name: "Turkey" → "Türkiye"
    /// ```
    public var description: String {
        (["\(kind) \(objectID)"] + changes.map { "  " + $0.text(kind.sides) })
            .joined(separator: "\n")
    }
}

extension PropertyBlame: CustomStringConvertible {
    /// The value, the one before, who wrote it, and who brought it back if it was gone:
    ///
    /// ```
    /// name is "Türkiye", was "Turkey": entry 3 by 'registry' at 2022-07-11T00:00:00Z: "Newsletter VI-8"
    /// motto is none: entry 2 by 'ada' at 2022-07-11T00:00:00Z; brought back by entry 9 by 'bob' at …
    /// ```
    public var description: String {
        let before = isInsert ? "" : ", was \(text(previous, previousObjects))"
        let writer = EntryCredit(sequence, author, note, info, time)
        let claim = writer.text(after: "\(name) is \(text(value, objects))\(before): ")
        return broughtBackBy.map { "\(claim); brought back by \($0)" } ?? claim
    }

    private func text(_ value: Value, _ objects: [ManagedObjectID]) -> String {
        guard !isToMany else {
            return objects.isEmpty ? "none" : objects.map(\.description).joined(separator: ", ")
        }
        return value.text(isCoded: isCoded) { object in
            objects.first { $0.object == object }?.description ?? object.description
        }
    }
}

extension PropertyBlame.Return: CustomStringConvertible {
    /// `entry 9 by 'bob' at 2024-01-02T12:09:00Z: "Still in use"`.
    public var description: String {
        EntryCredit(sequence, author, note, info, time).text(after: "")
    }
}

extension FoundChange: CustomStringConvertible {
    /// The object, what happened to its property, and who saved it, when and why:
    /// `Employee/3 salary: 5000 → 4000, entry 7 by 'ada' at 2024-03-01T00:00:00Z: "Fewer hours"`.
    public var description: String {
        EntryCredit(sequence, author, note, info, time).text(after: "\(objectID) \(change), ")
    }
}

/// An entry, who saved it, when and why, in words.
private struct EntryCredit {
    private let entry: String
    private let note: String
    private let info: String

    init(
        _ sequence: SequenceNumber, _ author: String?, _ note: String?, _ info: [String: String],
        _ time: Date
    ) {
        entry = ReadableText.entry(
            sequence.rawValue, by: author, at: DateText.text(microseconds: time.nearestMicrosecond))
        self.note = note.map { ": " + ReadableText.quoted($0) } ?? ""
        self.info = EntryInfo.text(info).map { " (\($0))" } ?? ""
    }

    func text(after beginning: String) -> String { beginning + entry + note + info }
}
