package import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | member | when | what |
// |---|---|---|
// | sequence | always | the sequence number of the entry |
// | time | always | when it happened, else its recording time |
// | recorded | if the author gave another time | its recording time |
// | author, note, context | if given | text |
// | info | if given | an object of texts, in the order of the bytes of its keys |
// | base | if not the entry before | the entry that the changes were based on |
// | undoes | if it undoes any | the entry that is undone, or a list of the first and last of several |
// | kind | if not save | batch, undo, model |
// | model | kind model | the model, as `daybook init` takes it |
// | changes | always | op, object, entity, cause, old, new, added, removed |
// | digest | unless a value in it or before it is hidden | SHA-256 in hexadecimal |
//
// In a change, "old" and "new" hold values by property: an insert has "new", a delete "old", an
// update both, with the same properties. Properties without a value are left out of inserts and
// deletes. "added" and "removed" hold, by to-many relationship, the names of objects, or {"object":
// …, "order": …} if the relationship is ordered. "confidential" lists the properties whose values
// are left out; a store cannot be loaded from an export that has it.
//
// Before the first entry that refers to large data stand their bytes, on lines of their own: see
// `LargeDataLine`.

/// The native export: a JSON object for each entry, from which the same store can be loaded again.
public struct JSONLinesFormat: AuditFormat {
    /// `jsonl`.
    public static let name = "jsonl"
    /// The native form.
    public static let summary =
        "every entry whole; a store can be loaded from it"
    /// A digest can only be checked over all changes of its entry.
    public static let keepsEntriesWhole = true
    /// A store cannot be loaded without them.
    public static let carriesLargeData = true

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        JSONLinesEncoder()
    }
}

/// Writes each record on a line.
package struct JSONLinesEncoder: RecordwiseEncoder {
    /// Makes an encoder.
    package init() {}

    /// The record on one line, with its line end.
    package func bytes(of record: AuditRecord, inPass pass: Int = 0) throws -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + record.shown.count * 128)
        try writer.object { writer in try Self.append(record, to: &writer) }
        writer.endLine()
        return writer.bytes
    }

    private static func append(_ record: AuditRecord, to writer: inout JSONWriter) throws {
        let entry = record.entry
        let header = entry.header
        append(headOf: record, to: &writer)
        if header.base != entry.sequence.previous {
            writer.append("base", integer: header.base.rawValue)
        }
        append(undoes: header.undoes, to: &writer)
        if record.kind != .save { writer.append("kind", string: record.kind.rawValue) }
        if let model = entry.model {
            writer.name("model")
            writer.value(try JSONValue(parsing: model.json(.oneLine)))
            if !record.steps.isEmpty {
                writer.name("steps")
                writer.value(.array(record.steps.map { .string($0.description) }))
            }
            if let version = entry.version, !version.isFirst {
                let bytes = Data(version.canonicalBytes)
                writer.append("numbers", string: bytes.base64EncodedString())
            }
        }
        writer.name("changes")
        writer.array { writer in
            for change in record.shown {
                writer.object { $0.append(record.readable(change)) }
            }
        }
        writer.append("digest", string: record.toldDigest)
    }

    /// `"undoes":7`, or `"undoes":[5,9]` for several entries.
    package static func append(
        undoes range: ClosedRange<SequenceNumber>?, to writer: inout JSONWriter
    ) {
        guard let range else { return }
        guard range.lowerBound < range.upperBound else {
            return writer.append("undoes", integer: range.lowerBound.rawValue)
        }
        writer.name("undoes")
        writer.value(
            .array([range.lowerBound, range.upperBound].map { .number(String($0.rawValue)) }))
    }

    /// The members for sequence number, times, author, note and information.
    package static func append(headOf record: AuditRecord, to writer: inout JSONWriter) {
        let entry = record.entry
        writer.append("sequence", integer: entry.sequence.rawValue)
        writer.name("time")
        writer.time(microseconds: entry.time)
        if entry.header.occurredAt != nil {
            writer.name("recorded")
            writer.time(microseconds: entry.recordedAt)
        }
        writer.append("author", string: entry.header.author)
        writer.append("note", string: entry.header.note)
        writer.append(info: entry.header.info)
        writer.append("context", string: entry.header.context)
    }
}

extension JSONWriter {
    /// Writes the members of a change.
    package mutating func append(_ change: AuditChange) {
        append("op", string: change.operation.rawValue)
        append("object", string: change.object)
        append("entity", string: change.entity)
        append("cause", string: change.cause)
        if change.operation != .insert {
            name("old")
            object { writer in
                // By index: a field taken out of the array would be copied with everything it
                // refers to.
                for index in change.fields.indices {
                    writer.name(change.fields[index].name)
                    change.fields[index].old.write(to: &writer)
                }
            }
        }
        if change.operation != .delete {
            name("new")
            object { writer in
                for index in change.fields.indices {
                    writer.name(change.fields[index].name)
                    change.fields[index].new.write(to: &writer)
                }
            }
        }
        append("removed", change.memberships.filter { !$0.removed.isEmpty }, \.removed)
        // A membership without members goes under "added", so that it is not lost.
        append(
            "added",
            change.memberships.filter { !$0.added.isEmpty || $0.removed.isEmpty }, \.added)
        guard !change.omitted.isEmpty else { return }
        name("confidential")
        array { writer in for name in change.omitted { writer.string(name) } }
    }

    private mutating func append(
        _ name: String, _ memberships: [AuditMembership],
        _ side: (AuditMembership) -> [AuditMembership.Member]
    ) {
        guard !memberships.isEmpty else { return }
        self.name(name)
        object { writer in
            for membership in memberships {
                writer.name(membership.name)
                writer.array { writer in
                    for member in side(membership) {
                        writer.append(member, isOrdered: membership.isOrdered)
                    }
                }
            }
        }
    }

    private mutating func append(_ member: AuditMembership.Member, isOrdered: Bool) {
        guard isOrdered || member.order != 0 else { return string(member.object) }
        object { writer in
            writer.append("object", string: member.object)
            writer.name("order")
            writer.double(member.order)
        }
    }

    /// Writes the member for information; nothing if there is none.
    package mutating func append(info: [String: String]) {
        guard !info.isEmpty else { return }
        name("info")
        object { writer in
            for (key, text) in EntryInfo.ordered(info) {
                writer.name(key)
                writer.string(text)
            }
        }
    }

    /// Writes a member that is a whole number.
    mutating func append(_ name: String, integer: some BinaryInteger) {
        self.name(name)
        self.integer(integer)
    }

    /// Writes a text member; nothing if there is no text.
    mutating func append(_ name: String, string: String?) {
        guard let string else { return }
        self.name(name)
        self.string(string)
    }
}
