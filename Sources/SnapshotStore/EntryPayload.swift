internal import JournalLog
internal import ObjectModel

// | field | bytes |
// |---|---|
// | version | 1: 1 |
// | kind | 1: save 1, batch 2, undo 3, model 4 |
// | author, note, context | each 0, or 1 and text |
// | occurred at | 0, or 1 and 8: microseconds since 1970, two's complement |
// | base | variable length |
// | undoes | 0 for none, or the sequence number, variable length |
// | changes (all kinds but model) | count, then each change |
// | model (kind model) | canonical model, to the end |

/// The bytes of an entry that the journal does not look into.
struct EntryPayload {
    var header: EntryHeader
    var model: ManagedObjectModel?
    var changes: [Change] = []

    private static let version: UInt8 = 1

    /// The canonical bytes of an entry of changes.
    static func bytes(_ header: EntryHeader, _ changes: [Change]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64 + changes.count * 64)
        writer.append(version)
        writer.append(header)
        writer.append(variable: UInt64(changes.count))
        for change in changes { writer.append(change) }
        return writer.bytes
    }

    /// The canonical bytes of an entry that sets the model.
    static func bytes(_ header: EntryHeader, _ model: ManagedObjectModel) -> [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.append(version)
        writer.append(header)
        writer.append(raw: model.canonicalBytes)
        return writer.bytes
    }

    /// What canonical bytes say besides the changes, which are not read.
    static func header(of bytes: [UInt8]) throws(DecodingFailure) -> EntryHeader {
        let span = bytes.span.bytes
        var offset = 0
        return try header(of: span, at: &offset)
    }

    private static func header(
        of span: RawSpan, at offset: inout Int
    ) throws(DecodingFailure) -> EntryHeader {
        guard try span.readByte(at: &offset) == version else {
            throw DecodingFailure(at: 0, expected: "payload format \(version)")
        }
        return try span.readHeader(at: &offset)
    }

    /// Reads canonical bytes.
    init(_ bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        header = try Self.header(of: span, at: &offset)
        guard header.kind != .model else {
            let rest = try span.readBytes(span.byteCount - offset, at: &offset)
            model = try ManagedObjectModel(canonicalBytes: rest)
            return
        }
        let count = try span.readCount(at: &offset)
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try span.readChange(at: &offset)) }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the entry")
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ header: EntryHeader) {
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
        append(variable: header.undoes?.rawValue ?? 0)
    }
}

extension RawSpan {
    fileprivate func readHeader(at offset: inout Int) throws(DecodingFailure) -> EntryHeader {
        let start = offset
        guard let kind = EntryKind(rawValue: try readByte(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "the kind of an entry")
        }
        var header = EntryHeader(kind: kind)
        header.author = try readOptionalText(at: &offset)
        header.note = try readOptionalText(at: &offset)
        header.context = try readOptionalText(at: &offset)
        let mark = offset
        switch try readByte(at: &offset) {
        case 0: header.occurredAt = nil
        case 1:
            let bits = try readBigEndian(UInt64.self, at: &offset)
            header.occurredAt = Int64(bitPattern: bits)
        default: throw DecodingFailure(at: mark, expected: "0 or 1")
        }
        header.base = SequenceNumber(rawValue: try readVariable(at: &offset))
        let undoes = try readVariable(at: &offset)
        header.undoes = undoes == 0 ? nil : SequenceNumber(rawValue: undoes)
        return header
    }
}
