internal import Foundation
package import ObjectModel

/// Reads envelopes as Debezium writes them, one a line.
///
/// Understood are bare envelopes and those behind a schema (`{"schema":…,"payload":…}`). Tombstones
/// (`null`), heartbeats, the bounds of transactions and messages change no row and are passed over.
package struct DebeziumReader: Sendable {
    /// Whether members of the envelope that are not known are passed over.
    private let ignoresUnknown: Bool

    /// Makes a reader.
    package init(ignoringUnknown: Bool) {
        ignoresUnknown = ignoringUnknown
    }

    /// The event of a line; nil for a line that changes no row.
    ///
    /// - Throws: ``JSONError`` with the place within the line, what is wrong and what would be right.
    package func event(from line: [UInt8]) throws(JSONError) -> ForeignEvent? {
        let json = try JSONValue(parsing: line)
        if json == .null { return nil }
        guard case .object(let members) = json else {
            throw JSONError("an envelope such as {\"op\":\"c\",…} was expected, not \(json.noun).")
        }
        guard members.contains(where: { $0.name == "payload" }) else {
            return try event(members, types: [:])
        }
        try refuseUnknown(members, known: ["schema", "payload"])
        switch json["payload"] {
        case nil, .null?: return nil
        case .object(let payload)?:
            do {
                return try event(payload, types: Self.types(in: json["schema"]))
            } catch {
                throw error.within("payload")
            }
        case let other?:
            throw JSONError("an envelope was expected, not \(other.noun).", at: "payload")
        }
    }

    private func event(
        _ members: [JSONMember], types: [String: DebeziumType]
    ) throws(JSONError) -> ForeignEvent? {
        let envelope = JSONValue.object(members)
        guard let op = envelope["op"] else {
            let names = Set(members.map(\.name))
            // A heartbeat has nothing but its time; a bound says which transaction begins or ends.
            if names.isSubset(of: ["ts_ms", "ts_us", "ts_ns"]) && !names.isEmpty { return nil }
            if names.contains("status"), names.contains("id") { return nil }
            if names.contains("ddl") || names.contains("tableChanges") {
                throw JSONError(
                    "a change of tables is no change of rows: leave it out, and see that the model "
                        + "has what follows.", at: "ddl")
            }
            throw JSONError(
                "is missing: \"c\", \"u\", \"d\" or \"r\" was expected.", at: "op")
        }
        let operation: ForeignEvent.Operation
        switch op {
        case .string("c"): operation = .insert
        case .string("u"): operation = .update
        case .string("d"): operation = .delete
        case .string("r"): operation = .read
        case .string("m"): return nil
        case .string("t"):
            throw JSONError(
                "a truncated table does not tell which rows it had: delete them one by one.",
                at: "op")
        default:
            throw JSONError("\"c\", \"u\", \"d\" or \"r\" was expected, not \(op.noun).", at: "op")
        }
        try refuseUnknown(
            members,
            known: ["before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction"])

        let source = try DebeziumSource(envelope)
        let before = try row("before", in: envelope, types)
        let after = try row("after", in: envelope, types)
        guard operation == .delete || after != nil else {
            throw JSONError("is missing: the row after the change was expected.", at: "after")
        }
        guard operation != .delete || before != nil else {
            throw JSONError(
                "is missing: it must hold at least the key of the row that is deleted.",
                at: "before")
        }
        return ForeignEvent(
            operation: operation, tables: source.tables,
            name: Self.name(in: after) ?? Self.name(in: before), before: before,
            after: operation == .delete ? nil : after,
            origin: source.origin(envelope, isRead: operation == .read))
    }

    private static func name(in row: [JSONMember]?) -> String? {
        guard case .string(let name)? = row?.first(named: DebeziumFormat.identifier) else {
            return nil
        }
        return name
    }

    private func row(
        _ name: String, in envelope: JSONValue, _ types: [String: DebeziumType]
    ) throws(JSONError) -> [JSONMember]? {
        switch envelope[name] {
        case nil, .null?: return nil
        case .object(let members)?:
            var row: [JSONMember] = []
            row.reserveCapacity(members.count)
            for member in members {
                // Stands for a long value that did not change and was not read.
                if member.value == .string("__debezium_unavailable_value") { continue }
                let value = types[member.name]?.plain(member.value) ?? member.value
                row.append(JSONMember(member.name, value))
            }
            return row
        case let other?: throw JSONError("a row was expected, not \(other.noun).", at: name)
        }
    }

    private func refuseUnknown(_ members: [JSONMember], known: [String]) throws(JSONError) {
        guard !ignoresUnknown else { return }
        for member in members where !known.contains(member.name) {
            throw JSONError(
                "is not known in an envelope"
                    + member.name.suggestionOrEnd(among: known), at: member.name)
        }
    }

    /// What the schema of an envelope says of the columns whose JSON does not tell it.
    private static func types(in schema: JSONValue?) -> [String: DebeziumType] {
        guard case .array(let sides)? = schema?["fields"] else { return [:] }
        var types: [String: DebeziumType] = [:]
        for side in sides where ["before", "after"].contains(side["field"]?.plainText) {
            guard case .array(let columns)? = side["fields"] else { continue }
            for column in columns {
                guard let name = column["field"]?.plainText else { continue }
                types[name] = DebeziumType(column)
            }
        }
        return types
    }
}

