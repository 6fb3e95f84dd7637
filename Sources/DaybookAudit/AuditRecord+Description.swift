import DaybookObjectModel

// Descriptions of records, in the same words as the descriptions of the object graph.

extension AuditValue: CustomStringConvertible {
    /// The value on one line: `none`, `"Türkiye"` in quotes, `42`, `2022-07-11T00:00:00Z`, `Country/17`.
    public var description: String {
        value.text(isCoded: isCoded) { schema.name(of: $0) }
    }
}

extension AuditField: CustomStringConvertible {
    /// `name: "Turkey" → "Türkiye"`.
    public var description: String { text(.both) }

    fileprivate func text(_ sides: ReadableText.Sides) -> String {
        "\(name): " + ReadableText.change(from: old.description, to: new.description, sides)
    }
}

extension AuditMembership: CustomStringConvertible {
    /// `members: without Country/3; with Country/9`.
    public var description: String { text(.both) }

    fileprivate func text(_ sides: ReadableText.Sides) -> String {
        func names(_ members: [Member]) -> [String] {
            (isOrdered ? members.sorted { $0.order < $1.order } : members).map(\.object)
        }
        return "\(name): "
            + ReadableText.members(removed: names(removed), added: names(added), sides)
    }
}

extension AuditChange: CustomStringConvertible {
    /// The operation and the object, and a line for each property:
    ///
    /// ```
    /// updated Country/1
    ///   name: "Turkey" → "Türkiye"
    /// ```
    public var description: String {
        let sides: ReadableText.Sides
        let verb: String
        switch operation {
        case .insert: (verb, sides) = ("inserted", .new)
        case .update: (verb, sides) = ("updated", .both)
        case .delete: (verb, sides) = ("deleted", .old)
        }
        let reason = cause.map { " because \($0) was deleted" } ?? ""
        let lines =
            fields.map { $0.text(sides) } + memberships.map { $0.text(sides) }
            + omitted.map { "\($0): left out" }
        return (["\(verb) \(object)\(reason)"] + lines.map { "  " + $0 }).joined(separator: "\n")
    }
}

extension AuditRecord: CustomStringConvertible {
    /// The entry with its author, time and note, and its changes:
    ///
    /// ```
    /// entry 3 by 'registry' at 2022-07-11T00:00:00Z: "Newsletter VI-8"
    ///   updated Country/1
    ///     name: "Turkey" → "Türkiye"
    /// ```
    public var description: String {
        let heading = ReadableText.entry(
            sequence.rawValue, by: author, at: DateText.text(microseconds: entry.time))
        let reason = note.map { ": " + ReadableText.quoted($0) } ?? ""
        let lines = changes.flatMap { $0.description.split(separator: "\n") }
        let info = EntryInfo.text(info).map { " (\($0))" } ?? ""
        return ([heading + reason + info] + lines.map { "  " + $0 }).joined(separator: "\n")
    }
}
