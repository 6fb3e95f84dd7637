package import DaybookJournalLog
internal import DaybookNewFiles
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// Makes a store from an export, line by line; every entry must get its original digest.
///
/// The store grows in a file beside the requested one and gets its name at the very end, so that in
/// any case there is either the whole store or none.
package final class StoreLoader {
    private let path: String
    private let draft: DraftFile
    private var store: Store?
    private var reader = ExportReader()
    private var line = 0
    private var intake = LargeDataIntake()

    /// The last entry that was loaded, and its digest.
    package private(set) var head: (sequence: SequenceNumber, digest: Digest) = (.zero, .zero)

    /// Starts a store.
    ///
    /// - Throws: `StoreError` with code `exists` when there is a file already.
    package init(creating path: String) throws {
        self.path = path
        draft = try Store.draft(for: path)
    }

    /// Appends the entry of a line; an empty line is counted and skipped.
    ///
    /// - Throws: ``ExportError`` with the number of the line; `StoreError` when the file cannot be
    ///   written. ``abandon()`` must follow.
    package func load(_ bytes: [UInt8]) throws {
        line += 1
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        let entry: Entry
        do {
            let json = try JSONValue(parsing: bytes)
            if let part = try LargeDataLine(json) { return try take(part) }
            entry = try reader.entry(from: json)
        } catch let error as JSONError {
            throw ExportError(.malformed, line: line, error.sentence)
        }
        try intake.expectNothing(line: line)
        guard entry.sequence == head.sequence.next else {
            throw ExportError(
                .malformed, line: line,
                "Entry \(head.sequence.next) was expected, not entry \(entry.sequence). An export "
                    + "to load has every entry, from the first on.")
        }
        try append(entry)
        head = (entry.sequence, entry.digest)
    }

    /// Gives the store its name.
    ///
    /// - Throws: ``ExportError`` when there was no entry; `StoreError` with code `exists` when a
    ///   file of that name has appeared meanwhile.
    package func finish() throws {
        try intake.expectNothing(line: nil)
        guard let store else {
            throw ExportError(
                .malformed, line: nil,
                "The input has no entry. The first line of an export sets the model.")
        }
        self.store = nil
        try store.close()
        try Store.place(draft, at: path)
    }

    /// Removes the unfinished file.
    package func abandon() throws {
        defer { draft.discard() }
        guard let store else { return }
        self.store = nil
        try store.close()
    }

    // MARK: - Large data

    private func take(_ part: LargeDataLine) throws {
        guard let store else {
            throw ExportError(
                .malformed, line: line, "Large data come before an entry, but after the first.")
        }
        try intake.take(part, into: store, line: line)
    }

    // MARK: - Entries

    private func append(_ entry: Entry) throws {
        guard entry.model != nil || !entry.changes.isEmpty else {
            throw ExportError(
                .mismatch, line: line,
                "Entry \(entry.sequence) changes nothing, but every entry of a store does. The export "
                    + "was altered after it was made.")
        }
        do {
            if let store {
                try store.append(exported: entry)
            } else {
                // One sync at the end makes the whole file durable.
                store = try Store.create(
                    at: draft.path, loading: entry, options: StoreOptions(durability: .relaxed))
            }
        } catch let error as StoreError where error.code == .digestMismatch {
            throw ExportError(
                .mismatch, line: line, error.message + " The export was altered after it was made.")
        } catch let error as StoreError where error.concernsEntry {
            throw ExportError(
                .mismatch, line: line,
                "Entry \(entry.sequence) does not fit the entries before it. "
                    + error.description.replacing("\n  ", with: " "))
        } catch let error as StoreError {
            // The message must not mention the temporary file.
            let message = error.message.replacing(draft.path, with: path)
            throw StoreError(error.code, message, cause: error.cause, details: error.details)
        }
    }
}

extension StoreError {
    /// Whether the entry is at fault, and not the file or the system.
    fileprivate var concernsEntry: Bool {
        [
            .conflict, .validation, .duplicate, .noSuchEntity, .noSuchObject, .objectDeleted,
            .corrupt, .model, .modelMismatch, .noSuchData,
        ].contains(code)
    }
}

extension JSONError {
    /// The mistake as a sentence, without the line number within a one-line text.
    fileprivate var sentence: String {
        let location =
            location.hasPrefix("line 1, ") ? String(location.dropFirst("line 1, ".count)) : location
        return location.isEmpty ? message : "\(location): \(message)"
    }
}
