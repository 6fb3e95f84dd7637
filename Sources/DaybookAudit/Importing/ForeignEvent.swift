package import DaybookJournalLog
package import DaybookObjectModel

/// One change of one row, or object, of a store of another kind, as a line of a change stream tells it.
package struct ForeignEvent: Sendable {
    /// What happens to the row.
    package enum Operation: Sendable, Hashable {
        /// It comes to be.
        case insert
        /// It changes.
        case update
        /// It ceases to be.
        case delete
        /// It is as the event says, which does not tell since when: the start of a stream.
        case read
    }

    /// What happens.
    package let operation: Operation
    /// The table of the row, of which it has its name and its place.
    package let table: ForeignTable
    /// The names that its table goes by, the shortest first: `country`, `atlas.country`.
    package let tables: [String]
    /// What the source calls the object; nil when only its values tell it from others.
    package let name: String?
    /// Values before the change; nil when they are not told.
    package let before: [JSONMember]?
    /// Values after the change; nil when there are none.
    package let after: [JSONMember]?
    /// Whether the values that an insert leaves out are null, and not just not told.
    package var isWhole = false
    /// To-many relationships of which only the difference is told.
    package var memberships: [ForeignMembership] = []
    /// Where and when.
    package let origin: ForeignOrigin
}

/// A table of a stream.
///
/// Rows of different tables may have the same name, and each table may come on a way of its own; so
/// names, and how far was read, go by table.
package struct ForeignTable: Sendable, Hashable {
    /// What the stream is called.
    package let stream: String
    /// What tells the table from others, of whichever stream: names from the outermost to its own, nil
    /// for one that is not told.
    private let path: [String?]

    /// Describes a table.
    package init(stream: String, path: [String?]) {
        self.stream = stream
        self.path = path
    }

    /// The name of the table itself.
    package var name: String { path.last.flatMap { $0 } ?? "" }

    /// What tells the table from others, as text.
    package var text: String {
        JSONValue.array(path.map { part in part.map { .string($0) } ?? .null }).text
    }
}

/// Objects that join and leave a to-many relationship.
package struct ForeignMembership: Sendable {
    /// An object and its place among the others.
    package struct Member: Sendable {
        /// What the source calls the object.
        package let name: String
        /// Members stand in rising order.
        package let order: Double
    }

    /// The name of the relationship.
    package let name: String
    /// Who joins.
    package var added: [Member] = []
    /// Who leaves.
    package var removed: [Member] = []
}

/// Where in its source an event stood, and what is said of it.
package struct ForeignOrigin: Sendable {
    /// What tells the source from others.
    package let stream: String
    /// What was saved in one step there; nil when every event stands for itself.
    package let transaction: String?
    /// The place in the stream; nil when it is not told.
    package let position: ForeignPosition?
    /// Whether the event is one of the state in which the stream begins.
    package let isSnapshot: Bool
    /// When it happened, in microseconds since 1970.
    package let time: Int64?
    /// Who did it.
    package let author: String?
    /// Why.
    package let note: String?
    /// The entry that it stood in, in another store of this kind.
    package var sequence: SequenceNumber?
    /// The entries of that store that it undoes.
    package var undoes: ClosedRange<SequenceNumber>?
}

/// A place in a change stream. Places of one kind have an order.
package struct ForeignPosition: Sendable, Hashable, CustomStringConvertible {
    /// What may share a place.
    package enum Precision: Sendable, Hashable {
        /// No two events do.
        case event
        /// Events of one step do.
        case step
        /// Any events do, as those of one moment.
        case time
    }

    /// What the place is told by, such as `lsn`.
    package let kind: String
    /// Its parts, the most significant first: digits or text.
    package let parts: [String]
    /// What may share it.
    package let precision: Precision

    /// Describes a place.
    package init(kind: String, parts: [String], _ precision: Precision) {
        self.kind = kind
        self.parts = parts
        self.precision = precision
    }

    /// Such as `lsn 7, 2`.
    package var description: String {
        "\(kind) \(parts.joined(separator: ", "))"
    }

    /// Whether this place is before, at or after another one; nil when they cannot be compared.
    package func order(to other: ForeignPosition) -> ForeignOrder? {
        guard kind == other.kind else { return nil }
        for (own, others) in zip(parts, other.parts) {
            if own == others { continue }
            return own.isBefore(others) ? .before : .after
        }
        return .same
    }
}

/// How two places lie.
package enum ForeignOrder: Sendable {
    /// The first one comes first.
    case before
    /// They are the same.
    case same
    /// The first one comes last.
    case after
}

extension ForeignPosition {
    /// The place as text from which it is read again.
    package var text: String {
        JSONValue.array(([kind] + parts).map { .string($0) }).text
    }

    /// Reads a place that ``text`` has written; nil when it is none.
    package init?(text: String) {
        guard case .array(let values)? = try? JSONValue(parsing: Array(text.utf8)) else {
            return nil
        }
        let texts = values.compactMap { value in
            if case .string(let text) = value { text } else { nil }
        }
        guard let kind = texts.first, texts.count == values.count else { return nil }
        self.init(kind: kind, parts: Array(texts.dropFirst()), .event)
    }
}

extension String {
    /// Whether a part of a place comes before another one: as numbers when both are.
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
