internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | member | what |
// |---|---|
// | before | the whole row before the change; null for an insert |
// | after | the whole row after the entry; null for a delete |
// | source.connector, version | daybook, 1.0 |
// | source.name | as the user says with --source, else daybook |
// | source.ts_ms, ts_us, ts_ns | when it happened |
// | source.snapshot | false |
// | source.db, table | the identifier of the store, the entity |
// | source.txId, lsn | the sequence number of the entry |
// | source.author, note, context, digest | as the entry has them |
// | op | c, u or d |
// | ts_ms, ts_us, ts_ns | when it was recorded |
// | transaction | id: the sequence number; total_order: the position in the entry; |
// |             | data_collection_order: the position among those of the entity |
//
// A row has "_id", the name of the object, and then each property that the journal keeps: attributes,
// to-one relationships as the name of an object, and to-many ones as a list of names in order. Only
// one side of a relationship is kept, and the other follows from it. A property without a value is
// null; a confidential one that is left out is not in the row. Both rows have the names and columns
// of the model at the entry, so that an event never changes afterwards. Setting a model is no event,
// because it changes no row.

/// Change events as Debezium writes them, one envelope a line for each change.
///
/// Tables and columns have the names of the model at the entry, and so does what was removed later.
public struct DebeziumFormat: AuditFormat {
    /// `debezium`.
    public static let name = "debezium"
    /// Whole rows before and after each change.
    public static let summary = "an envelope for each change, with whole rows (Debezium)"
    /// The version of this format, which consumers find in `source.version`.
    public static let version = "1.0"

    /// The column that holds the name of the object; no property can have this name.
    package static let identifier = "_id"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        DebeziumEncoder(
            scope: scope, name: scope.options.source ?? "daybook",
            database: scope.storeIdentifier.uuidString.lowercased())
    }
}

private struct DebeziumEncoder: RecordwiseEncoder {
    let scope: AuditScope
    /// The logical name of the source.
    let name: String
    let database: String

    /// An envelope for each change.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var writer = JSONWriter(capacity: record.shown.count * 1024)
        let orders = orders(in: record)
        let then = scope.then(record.sequence)
        for (position, change) in record.numberedChanges {
            let entity = then.schema.entity(change.object.entity)
            let before = try row(of: change.object, at: record.sequence.previous, then)
            let after = try row(of: change.object, at: record.sequence, then)
            writer.object { writer in
                append("before", before, of: entity, to: &writer)
                append("after", after, of: entity, to: &writer)
                writer.name("source")
                writer.object { append(sourceOf: record, entity, to: &$0) }
                writer.append("op", string: change.operation.code)
                append(time: record.entry.recordedAt, to: &writer)
                writer.name("transaction")
                writer.object { writer in
                    writer.append("id", string: record.sequence.description)
                    writer.append("total_order", integer: position + 1)
                    writer.append("data_collection_order", integer: orders[position])
                }
            }
            writer.endLine()
        }
        return writer.bytes
    }

    /// The position of each change of an entry among those of its entity, from 1.
    private func orders(in record: AuditRecord) -> [Int] {
        var counts: [EntityNumber: Int] = [:]
        return record.entry.changes.map { change in
            counts[change.object.entity, default: 0] += 1
            return counts[change.object.entity, default: 0]
        }
    }

    // MARK: - Rows

    private func row(
        of object: ObjectID, at sequence: SequenceNumber, _ then: Store
    ) throws -> AuditObject? {
        sequence == .zero ? nil : try scope.object(object, at: sequence, readBy: then)
    }

    private func append(
        _ name: String, _ row: AuditObject?, of entity: SchemaEntity?, to writer: inout JSONWriter
    ) {
        writer.name(name)
        guard let row, let entity else { return writer.null() }
        let values = Dictionary(
            row.values.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let members = Dictionary(
            row.members.map { ($0.name, $0.objects) }, uniquingKeysWith: { first, _ in first })
        writer.object { writer in
            writer.append(DebeziumFormat.identifier, string: row.name)
            for property in entity.properties where property.isInRows {
                // A value that is left out must not look like null.
                guard !scope.redaction.omits(property.number) else { continue }
                writer.name(property.name)
                if property.isStoredToMany {
                    writer.array { writer in
                        for name in members[property.name] ?? [] { writer.string(name) }
                    }
                } else if let value = values[property.name] {
                    value.write(to: &writer)
                } else {
                    writer.null()
                }
            }
        }
    }

    // MARK: - Source

    private func append(
        sourceOf record: AuditRecord, _ entity: SchemaEntity?, to writer: inout JSONWriter
    ) {
        let entry = record.entry
        writer.append("version", string: DebeziumFormat.version)
        writer.append("connector", string: "daybook")
        writer.append("name", string: name)
        append(time: entry.time, to: &writer)
        writer.append("snapshot", string: "false")
        writer.append("db", string: database)
        writer.append("table", string: entity?.name ?? "")
        writer.append("txId", integer: entry.sequence.rawValue)
        writer.append("lsn", integer: entry.sequence.rawValue)
        writer.append("author", string: record.author)
        writer.append("note", string: record.note)
        writer.append(info: record.info)
        writer.append("context", string: record.context)
        writer.append("digest", string: record.toldDigest)
    }

    /// Writes a time in three units, except in those that cannot hold it.
    private func append(time: Int64, to writer: inout JSONWriter) {
        writer.append("ts_ms", integer: time.milliseconds)
        writer.append("ts_us", integer: time)
        let (nanoseconds, overflow) = time.multipliedReportingOverflow(by: 1000)
        if !overflow { writer.append("ts_ns", integer: nanoseconds) }
    }
}

extension SchemaProperty {
    /// Whether the property is in rows: a relationship that follows from its other side is there
    /// instead.
    package var isInRows: Bool {
        isPersistent && (slot != nil || isStoredToMany)
    }
}

extension AuditChange.Operation {
    /// Debezium's letter for it.
    fileprivate var code: String {
        switch self {
        case .insert: "c"
        case .update: "u"
        case .delete: "d"
        }
    }
}
