internal import DaybookObjectModel

/// The source of an envelope.
struct DebeziumSource {
    private let members: JSONValue
    /// The table of the row.
    let table: ForeignTable
    /// The names of the table.
    let tables: [String]

    init(_ envelope: JSONValue) throws(JSONError) {
        guard let source = envelope["source"], case .object = source else {
            throw JSONError("is missing: it says which table the row is of.", at: "source")
        }
        guard let name = source["table"]?.plainText ?? source["collection"]?.plainText else {
            throw JSONError("is missing: the name of a table was expected.", at: "source.table")
        }
        members = source
        let connector = source["name"]?.plainText
        let (database, schema) = (source["db"]?.plainText, source["schema"]?.plainText)
        table = ForeignTable(
            stream: [connector, database].compactMap { $0 }.joined(separator: "/"),
            path: [connector, database, schema, name])
        let outer = [schema, database].compactMap { $0 }
        tables =
            [name] + outer.map { "\($0).\(name)" }
            + (outer.count == 2 ? ["\(outer[1]).\(outer[0]).\(name)"] : [])
    }

    func origin(_ envelope: JSONValue, isRead: Bool) -> ForeignOrigin {
        let transaction = envelope["transaction"]
        let snapshot = members["snapshot"]?.plainText
        return ForeignOrigin(
            stream: table.stream,
            // PostgreSQL's 'transaction.id' has the place of each change behind the number.
            transaction: members["txId"]?.plainText ?? transaction?["id"]?.plainText
                ?? members["gtid"]?.plainText,
            position: position(total: transaction?["total_order"]?.plainText),
            isSnapshot: isRead || (snapshot != nil && snapshot != "false"),
            time: time, author: members["author"]?.plainText, note: members["note"]?.plainText,
            info: info)
    }

    /// The information that `daybook export` writes; other connectors have none. It is taken as it stands: the save
    /// refuses what an entry cannot keep.
    private var info: [String: String] {
        guard members["connector"]?.plainText == "daybook",
            case .object(let pairs)? = members["info"]
        else { return [:] }
        return Dictionary(
            pairs.compactMap { pair in pair.value.plainText.map { (pair.name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// When it happened, in microseconds, from the finest unit given.
    private var time: Int64? {
        if let text = members["ts_us"]?.plainText, let time = Int64(text) { return time }
        guard let text = members["ts_ms"]?.plainText, let time = Int64(text) else { return nil }
        let (microseconds, overflow) = time.multipliedReportingOverflow(by: 1000)
        return overflow ? nil : microseconds
    }

    /// The position in the form of each connector: PostgreSQL, Oracle, MySQL, SQL Server and Db2, MongoDB; else by
    /// time.
    private func position(total: String?) -> ForeignPosition? {
        if let (kind, parts) = committed {
            return ForeignPosition(
                kind: kind, parts: parts + [total].compactMap(\.self),
                total == nil ? .step : .event)
        }
        // Where PostgreSQL's changes are in its log does not say in which order they come.
        if members["connector"]?.plainText == "postgresql" { return nil }
        let kinds = [
            ["lsn"], ["file", "pos", "row"], ["commit_lsn", "change_lsn", "event_serial_no"],
            ["commit_lsn", "change_lsn"], ["ts_ms", "ord"], ["ts_us"], ["ts_ms"],
        ]
        for kind in kinds {
            var parts = kind.compactMap { members[$0]?.plainText }
            guard parts.count == kind.count else { continue }
            if let total { parts.append(total) }
            let precision: ForeignPosition.Precision =
                total != nil || kind.count > 1
                ? .event : kind[0].hasPrefix("ts_") ? .time : .step
            var position = ForeignPosition(kind: kind[0], parts: parts, precision)
            if members["connector"]?.plainText == "daybook" {
                position.digest = members["digest"]?.plainText
            }
            return position
        }
        return nil
    }

    /// The position of a change that is told when its transaction is committed, though it was made before changes of
    /// others that were told already: a place among the commits, and that of the change itself.
    ///
    /// An initial state is at its own place among the commits, and so is what comes before the first commit that the
    /// connector knows of.
    private var committed: (kind: String, parts: [String])? {
        if let own = members["scn"]?.plainText {
            return ("scn", [members["commit_scn"]?.plainText ?? own, own])
        }
        // JSON in a text: the last commit before it, and its own place.
        guard let text = members["sequence"]?.plainText,
            case .array(let places)? = JSONValue.parsed(text), places.count == 2,
            let own = places[1].plainText
        else { return nil }
        return ("sequence", [places[0].plainText ?? own, own])
    }
}

extension JSONValue {
    /// What a text is as JSON; nil if it is none.
    static func parsed(_ text: String) -> JSONValue? {
        do {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            return nil
        }
    }

    /// Text, or the digits of a number, or the word for a truth value; nil for everything else.
    var plainText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        default: nil
        }
    }
}