/// What an envelope says of where it comes from.
private struct DebeziumSource {
    private let members: JSONValue
    let tables: [String]

    init(_ envelope: JSONValue) throws(JSONError) {
        guard let source = envelope["source"], case .object = source else {
            throw JSONError("is missing: it says which table the row is of.", at: "source")
        }
        guard let table = source["table"]?.plainText ?? source["collection"]?.plainText else {
            throw JSONError("is missing: the name of a table was expected.", at: "source.table")
        }
        members = source
        let outer = [source["schema"]?.plainText, source["db"]?.plainText].compactMap { $0 }
        tables =
            [table] + outer.map { "\($0).\(table)" }
            + (outer.count == 2 ? ["\(outer[1]).\(outer[0]).\(table)"] : [])
    }

    func origin(_ envelope: JSONValue, isRead: Bool) -> ForeignOrigin {
        let transaction = envelope["transaction"]
        let snapshot = members["snapshot"]?.plainText
        let stream = [members["name"]?.plainText, members["db"]?.plainText].compactMap { $0 }
        return ForeignOrigin(
            stream: stream.joined(separator: "/"),
            transaction: transaction?["id"]?.plainText ?? members["txId"]?.plainText
                ?? members["gtid"]?.plainText,
            position: position(total: transaction?["total_order"]?.plainText),
            isSnapshot: isRead || (snapshot != nil && snapshot != "false"),
            time: time, author: members["author"]?.plainText, note: members["note"]?.plainText)
    }

    /// When it happened, in microseconds, by the finest unit that is told.
    private var time: Int64? {
        if let text = members["ts_us"]?.plainText, let time = Int64(text) { return time }
        guard let text = members["ts_ms"]?.plainText, let time = Int64(text) else { return nil }
        let (microseconds, overflow) = time.multipliedReportingOverflow(by: 1000)
        return overflow ? nil : microseconds
    }

    /// The place by what the connectors tell of it: PostgreSQL and Db2, MySQL, SQL Server, Oracle,
    /// MongoDB; else by time.
    private func position(total: String?) -> ForeignPosition? {
        let kinds = [
            ["lsn"], ["file", "pos", "row"], ["commit_lsn", "change_lsn", "event_serial_no"],
            ["commit_lsn", "change_lsn"], ["scn"], ["ts_ms", "ord"], ["ts_us"], ["ts_ms"],
        ]
        for kind in kinds {
            var parts = kind.compactMap { members[$0]?.plainText }
            guard parts.count == kind.count else { continue }
            if let total { parts.append(total) }
            let precision: ForeignPosition.Precision =
                total != nil || kind.count > 1
                ? .event : kind[0].hasPrefix("ts_") ? .time : .step
            return ForeignPosition(kind: kind[0], parts: parts, precision)
        }
        return nil
    }
}

/// What the JSON of a column stands for where that is another thing than it looks like.
private enum DebeziumType {
    /// A number of units since 1970, so many in a second.
    case time(Int64)
    /// Days since 1970.
    case days
    /// The bytes of a whole number, big-endian, as base64, that counts units of 10 to the minus scale.
    case decimal(scale: Int)

    init?(_ column: JSONValue) {
        switch column["name"]?.plainText {
        case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date": self = .days
        case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp":
            self = .time(1000)
        case "io.debezium.time.MicroTimestamp": self = .time(1_000_000)
        case "io.debezium.time.NanoTimestamp": self = .time(1_000_000_000)
        case "org.apache.kafka.connect.data.Decimal":
            guard let text = column["parameters"]?["scale"]?.plainText, let scale = Int(text),
                (0...90).contains(scale)
            else { return nil }
            self = .decimal(scale: scale)
        default: return nil
        }
    }

    /// The value as JSON that says what it is; nil when it is not what the schema says.
    func plain(_ json: JSONValue) -> JSONValue? {
        switch (self, json) {
        case (.days, .number(let text)):
            guard let days = Int64(text), abs(days) < 1_000_000_000 else { return nil }
            return .string(DateText.text(Date(timeIntervalSince1970: Double(days * 86_400))))
        case (.time(let units), .number(let text)):
            guard let count = Int64(text) else { return nil }
            let (seconds, rest) = count.quotientAndRemainder(dividingBy: units)
            return .string(
                DateText.text(
                    Date(timeIntervalSince1970: Double(seconds) + Double(rest) / Double(units))))
        case (.decimal(let scale), .string(let text)):
            guard let bytes = Data(base64Encoded: text), let first = bytes.first, bytes.count <= 8
            else { return nil }
            var number: Int64 = first & 0x80 == 0 ? 0 : -1
            for byte in bytes { number = number << 8 | Int64(byte) }
            return .string("\(number)e-\(scale)")
        default: return nil
        }
    }
}

extension [JSONMember] {
    /// The value of the member of that name.
    package func first(named name: String) -> JSONValue? {
        first { $0.name == name }?.value
    }
}

extension JSONValue {
    /// Text, or the digits of a number, or the word for a truth value; nil for everything else.
    fileprivate var plainText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        default: nil
        }
    }
}
