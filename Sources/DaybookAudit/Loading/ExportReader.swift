internal import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
internal import Foundation

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
        try entry(from: try JSONValue(parsing: line))
    }

    /// Reads a line.
    ///
    /// - Throws: As ``entry(from:)``.
    mutating func entry(from json: JSONValue) throws(JSONError) -> Entry {
        let members = try ExportMembers(json, names: ExportMembers.ofEntry)
        let sequence = SequenceNumber(rawValue: try members.required("sequence", read: .number))
        let time = try members.required("time", read: .time)
        let recorded = try members.optional("recorded", read: .time)
        let kind = try members.optional("kind", read: .kind) ?? .save
        let base = try members.optional("base", read: .number)
        let header = EntryHeader(
            kind: kind.entryKind, author: try members.optional("author", read: .text),
            note: try members.optional("note", read: .text), info: try members.info(),
            context: try members.optional("context", read: .text),
            occurredAt: recorded == nil ? nil : time,
            base: base.map { SequenceNumber(rawValue: $0) }
                ?? SequenceNumber(rawValue: max(sequence.rawValue, 1) - 1),
            undoes: try members.undoes(before: sequence))
        guard header.base < sequence else {
            throw JSONError("the number of an earlier entry was expected.", at: "base")
        }
        let digest = try members.digest()
        let version = try version(members, kind)
        let entry = Entry(
            sequence: sequence, recordedAt: recorded ?? time, digest: digest, previous: previous,
            header: header, version: version, changes: try changes(members))
        previous = digest
        return entry
    }

    // MARK: - Models

    private mutating func version(
        _ members: ExportMembers, _ kind: AuditRecord.Kind
    ) throws(JSONError) -> ModelVersion? {
        guard kind == .model else {
            for name in ["model", "steps", "numbers"] where members[name] != nil {
                throw JSONError(
                    "only an entry of kind \"model\" has it, not \"\(kind.rawValue)\".", at: name)
            }
            return nil
        }
        guard let json = members["model"] else {
            throw JSONError("is missing; an entry of kind \"model\" has one.", at: "model")
        }
        let version: ModelVersion
        do {
            let model = try ManagedObjectModel(json: json.text)
            version = try numbered(model, members.optional("numbers", read: .text))
        } catch let error as JSONError {
            throw error
        } catch {
            throw JSONError("\(error)", at: "model")
        }
        // The steps are words for readers, which a later release may choose otherwise. They follow from the
        // numbers, which the digest covers.
        schema = Schema(version)
        return version
    }

    /// A model with its numbers; without any they are those of a first version.
    private func numbered(
        _ model: ManagedObjectModel, _ numbers: String?
    ) throws -> ModelVersion {
        guard let numbers else {
            guard schema == nil else {
                throw JSONError("is missing; every later model has them.", at: "numbers")
            }
            return try ModelVersion(first: model)
        }
        guard let bytes = Data(base64Encoded: numbers) else {
            throw JSONError("Base64 text was expected.", at: "numbers")
        }
        let version: ModelVersion
        do {
            version = try ModelVersion(canonicalBytes: Array(bytes))
        } catch {
            throw JSONError("The numbers of the model cannot be read: \(error)", at: "numbers")
        }
        guard version.model == model.versioned else {
            throw JSONError("They are the numbers of another model.", at: "numbers")
        }
        return version
    }

    // MARK: - Changes

    private func changes(
        _ members: ExportMembers
    ) throws(JSONError) -> [Change] {
        let list = try members.list("changes")
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
