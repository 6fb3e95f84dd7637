public import DaybookJournalLog
internal import DaybookSnapshotStore

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
    /// - Returns: The last entry read, after which the next export continues.
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
        let scope = AuditScope(
            store: store, filter: filter, redaction: redaction, head: head,
            resumesAfter: resumesAfter, options: options)

        var encoder = try format.encoder(for: scope)
        let isWhole = type(of: format).keepsEntriesWhole
        var data = LargeDataExport(of: store, carries: type(of: format).carriesLargeData)
        try data.pass(entriesBefore: first, isContinued: resumesAfter != nil)
        do {
            for pass in 0..<encoder.passes {
                try output(try encoder.opening(ofPass: pass))
                // Each digest covers the one before, so none is written from the first that covers
                // a hidden value on. Entries before the beginning are not examined.
                var tellsDigests = redaction.isEmpty || first == SequenceNumber(1)
                try store.entries(from: first, through: last) { entry in
                    if tellsDigests, redaction.concerns(entry.changes) { tellsDigests = false }
                    if let record = wanted.record(of: entry) {
                        let shown = (isWhole ? record.whole : record)
                            .redacted(by: redaction, tellsDigest: tellsDigests)
                        if pass == 0 { try data.write(shown, to: output) }
                        try output(try encoder.bytes(of: shown, inPass: pass))
                    }
                    if pass == 0 { progress(entry.sequence) }
                    return .proceed
                }
                try output(try encoder.closing(ofPass: pass))
            }
        } catch {
            try encoder.abandon()
            throw error
        }
        return max(last, resumesAfter ?? .zero)
    }
}
