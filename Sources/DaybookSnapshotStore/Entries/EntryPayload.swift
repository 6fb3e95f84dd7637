// The room of the entries: what is in one, its time, tags and proofs, and the listeners for new
// ones. It reads the journal and writes no entry.

internal import DaybookJournalLog
internal import DaybookObjectModel

// | field | bytes |
// |---|---|
// | form | 1: 1, plus 1 where several entries are undone, plus 2 where there is information |
// | kind | 1: save 1, batch 2, undo 3, model 4 |
// | author, note, context | each 0, or 1 and text |
// | occurred at | 0, or 1 and 8: microseconds since 1970, two's complement |
// | base | variable length |
// | undoes | 0 for none, or the sequence number, variable length; the first of several |
// | undoes through (forms 2, 4) | the last of several, variable length |
// | information (forms 3, 4) | as in `EntryInfo` |
// | model (kind model) | the version of the model in its canonical form |
// | changes | count, then each change; by the model that is set, if one is |

/// The bytes of an entry that the journal does not interpret.
struct EntryPayload {
    var header: EntryHeader
    var version: ModelVersion?
    var changes: [Change] = []

    /// The first byte of an entry: which of the optional parts of the header there are. A part is
    /// there only if it says something, so that every entry has one form only.
    fileprivate struct Form {
        /// Whether several entries are undone.
        let undoesSeveral: Bool
        /// Whether there is information.
        let hasInfo: Bool

        var byte: UInt8 { 1 + (undoesSeveral ? 1 : 0) + (hasInfo ? 2 : 0) }

        init(of header: EntryHeader) {
            undoesSeveral = header.undoes?.isSingle == false
            hasInfo = !header.info.isEmpty
        }

        init(_ byte: UInt8) throws(DecodingFailure) {
            guard (1...4).contains(byte) else {
                throw DecodingFailure(at: 0, expected: "form 1 to 4 of an entry")
            }
            undoesSeveral = (byte - 1) & 1 != 0
            hasInfo = (byte - 1) & 2 != 0
        }
    }

    /// The canonical bytes of an entry of changes.
    static func bytes(_ header: EntryHeader, _ changes: [Change]) -> [UInt8] {
        var writer = writer(header, count: changes.count)
        for change in changes { writer.append(change) }
        return writer.bytes
    }

    /// A writer with the start of an entry's bytes, to which its changes are to be appended.
    static func writer(_ header: EntryHeader, count: Int) -> ByteWriter {
        var writer = ByteWriter(capacity: 64 + count * 112)
        writer.append(header)
        writer.append(variable: UInt64(count))
        return writer
    }

    /// The canonical bytes of an entry that sets the model, and may change objects by it.
    static func bytes(
        _ header: EntryHeader, _ version: ModelVersion, _ changes: [Change] = []
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 2048 + changes.count * 112)
        writer.append(header)
        writer.append(raw: version.canonicalBytes)
        writer.append(variable: UInt64(changes.count))
        for change in changes { writer.append(change) }
        return writer.bytes
    }

    /// The header of an entry of the journal; its changes are not read.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``.
    static func header(of entry: JournalEntry) throws -> EntryHeader {
        do {
            let header = try header(of: entry.payload)
            try header.check(at: entry.sequence)
            return header
        } catch {
            throw StoreError.entryUnreadable(entry.sequence, cause: error)
        }
    }

    /// The header in canonical bytes; the changes are not read.
    static func header(of bytes: [UInt8]) throws(DecodingFailure) -> EntryHeader {
        let span = bytes.span.bytes
        var offset = 0
        return try header(of: span, at: &offset)
    }

    /// When an entry happened, if that is stated, from the start of its bytes; nothing else is
    /// read.
    static func occurredAt(in beginning: RawSpan) throws(DecodingFailure) -> Int64? {
        var offset = 0
        _ = try Form(try beginning.readByte(at: &offset))
        _ = try beginning.readByte(at: &offset)
        // Author, note and context.
        for _ in 0..<3 { try beginning.passOptionalText(at: &offset) }
        return try beginning.readOptionalTime(at: &offset)
    }

    private static func header(
        of span: RawSpan, at offset: inout Int
    ) throws(DecodingFailure) -> EntryHeader {
        let form = try Form(try span.readByte(at: &offset))
        return try span.readHeader(at: &offset, form)
    }

    /// The bytes of an entry whose changes have not been decoded.
    struct Encoded {
        let bytes: [UInt8]
        let header: EntryHeader
        /// The model, in an entry that sets it.
        let version: ModelVersion?
        /// How many changes there are and where the first one begins.
        let changesCount: Int
        let changesOffset: Int

        init(_ bytes: [UInt8]) throws(DecodingFailure) {
            let span = bytes.span.bytes
            var offset = 0
            header = try EntryPayload.header(of: span, at: &offset)
            version =
                header.kind == .model ? try span.readModelVersion(at: &offset) : nil
            changesCount = try span.readCount(at: &offset)
            changesOffset = offset
            self.bytes = bytes
        }

        /// The payload of an entry of the journal.
        ///
        /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``.
        init(_ entry: JournalEntry) throws {
            do {
                try self.init(entry.payload)
                try header.check(at: entry.sequence)
            } catch {
                throw StoreError.entryUnreadable(entry.sequence, cause: error)
            }
        }
    }

    /// Reads canonical bytes.
    init(_ bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        header = try Self.header(of: span, at: &offset)
        if header.kind == .model { version = try span.readModelVersion(at: &offset) }
        let count = try span.readCount(at: &offset)
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try span.readChange(at: &offset)) }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the entry")
        }
    }
}

