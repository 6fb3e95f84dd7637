public import DaybookJournalLog
package import DaybookSnapshotStore

/// An export of a journal to other programs.
///
/// ```swift
/// var csv: [UInt8] = []
/// var export = AuditExport(of: reader)
/// export.filter.entities = ["Employee"]
/// try export.write(CSVFormat()) { bytes in csv += bytes }
/// ```
public struct AuditExport: Sendable {
    /// The selected records and changes.
    public var filter = AuditFilter()
    /// The treatment of confidential values.
    public var confidentiality = Confidentiality.standard
    /// Further options.
    public var options = AuditOptions()
    /// The entry after which to continue; nil to start from the beginning.
    public var resumesAfter: SequenceNumber?
    /// Who prepares records while others are written.
    package var cores = OtherCores.all
    private let reader: AuditReader

    /// An export of everything.
    public init(of reader: AuditReader) {
        self.reader = reader
    }

    /// Writes the journal as it is now.
    ///
    /// - Parameters:
    ///   - format: The form.
    ///   - progress: Called for each entry read.
    ///   - output: Takes the bytes, piece by piece.
    /// - Returns: The entry after which the next export continues: the last one read, or the one before the
    ///   first that ``AuditFilter/until`` alone leaves out, so that it is written then.
    /// - Throws: `StoreError` with code `noSuchEntity` or `noSuchObject` when the filter names what
    ///   the model does not have; with code `corrupt` at the first entry that is not what was
    ///   written; ``AuditFormatError`` when the options do not fit the format; what `output` throws.
    /// - Complexity: O(*n*) page reads for each pass, *n* the size of the entries in the range; memory
    ///   for a few entries.
    @discardableResult
    public func write(
        _ format: some AuditFormat, progress: (SequenceNumber) -> Void = { _ in },
        to output: ([UInt8]) throws -> Void
    ) throws -> SequenceNumber {
        let store = reader.store
        let head = try store.head()
        var filter = filter
        let first = max(filter.range.lowerBound, (resumesAfter ?? .zero).next)
        let last = min(filter.range.upperBound, head)
        filter.range = first...max(first, last)
        // An impossible filter must not leave half an export behind.
        let history = try store.modelHistory()
        let wanted = try filter.resolved(in: history, store.schema)
        let redaction = try confidentiality.resolved(in: history, store.schema)
        let scope = try AuditScope(
            store: store, history, filter: filter, redaction: redaction, head: head,
            resumesAfter: resumesAfter, options: options)

        var encoder = try format.encoder(for: scope)
        var reached = max(last, resumesAfter ?? .zero)
        let isWhole = type(of: format).keepsEntriesWhole
        let carries = type(of: format).carriesLargeData
        var data = LargeDataExport(of: store, carries: carries)
        if carries, resumesAfter != nil {
            try forEachRecord(before: first, in: history, redaction, isWhole: isWhole) {
                data.pass($0)
            }
        }
        do {
            for pass in 0..<encoder.passes {
                try output(try encoder.opening(ofPass: pass))
                // Entries before the beginning are not examined for hidden values.
                let telling = DigestTelling(redaction.isEmpty || first == SequenceNumber(1))
                let lateEntries = LateEntries()
                let maker = PreparedRecord.Maker(
                    filter: wanted, redaction: redaction, isWhole: isWhole,
                    carriesLargeData: carries && pass == 0, tellsDigests: telling,
                    lateEntries: lateEntries, encoder: encoder as? any RecordwiseEncoder, pass: pass
                )
                try store.entries(
                    from: first, through: last, on: cores, making: maker.prepare
                ) { prepared in
                    if prepared.isOfHidden { telling.end() }
                    if let record = prepared.shown {
                        let shown = record.redacted(by: redaction, tellsDigest: telling.isTold)
                        if prepared.hasLargeData { try data.write(shown, to: output) }
                        if let bytes = prepared.bytes(tellingDigest: telling.isTold) {
                            try output(bytes)
                        } else {
                            try encoder.write(shown, inPass: pass, to: output)
                        }
                    }
                    if pass == 0 { progress(prepared.sequence) }
                    if prepared.isTooLate {
                        lateEntries.find()
                        reached = min(reached, prepared.sequence.previous)
                    }
                    return .proceed
                }
                try output(try encoder.closing(ofPass: pass))
            }
        } catch {
            try encoder.abandon()
            throw error
        }
        return reached
    }

    /// Passes the records to `body` that an earlier export with the same conditions has written, if the
    /// store has large data at all.
    private func forEachRecord(
        before end: SequenceNumber, in history: ModelHistory, _ redaction: Redaction,
        isWhole: Bool, _ body: (AuditRecord) -> Void
    ) throws {
        let first = max(filter.range.lowerBound, SequenceNumber(1))
        guard first < end, try reader.store.hasLargeData() else { return }
        var earlier = filter
        earlier.range = first...end.previous
        let wanted = try earlier.resolved(in: history, reader.store.schema)
        try reader.store.entries(from: first, through: end.previous) { entry in
            guard let record = wanted.record(of: entry) else { return .proceed }
            let shown = isWhole ? record.whole : record
            body(shown.redacted(by: redaction, tellsDigest: false))
            return .proceed
        }
    }
}
