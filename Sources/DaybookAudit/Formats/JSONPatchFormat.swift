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
        JSONPatchEncoder(scope: scope)
    }
}

private struct JSONPatchEncoder: RecordwiseEncoder {
    let scope: AuditScope

    /// Another model has other names and other properties of the same objects: the whole document, with
    /// what the entry has changed, in its own words.
    func isWrittenInPieces(_ record: AuditRecord) -> Bool {
        record.kind == .model
            && (!scope.filter.isSelective || record.sequence == SequenceNumber(1))
    }

    /// The operations of a record on one line, with its line end; a whole document piece by piece.
    func write(
        _ record: AuditRecord, inPass pass: Int, to output: ([UInt8]) throws -> Void
    ) throws {
        guard isWrittenInPieces(record) else {
            return try output(bytes(ofChangesIn: record))
        }
        try output(Array(#"[{"op":"add","path":"","value":"#.utf8))
        try JSONPatch.write(
            documentOf: scope.then(record.sequence), at: record.sequence, record.redaction,
            to: output)
        try output(Array("}]\n".utf8))
    }

    /// The operations of a record on one line, with its line end.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try write(record, inPass: pass) { bytes += $0 }
        return bytes
    }

    private func bytes(ofChangesIn record: AuditRecord) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + record.shown.count * 256)
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
