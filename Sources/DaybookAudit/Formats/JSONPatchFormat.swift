internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// An array of JSON Patch operations (RFC 6902) for each entry, one a line.
///
/// The line of the first entry makes the document of `daybook document`, without objects; each
/// further line changes it to the next state, or, where the entry sets another model, makes it anew.
/// Every old value is tested before it is replaced or removed. So applying all lines gives the state
/// of the store, and applying them to another state fails. With a filter nothing is made anew, which
/// would tell what the filter leaves out.
public struct JSONPatchFormat: AuditFormat {
    /// `json-patch`.
    public static let name = "json-patch"
    /// Patches for one document with the whole store.
    public static let summary = "a JSON Patch for each entry, old values tested (RFC 6902)"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        JSONPatchEncoder(store: scope.store, isSelective: scope.filter.isSelective)
    }
}

private struct JSONPatchEncoder: RecordwiseEncoder {
    let store: Store
    /// Whether a filter may leave out changes.
    let isSelective: Bool

    /// The operations of a record on one line, with its line end.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + record.shown.count * 256)
        if record.kind == .model, !isSelective || record.sequence == SequenceNumber(1) {
            // Another model has other names and other properties of the same objects: the whole
            // document, with what the entry has changed, in its own words.
            let then = try store.withModel(at: record.sequence)
            try then.read(at: record.sequence) { snapshot in
                try writer.array { writer in
                    try JSONPatch.append(documentOf: snapshot, record.redaction, to: &writer)
                }
            }
            writer.endLine()
            return writer.bytes
        }
        writer.array { writer in
            for change in record.shown {
                guard let entity = record.schema.entity(change.object.entity) else { continue }
                JSONPatch.append(
                    operations: record.readable(change), of: entity, record.redaction, to: &writer)
            }
        }
        writer.endLine()
        return writer.bytes
    }
}