extension EntryHeader {
    /// Checks that an entry with that number undoes earlier ones only.
    ///
    /// Nothing else bounds the numbers in a forged entry, and a walk over what it undoes would go
    /// on to the end of all numbers.
    func check(at sequence: SequenceNumber) throws(ImpossibleUndo) {
        guard let undoes, undoes.upperBound >= sequence else { return }
        throw ImpossibleUndo(last: undoes.upperBound)
    }
}

/// An entry says that it undoes itself or one that comes later.
struct ImpossibleUndo: Error, CustomStringConvertible {
    let last: SequenceNumber

    /// A clause without a full stop, to be part of a sentence.
    var description: String {
        "it says that it undoes entry \(last), and only earlier ones can be undone"
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ header: EntryHeader) {
        let form = EntryPayload.Form(of: header)
        append(form.byte)
        append(header.kind.rawValue)
        append(optional: header.author)
        append(optional: header.note)
        append(optional: header.context)
        if let occurredAt = header.occurredAt {
            append(UInt8(1))
            append(bigEndian: UInt64(bitPattern: occurredAt))
        } else {
            append(UInt8(0))
        }
        append(variable: header.base.rawValue)
        append(variable: header.undoes?.lowerBound.rawValue ?? 0)
        if let undoes = header.undoes, form.undoesSeveral {
            append(variable: undoes.upperBound.rawValue)
        }
        if form.hasInfo { append(info: header.info) }
    }
}

extension RawSpan {
    fileprivate func readOptionalTime(at offset: inout Int) throws(DecodingFailure) -> Int64? {
        let start = offset
        switch try readByte(at: &offset) {
        case 0: return nil
        case 1: return Int64(bitPattern: try readBigEndian(UInt64.self, at: &offset))
        default: throw DecodingFailure(at: start, expected: "0 or 1")
        }
    }

    fileprivate func passOptionalText(at offset: inout Int) throws(DecodingFailure) {
        let start = offset
        switch try readByte(at: &offset) {
        case 0: return
        case 1:
            let count = try readCount(at: &offset)
            offset += count
        default: throw DecodingFailure(at: start, expected: "0 or 1")
        }
    }

    fileprivate func readHeader(
        at offset: inout Int, _ form: EntryPayload.Form
    ) throws(DecodingFailure) -> EntryHeader {
        let start = offset
        guard let kind = EntryKind(rawValue: try readByte(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "the kind of an entry")
        }
        var header = EntryHeader(kind: kind)
        header.author = try readOptionalText(at: &offset)
        header.note = try readOptionalText(at: &offset)
        header.context = try readOptionalText(at: &offset)
        header.occurredAt = try readOptionalTime(at: &offset)
        header.base = SequenceNumber(rawValue: try readVariable(at: &offset))
        header.undoes = try readUndone(at: &offset, areSeveral: form.undoesSeveral)
        if form.hasInfo { header.info = try readInfo(at: &offset) }
        return header
    }

    private func readUndone(
        at offset: inout Int, areSeveral: Bool
    ) throws(DecodingFailure) -> ClosedRange<SequenceNumber>? {
        let start = offset
        let first = SequenceNumber(rawValue: try readVariable(at: &offset))
        guard areSeveral else { return first == .zero ? nil : first...first }
        let last = SequenceNumber(rawValue: try readVariable(at: &offset))
        guard first > .zero, first < last else {
            throw DecodingFailure(at: start, expected: "the first and last of several entries")
        }
        return first...last
    }
}
