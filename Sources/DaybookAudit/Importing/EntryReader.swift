internal import DaybookJournalLog
package import DaybookObjectModel

/// Reads the lines of a native export as events of another store, to be repeated in this one.
///
/// Objects get other names here, so every line from the first on must be read, even those whose
/// entries are there already: they define the names.
package struct EntryReader: Sendable {
    private let ignoresUnknown: Bool
    private var stream: String?
    private var previous: UInt64 = 0

    /// Makes a reader before the first line.
    package init(ignoringUnknown: Bool) {
        ignoresUnknown = ignoringUnknown
    }

    /// What a line has.
    package enum Line: Sendable {
        /// The events of an entry.
        case events([ForeignEvent])
        /// Some bytes of large data, to which a later entry refers.
        case data(LargeDataLine)
    }

    /// Reads a line.
    ///
    /// - Throws: ``JSONError`` with the location within the line, the mistake and the remedy.
    package mutating func read(_ line: [UInt8]) throws(JSONError) -> Line {
        let json = try JSONValue(parsing: line)
        if let data = try LargeDataLine(known(LargeDataLine.members, of: json)) {
            return .data(data)
        }
        return .events(try events(from: json))
    }

    private mutating func events(from json: JSONValue) throws(JSONError) -> [ForeignEvent] {
        let members = try members(of: json, ExportMembers.ofEntry)
        let sequence = try members.required("sequence", read: .number)
        guard sequence == previous + 1 else { throw outOfOrder(sequence) }
        previous = sequence
        let digest = try members.digest()
        let stream = self.stream ?? "jsonl/\(digest.hexadecimal.prefix(16))"
        self.stream = stream

        let time = try members.required("time", read: .time)
        let author = try members.optional("author", read: .text)
        let note = try members.optional("note", read: .text)
        let info = try members.info()
        let undoes = try members.undoes(before: SequenceNumber(sequence))
        let isModel = try members.optional("kind", read: .kind) == .model
        var events: [ForeignEvent] = []
        // One that sets the first model changes nothing, and needs not say so.
        guard !isModel || members["changes"] != nil else { return events }
        for (index, json) in try members.list("changes").enumerated() {
            var position = ForeignPosition(
                kind: "sequence", parts: [String(sequence), String(index)], .event)
            position.digest = digest.hexadecimal
            let origin = ForeignOrigin(
                stream: stream, transaction: String(sequence), position: position,
                isSnapshot: false, time: time, author: author, note: note, info: info,
                sequence: SequenceNumber(sequence), undoes: undoes)
            do {
                events.append(try event(json, origin))
            } catch {
                throw error.within("changes[\(index)]")
            }
        }
        return events
    }

    private func outOfOrder(_ sequence: UInt64) -> JSONError {
        let fault =
            sequence <= previous
            ? "entry \(sequence) comes again or too late, after entry \(previous)"
            : "entry \(previous + 1) was expected, not entry \(sequence)"
        return JSONError(
            "\(fault): an export to import has every entry in order, from the first on. Those that "
                + "were imported before are passed over.", at: "sequence")
    }

    private func members(
        of json: JSONValue, _ names: [String]
    ) throws(JSONError) -> ExportMembers {
        try ExportMembers(known(names, of: json), names: names)
    }

    /// An object without the members that are to be skipped.
    private func known(_ names: [String], of json: JSONValue) -> JSONValue {
        guard ignoresUnknown, case .object(let members) = json else { return json }
        return .object(members.filter { names.contains($0.name) })
    }

    // MARK: - Changes

    private func event(
        _ json: JSONValue, _ origin: ForeignOrigin
    ) throws(JSONError) -> ForeignEvent {
        let members = try members(
            of: json,
            [
                "op", "object", "entity", "cause", "old", "new", "added", "removed",
                "confidential",
            ])
        guard members["confidential"] == nil || ignoresUnknown else {
            throw JSONError(
                "values were left out; export with '--confidential show', or import without them "
                    + "with '--ignore-unknown'.", at: "confidential")
        }
        let operation: ForeignEvent.Operation =
            switch try members.required("op", read: .operation) {
            case .insert: .insert
            case .update: .update
            case .delete: .delete
            }
        var memberships: [String: ForeignMembership] = [:]
        for (name, joining) in try lists("added", of: members) {
            memberships[name, default: ForeignMembership(name: name)].added = joining
        }
        for (name, leaving) in try lists("removed", of: members) {
            memberships[name, default: ForeignMembership(name: name)].removed = leaving
        }
        let entity = try members.required("entity", read: .text)
        return ForeignEvent(
            operation: operation,
            table: ForeignTable(stream: origin.stream, path: [origin.stream, entity]),
            tables: [entity], name: try members.required("object", read: .text),
            before: operation == .insert ? nil : try members.object("old", isRequired: false),
            after: operation == .delete ? nil : try members.object("new", isRequired: false),
            isWhole: members["confidential"] == nil,
            memberships: memberships.values.sorted { $0.name < $1.name },
            isCaused: try members.optional("cause", read: .text) != nil, origin: origin)
    }

    private func lists(
        _ side: String, of members: ExportMembers
    ) throws(JSONError) -> [(name: String, members: [ForeignMembership.Member])] {
        var lists: [(name: String, members: [ForeignMembership.Member])] = []
        for list in try members.object(side, isRequired: false) {
            guard case .array(let elements) = list.value else {
                throw JSONError(
                    "a list of objects was expected, not \(list.value.noun).",
                    at: "\(side).\(list.name)")
            }
            var read: [ForeignMembership.Member] = []
            for element in elements {
                if case .string(let name) = element {
                    read.append(ForeignMembership.Member(name: name, order: 0))
                    continue
                }
                let fields = try self.members(of: element, ["object", "order"])
                read.append(
                    ForeignMembership.Member(
                        name: try fields.required("object", read: .text),
                        order: try fields.optional("order", read: .double) ?? 0))
            }
            lists.append((list.name, read))
        }
        return lists
    }
}
