package import DaybookJournalLog
package import DaybookObjectModel

/// One change of one row, or object, of a foreign store, from a line of a change stream.
package struct ForeignEvent: Sendable {
    /// The operation on the row.
    package enum Operation: Sendable, Hashable {
        /// It is inserted.
        case insert
        /// It is updated.
        case update
        /// It is deleted.
        case delete
        /// It has these values at the start of a stream; since when is unknown.
        case read
    }

    /// What happens.
    package let operation: Operation
    /// The table of the row, to which its name and its position belong.
    package let table: ForeignTable
    /// The names of its table, the shortest first: `country`, `atlas.country`.
    package let tables: [String]
    /// The source's name of the object; nil if only its values identify it.
    package let name: String?
    /// Values before the change; nil when they are unknown.
    package let before: [JSONMember]?
    /// Values after the change; nil when there are none.
    package let after: [JSONMember]?
    /// Whether the values that an insert omits are null, and not merely unknown.
    package var isWhole = false
    /// To-many relationships with only their differences.
    package var memberships: [ForeignMembership] = []
    /// Whether it follows from the delete of another object by a delete rule.
    package var isCaused = false
    /// The origin of the event.
    package let origin: ForeignOrigin
}

/// A table of a stream.
///
/// Rows of different tables may have the same name, and each table may arrive separately; so names
/// and positions belong to a table.
package struct ForeignTable: Sendable, Hashable {
    /// The name of the stream.
    package let stream: String
    /// The identity of the table within any stream: names from the outermost to its own, nil for an
    /// unknown one.
    private let path: [String?]

    /// Describes a table.
    package init(stream: String, path: [String?]) {
        self.stream = stream
        self.path = path
    }

    /// The name of the table itself.
    package var name: String { path.last.flatMap { $0 } ?? "" }

    /// The identity of the table, as text.
    package var text: String {
        JSONValue.array(path.map { part in part.map { .string($0) } ?? .null }).text
    }
}

/// Objects that join and leave a to-many relationship.
package struct ForeignMembership: Sendable {
    /// An object and its position.
    package struct Member: Sendable {
        /// The source's name of the object.
        package let name: String
        /// Members are in ascending order.
        package let order: Double
    }

    /// The name of the relationship.
    package let name: String
    /// The new members.
    package var added: [Member] = []
    /// The former members.
    package var removed: [Member] = []
}

/// The position, time and author of an event in its source.
package struct ForeignOrigin: Sendable {
    /// The name of the stream.
    package let stream: String
    /// The step of the source that saved it; nil if every event is a step of its own.
    package let transaction: String?
    /// The position in the stream; nil when unknown.
    package let position: ForeignPosition?
    /// Whether the event belongs to the initial state of the stream.
    package let isSnapshot: Bool
    /// When it happened, in microseconds since 1970.
    package let time: Int64?
    /// The author.
    package let author: String?
    /// Why.
    package let note: String?
    /// What else was kept with it, by key.
    package var info: [String: String] = [:]
    /// The entry that it stood in, in another store of this kind.
    package var sequence: SequenceNumber?
    /// The entries of that store that it undoes.
    package var undoes: ClosedRange<SequenceNumber>?
}

/// A position in a change stream. Positions of one kind have an order.
package struct ForeignPosition: Sendable, Hashable, CustomStringConvertible {
    /// The events that may share a position.
    package enum Precision: Sendable, Hashable {
        /// No two events.
        case event
        /// Events of one step.
        case step
        /// Any events of one moment.
        case time
    }

    /// The form of the position, such as `lsn`.
    package let kind: String
    /// Its parts, the most significant first: digits or text.
    package let parts: [String]
    /// The events that may share it.
    package let precision: Precision
    /// The digest of the entry at this place, if the source is another store and tells it.
    package var digest: String?

    /// Describes a position.
    package init(kind: String, parts: [String], _ precision: Precision) {
        self.kind = kind
        self.parts = parts
        self.precision = precision
    }

    /// Such as `lsn 7, 2`.
    package var description: String {
        "\(kind) \(parts.joined(separator: ", "))"
    }

    /// Whether this position is before, at or after another one; nil when they cannot be compared.
    package func order(to other: ForeignPosition) -> ForeignOrder? {
        guard kind == other.kind else { return nil }
        for (own, others) in zip(parts, other.parts) {
            if own == others { continue }
            return own.isBefore(others) ? .before : .after
        }
        return .same
    }

    /// Whether two stores have different entries at the place of both positions.
    package func contradicts(_ other: ForeignPosition) -> Bool {
        guard let digest, let others = other.digest else { return false }
        return kind == other.kind && parts.first == other.parts.first && digest != others
    }
}

/// The order of two positions.
package enum ForeignOrder: Sendable {
    /// The first one comes first.
    case before
    /// They are the same.
    case same
    /// The first one comes last.
    case after
}

extension ForeignPosition {
    /// The position as text that can be read back.
    package var text: String {
        let digest = digest.map { JSONValue.object([JSONMember("digest", .string($0))]) }
        let texts = ([kind] + parts).map { JSONValue.string($0) }
        return JSONValue.array(texts + [digest].compactMap(\.self)).text
    }

    /// Reads a position that ``text`` has written; nil if it is not one.
    package init?(text: String) {
        guard case .array(var values)? = JSONValue.parsed(text) else { return nil }
        var digest: String?
        if case .string(let text)? = values.last?["digest"] {
            digest = text
            values.removeLast()
        }
        let texts = values.compactMap { value in
            if case .string(let text) = value { text } else { nil }
        }
        guard let kind = texts.first, texts.count == values.count else { return nil }
        self.init(kind: kind, parts: Array(texts.dropFirst()), .event)
        self.digest = digest
    }
}

extension String {
    /// Whether a part of a position comes before another one: numerically if both are numbers.
    fileprivate func isBefore(_ other: String) -> Bool {
        guard isNumber, other.isNumber else { return utf8.lexicographicallyPrecedes(other.utf8) }
        let own = drop { $0 == "0" }
        let others = other.drop { $0 == "0" }
        return own.count == others.count ? own < others : own.count < others.count
    }

    private var isNumber: Bool {
        !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
