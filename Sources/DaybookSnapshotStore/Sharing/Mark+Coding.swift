internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The bodies of marks, as the servers keep them.
//
// | body | bytes |
// |---|---|
// | version | 1: 1 |
// | of a tag | sequence (variable length), digest: 32, author and note (optional texts), time: 8 |
// | of a value | the value |
// | of a cursor | sequence (variable length), digest: 32 |

private let bodyVersion: UInt8 = 1

extension StoreMetadata {
    /// Everything that a file keeps beside its journal.
    static func marks(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> MarkBodies {
        var bodies: MarkBodies = [:]
        for tag in try tags(meta, in: transaction) {
            bodies[MarkName(.tag, tag.name)] = tag.body
        }
        for (name, value) in try userValues(meta, in: transaction) {
            var writer = ByteWriter(capacity: 64)
            writer.append(bodyVersion)
            writer.append(value)
            bodies[MarkName(.value, name)] = writer.bytes
        }
        for cursor in try cursors(meta, in: transaction) {
            bodies[MarkName(.cursor, cursor.name)] = cursor.body
        }
        return bodies
    }

    /// Has the file keep other bodies, or none, under some names.
    static func setMarks(
        _ bodies: [MarkName: [UInt8]?], _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        func changed(_ kind: SharedMark.Kind) -> [(name: String, body: [UInt8]?)] {
            bodies.filter { $0.key.kind == kind }.map { ($0.key.name, $0.value) }
        }
        let (tags, values, cursors) = (changed(.tag), changed(.value), changed(.cursor))
        if !tags.isEmpty {
            var all = try self.tags(meta, in: transaction)
            all.removeAll { tag in tags.contains { $0.name == tag.name } }
            all += try tags.compactMap { name, body in try body.map { try StoreTag(name, $0) } }
            try setTags(all, meta, in: transaction)
        }
        if !values.isEmpty {
            var all = try userValues(meta, in: transaction)
            for (name, body) in values { all[name] = try body.map(Self.value) }
            try setUserValues(all, meta, in: transaction)
        }
        if !cursors.isEmpty {
            var all = try self.cursors(meta, in: transaction)
            all.removeAll { cursor in cursors.contains { $0.name == cursor.name } }
            all += try cursors.compactMap { name, body in
                try body.map { try StoreCursor(name, $0) }
            }
            try setCursors(all, meta, in: transaction)
        }
    }

    fileprivate static func value(_ body: [UInt8]) throws(DecodingFailure) -> Value {
        try decoding(body) { span, offset throws(DecodingFailure) in
            try span.readValue(at: &offset)
        }
    }
}

extension SharedMark {
    /// Whether a file whose journal is `journal` can keep this mark: it can be read, and the entry it names is
    /// there.
    func isKept(
        by journal: Journal, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let place: JournalPlace
        do throws(DecodingFailure) {
            let body = body ?? []
            switch kind {
            case .value:
                _ = try StoreMetadata.value(body)
                return true
            case .tag:
                let tag = try StoreTag(name, body)
                guard StoreTag.objection(to: name) == nil else { return false }
                place = JournalPlace(tag.sequence, tag.digest)
            case .cursor: place = try StoreCursor(name, body).place
            }
        } catch {
            // A newer program may have written it.
            return false
        }
        if place.sequence == .zero { return kind == .cursor }
        return try place.sequence <= journal.head(in: transaction)
            && journal.digest(at: place.sequence, in: transaction) == place.digest
    }
}

extension StoreTag {
    fileprivate var body: [UInt8] {
        var writer = ByteWriter(capacity: 96)
        writer.append(bodyVersion)
        writer.append(variable: sequence.rawValue)
        writer.append(raw: digest.bytes)
        writer.append(optional: author)
        writer.append(optional: note)
        writer.append(bigEndian: UInt64(bitPattern: time))
        return writer.bytes
    }

    fileprivate init(_ name: String, _ body: [UInt8]) throws(DecodingFailure) {
        self = try decoding(body) { span, offset throws(DecodingFailure) in
            let (sequence, digest) = try readPlace(span, &offset)
            return StoreTag(
                name: name, sequence: sequence, digest: digest,
                author: try span.readOptionalText(at: &offset),
                note: try span.readOptionalText(at: &offset),
                time: Int64(bitPattern: try span.readBigEndian(UInt64.self, at: &offset)))
        }
    }
}

extension StoreCursor {
    /// Where the body of a mark says that a cursor stands; nil when it cannot be read.
    static func sequence(_ body: [UInt8]) -> SequenceNumber? {
        try? StoreCursor("", body).sequence
    }

    fileprivate var body: [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.append(bodyVersion)
        writer.append(variable: sequence.rawValue)
        writer.append(raw: digest.bytes)
        return writer.bytes
    }

    fileprivate init(_ name: String, _ body: [UInt8]) throws(DecodingFailure) {
        let place = try decoding(body) { span, offset throws(DecodingFailure) in
            let (sequence, digest) = try readPlace(span, &offset)
            return JournalPlace(sequence, digest)
        }
        self.init(name: name, at: place)
    }
}

/// Reads all of a body.
private func decoding<R>(
    _ body: [UInt8], _ read: (RawSpan, inout Int) throws(DecodingFailure) -> R
) throws(DecodingFailure) -> R {
    let span = body.span.bytes
    var offset = 0
    guard try span.readByte(at: &offset) == bodyVersion else {
        throw DecodingFailure(at: 0, expected: "version \(bodyVersion) of a mark")
    }
    let result = try read(span, &offset)
    guard offset == span.byteCount else {
        throw DecodingFailure(at: offset, expected: "the end of the mark")
    }
    return result
}

private func readPlace(
    _ span: RawSpan, _ offset: inout Int
) throws(DecodingFailure) -> (SequenceNumber, Digest) {
    let sequence = SequenceNumber(rawValue: try span.readVariable(at: &offset))
    let start = offset
    guard let digest = Digest(bytes: try span.readBytes(Digest.byteCount, at: &offset)) else {
        throw DecodingFailure(at: start, expected: "a digest")
    }
    return (sequence, digest)
}
