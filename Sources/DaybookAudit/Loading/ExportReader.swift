internal import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore

/// Reads the lines that ``JSONLinesFormat`` writes.
///
/// The first line sets the model, under which the others are read. Nothing is guessed: an unknown
/// member is an error, because an entry that is only half understood would not be the same entry.
package struct ExportReader: Sendable {
    private var schema: Schema?
    private var previous = Digest.zero

    /// Starts before the first line.
    package init() {}

    /// Reads a line.
    ///
    /// - Throws: ``JSONError`` with the location within the line, the mistake and the remedy.
    package mutating func entry(from line: [UInt8]) throws(JSONError) -> Entry {
        let members = try ExportMembers(
            try JSONValue(parsing: line),
            names: [
                "sequence", "time", "recorded", "author", "note", "context", "base", "undoes",
                "kind", "model", "changes", "digest",
            ])
        let sequence = SequenceNumber(rawValue: try members.required("sequence", read: .number))
        let time = try members.required("time", read: .time)
        let recorded = try members.optional("recorded", read: .time)
        let kind = try members.optional("kind", read: .kind) ?? .save
        let base = try members.optional("base", read: .number)
        let header = EntryHeader(
            kind: kind.entryKind, author: try members.optional("author", read: .text),
            note: try members.optional("note", read: .text),
            context: try members.optional("context", read: .text),
            occurredAt: recorded == nil ? nil : time,
            base: base.map { SequenceNumber(rawValue: $0) }
                ?? SequenceNumber(rawValue: max(sequence.rawValue, 1) - 1),
            undoes: try members.undoes(before: sequence))
        guard header.base < sequence else {
            throw JSONError("the number of an earlier entry was expected.", at: "base")
        }
        let digest = try members.digest()
        let model = try model(members, kind)
        let entry = Entry(
            sequence: sequence, recordedAt: recorded ?? time, digest: digest, previous: previous,
            header: header, model: model, changes: try changes(members, kind))
        previous = digest
        return entry
    }

    // MARK: - Models

    private mutating func model(
        _ members: ExportMembers, _ kind: AuditRecord.Kind
    ) throws(JSONError) -> ManagedObjectModel? {
        guard kind == .model else {
            guard members["model"] == nil else {
                throw JSONError(
                    "only an entry of kind \"model\" has one, not \"\(kind.rawValue)\".",
                    at: "model")
            }
            return nil
        }
        guard let json = members["model"] else {
            throw JSONError("is missing; an entry of kind \"model\" has one.", at: "model")
        }
        do {
            let model = try ManagedObjectModel(json: json.text)
            schema = try Schema(model)
            return model
        } catch {
            throw JSONError("\(error)", at: "model")
        }
    }

    // MARK: - Changes

    private func changes(
        _ members: ExportMembers, _ kind: AuditRecord.Kind
    ) throws(JSONError) -> [Change] {
        let list = try members.list("changes")
        guard kind != .model else {
            guard list.isEmpty else {
                throw JSONError("an entry that sets the model has none.", at: "changes")
            }
            return []
        }
        guard let schema else {
            throw JSONError(
                "an export to load begins with entry 1, which is of kind \"model\".", at: "kind")
        }
        var changes: [Change] = []
        changes.reserveCapacity(list.count)
        for (index, json) in list.enumerated() {
            do {
                changes.append(try ExportedChange(json, in: schema).change)
            } catch {
                throw error.within("changes[\(index)]")
            }
        }
        return changes
    }
}
