internal import DaybookObjectModel
internal import DaybookSnapshotStore

extension AuditRecord {
    /// A change in words without values, for formats with a line for people.
    ///
    /// `Country/2 updated by registry: motto, name`, or `Subdivision/6 deleted by registry with Country/3`
    /// if the delete of the one led to the change of the other.
    func sentence(_ change: AuditChange) -> String {
        let verb =
            switch change.operation {
            case .insert: "inserted"
            case .update: "updated"
            case .delete: "deleted"
            }
        var text = "\(change.object) \(verb)\(byline)"
        if let cause = change.cause { text += " with \(cause)" }
        guard change.operation == .update else { return text }
        let names = change.fields.map(\.name) + change.memberships.map(\.name) + change.omitted
        return names.isEmpty ? text : "\(text): \(names.joined(separator: ", "))"
    }

    /// An entry that sets the model, in words.
    var modelSentence: String { "The model set\(byline)" }

    private var byline: String {
        author.map { " by \($0)" } ?? ""
    }
}

extension AuditRecord {
    /// The time it happened, if in the years 1 to 9999, which other programs support.
    var commonTime: String? {
        let text = DateText.text(microseconds: entry.time)
        guard text.utf8.first != UInt8(ascii: "+"), text.utf8.first != UInt8(ascii: "-"),
            !text.hasPrefix("0000")
        else { return nil }
        return text
    }
}

extension AuditMembership {
    /// The names of members in their order, separated by spaces, which no name has.
    static func list(_ members: [Member]) -> String {
        members.sorted { $0.order < $1.order }.map(\.object).joined(separator: " ")
    }
}

extension String {
    /// The text on one line: backslashes and hidden characters, which command a terminal, end a line or
    /// reverse the order of letters, are escaped as in JSON, so that the text can be restored.
    var onOneLine: String {
        guard utf8.contains(where: \.mayBeginEscape) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isHidden:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension UInt8 {
    /// Whether this byte may begin a scalar to escape: a quick test.
    fileprivate var mayBeginEscape: Bool {
        self < 0x20 || self == 0x5c || self == 0x7f || Unicode.Scalar.mayBeginHidden(self)
    }
}
