package import DaybookObjectModel

/// Reads Debezium's envelopes, one a line.
///
/// It accepts bare envelopes and those with a schema (`{"schema":…,"payload":…}`). Tombstones
/// (`null`), heartbeats, the bounds of transactions and messages change no row and are skipped.
package struct DebeziumReader: Sendable {
    /// Whether unknown members of the envelope are skipped.
    private let ignoresUnknown: Bool

    /// Makes a reader.
    package init(ignoringUnknown: Bool) {
        ignoresUnknown = ignoringUnknown
    }

    /// The event of a line; nil for a line that changes no row.
    ///
    /// - Throws: ``JSONError`` with the location within the line, the mistake and the remedy.
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
            // A heartbeat has only its time; a bound names the transaction that begins or ends.
            if names.isSubset(of: ["ts_ms", "ts_us", "ts_ns"]) && !names.isEmpty { return nil }
            if names.contains("status"), names.contains("id") { return nil }
            if names.contains("ddl") || names.contains("tableChanges") {
                throw JSONError(
                    "a change of tables is not a change of rows: leave it out, and see that the model "
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
            operation: operation, table: source.table, tables: source.tables,
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
                // The placeholder of a long value that did not change and was not read.
                if member.value == .string("__debezium_unavailable_value") { continue }
                row.append(
                    JSONMember(member.name, try plain(member, types[member.name], in: name)))
            }
            return row
        case let other?: throw JSONError("a row was expected, not \(other.noun).", at: name)
        }
    }

    /// The value of a column as plain JSON.
    private func plain(
        _ member: JSONMember, _ type: DebeziumType?, in row: String
    ) throws(JSONError) -> JSONValue {
        guard let type else { return member.value }
        if let value = type.plain(member.value) { return value }
        // An attribute of text would keep the bytes of the number as if they were its digits.
        guard !type.isDecimal || member.value == .null else {
            throw JSONError(
                "a decimal number of at most 128 bits was expected, in the form that its schema says. Have the "
                    + "connector write it as text ('decimal.handling.mode=string').",
                at: "\(row).\(member.name)")
        }
        return member.value
    }

    private func refuseUnknown(_ members: [JSONMember], known: [String]) throws(JSONError) {
        guard !ignoresUnknown else { return }
        for member in members where !known.contains(member.name) {
            throw JSONError(
                "is not known in an envelope"
                    + member.name.suggestionOrEnd(among: known), at: member.name)
        }
    }

    /// The types in an envelope's schema of the columns whose JSON does not show them.
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

extension [JSONMember] {
    /// The value of the member with that name.
    package func first(named name: String) -> JSONValue? {
        first { $0.name == name }?.value
    }
}
