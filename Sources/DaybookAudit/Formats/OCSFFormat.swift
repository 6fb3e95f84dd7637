internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | member | what |
// |---|---|
// | class_uid, category_uid, type_uid | 3004, 3, 300400 and the activity |
// | activity_id | 1 Create, 3 Update, 4 Delete; 99 when the model is set |
// | time | when it happened, in milliseconds |
// | severity_id, status_id | 1 Informational, 1 Success: a journal holds successful changes |
// | entity | the object; "data" has the old values |
// | entity_result | the object after an insert or update; "data" has the new values |
// | actor.user.name | the author |
// | comment | the note |
// | metadata | version of OCSF, product, uid, sequence, correlation_uid (the entry), times, log_name |
// | unmapped | without an OCSF counterpart: op, old, new, added, removed, cause, context, digest … |

/// Events of the Open Cybersecurity Schema Framework: Entity Management, one a line for each change.
public struct OCSFFormat: AuditFormat {
    /// `ocsf`.
    public static let name = "ocsf"
    /// Events for security analysis.
    public static let summary = "an event for each change (OCSF 1.5 Entity Management)"
    /// The version of the schema.
    public static let version = "1.5.0"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        let store = scope.storeIdentifier.uuidString.lowercased()
        return OCSFEncoder(store: store, source: scope.options.source ?? "urn:uuid:\(store)")
    }
}

private struct OCSFEncoder: RecordwiseEncoder {
    private static let classNumber = 3004
    let store: String
    let source: String

    /// OCSF's numbers of the operations.
    private enum Activity: Int {
        case create = 1
        case update = 3
        case delete = 4
        case other = 99

        init(_ operation: AuditChange.Operation) {
            self =
                switch operation {
                case .insert: .create
                case .update: .update
                case .delete: .delete
                }
        }

        var name: String {
            switch self {
            case .create: "Create"
            case .update: "Update"
            case .delete: "Delete"
            case .other: "Set Model"
            }
        }
    }

    /// An event for each change, or one for the model.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var writer = JSONWriter(capacity: record.shown.count * 1024 + 1024)
        if let model = record.entry.model {
            let json = try JSONValue(parsing: model.json(.oneLine))
            writer.object { writer in
                append(headOf: record, position: 0, .other, to: &writer)
                writer.append("message", string: "set model")
                writer.name("entity")
                writer.object { writer in
                    writer.append("name", string: "model")
                    appendType("Model", to: &writer)
                    writer.name("data")
                    writer.value(json)
                }
                appendUnmapped(record, nil, to: &writer)
            }
            writer.endLine()
        }
        for (position, change) in record.numberedEvents {
            let change = record.readable(change)
            writer.object { writer in
                append(
                    headOf: record, position: position, Activity(change.operation),
                    to: &writer)
                writer.append(
                    "message", string: "\(change.operation.rawValue) \(change.object)")
                append("entity", change, \.old, \.removed, to: &writer)
                if change.operation != .delete {
                    append("entity_result", change, \.new, \.added, to: &writer)
                }
                appendUnmapped(record, change, to: &writer)
            }
            writer.endLine()
        }
        return writer.bytes
    }

    // MARK: - Members

    private func append(
        headOf record: AuditRecord, position: Int, _ activity: Activity, to writer: inout JSONWriter
    ) {
        let entry = record.entry
        writer.append("class_uid", integer: Self.classNumber)
        writer.append("class_name", string: "Entity Management")
        writer.append("category_uid", integer: 3)
        writer.append("category_name", string: "Identity & Access Management")
        writer.append("activity_id", integer: activity.rawValue)
        writer.append("activity_name", string: activity.name)
        writer.append("type_uid", integer: Self.classNumber * 100 + activity.rawValue)
        writer.append("type_name", string: "Entity Management: \(activity.name)")
        writer.append("severity_id", integer: 1)
        writer.append("severity", string: "Informational")
        writer.append("status_id", integer: 1)
        writer.append("status", string: "Success")
        writer.append("time", integer: entry.time.milliseconds)
        if let author = entry.header.author, !author.isEmpty {
            writer.name("actor")
            writer.object { writer in
                writer.name("user")
                writer.object { $0.append("name", string: author) }
            }
        }
        writer.append("comment", string: entry.header.note)
        writer.name("metadata")
        writer.object { append(metadataOf: entry, position: position, to: &$0) }
    }

    private func append(
        metadataOf entry: Entry, position: Int, to writer: inout JSONWriter
    ) {
        writer.append("version", string: OCSFFormat.version)
        writer.name("product")
        writer.object { writer in
            writer.append("name", string: "Daybook")
            writer.append("vendor_name", string: "Daybook")
        }
        writer.append("uid", string: "\(store)-\(entry.sequence)-\(position)")
        writer.append("correlation_uid", string: "\(store)-\(entry.sequence)")
        writer.append("sequence", integer: entry.sequence.rawValue)
        writer.append("log_name", string: source)
        writer.append("original_time", string: DateText.text(microseconds: entry.time))
        writer.append("logged_time", integer: entry.recordedAt.milliseconds)
    }

    private func appendType(_ entity: String, to writer: inout JSONWriter) {
        writer.append("type", string: entity)
        writer.append("type_id", integer: 99)
    }

    /// The object with one side of its changes.
    private func append(
        _ name: String, _ change: AuditChange, _ side: (AuditField) -> AuditValue,
        _ members: (AuditMembership) -> [AuditMembership.Member], to writer: inout JSONWriter
    ) {
        writer.name(name)
        writer.object { writer in
            writer.append("uid", string: change.object)
            writer.append("name", string: change.object)
            appendType(change.entity, to: &writer)
            // An update may set a value to null; an insert has no null values.
            let values =
                change.operation == .update
                ? change.fields : change.fields.filter { !side($0).isNull }
            let lists = change.memberships.filter { !members($0).isEmpty }
            guard !values.isEmpty || !lists.isEmpty else { return }
            writer.name("data")
            writer.object { writer in
                for field in values {
                    writer.name(field.name)
                    side(field).write(to: &writer)
                }
                for list in lists {
                    writer.name(list.name)
                    writer.array { writer in
                        for member in members(list) { writer.string(member.object) }
                    }
                }
            }
        }
    }

    /// The change in full, in the native form.
    private func appendUnmapped(
        _ record: AuditRecord, _ change: AuditChange?, to writer: inout JSONWriter
    ) {
        writer.name("unmapped")
        writer.object { writer in
            writer.append(info: record.info)
            writer.append("context", string: record.context)
            if record.kind != .save { writer.append("kind", string: record.kind.rawValue) }
            JSONLinesEncoder.append(undoes: record.undoes, to: &writer)
            if let change { writer.append(change) }
            writer.append("recorded", string: DateText.text(microseconds: record.entry.recordedAt))
            writer.append("digest", string: record.toldDigest)
        }
    }
}
