package import DaybookJournalLog
package import DaybookObjectModel

// | field | bytes |
// |---|---|
// | since | 8: the entry that last changed the object |
// | width | 1: the bytes of each end offset, 1, 2 or 4 |
// | count | 2: how many fields |
// | ends | count × width: where each field ends, from the first field's first byte |
// | fields | the values in slot order, each in its canonical form; null has no bytes |
// | ages | of the object, each field and each stored to-many relationship, variable length: |
// |      | since less the entry that inserted the object, or that last changed the part |
//
// So one field is found without reading those before it. New rows have ages too, all of them zero:
// a row that grew at its first change would split the page that inserts have filled.

/// An object's values at some sequence number.
package struct Row: Sendable, Hashable {
    /// The entry that last changed the object.
    package let since: SequenceNumber
    private let content: Content

    private enum Content: Sendable {
        case values([Value])
        case packed(EncodedRow)
    }

    /// Creates a row from values.
    package init(since: SequenceNumber, values: [Value]) {
        self.since = since
        content = .values(values)
    }

    /// Wraps a row as it was read.
    package init(_ packed: EncodedRow) {
        since = packed.since
        content = .packed(packed)
    }

    /// The values in slot order.
    ///
    /// - Complexity: O(*p*), *p* the number of properties, for a row as it was read.
    package var values: [Value] {
        switch content {
        case .values(let values): values
        case .packed(let packed): packed.values
        }
    }

    /// The value in a slot; null for a slot the row does not have.
    package func value(inSlot slot: Int) -> Value {
        switch content {
        case .values(let values): values.indices.contains(slot) ? values[slot] : .null
        case .packed(let packed): packed.value(inSlot: slot)
        }
    }

    /// The row as it was read; nil for one created from values.
    package var packed: EncodedRow? {
        if case .packed(let packed) = content { packed } else { nil }
    }

    /// Whether both have the same content, however they were created.
    package static func == (left: Row, right: Row) -> Bool {
        left.since == right.since && left.values == right.values
    }

    /// Hashes what equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(since)
        hasher.combine(values)
    }
}

/// The layout of the bytes of a row.
struct RowLayout {
    let since: SequenceNumber
    let count: Int
    let width: Int

    static let headerSize = 11

    /// The width of a field's end offset, in a row whose fields have `size` bytes.
    static func width(ofEnds size: Int) -> Int {
        if size <= Int(UInt8.max) { return 1 }
        return size <= Int(UInt16.max) ? 2 : 4
    }

    init(_ bytes: RawSpan) throws(DecodingFailure) {
        guard bytes.byteCount >= Self.headerSize else {
            throw DecodingFailure(at: bytes.byteCount, expected: "the header of a row")
        }
        since = SequenceNumber(
            rawValue: UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self)))
        width = Int(bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 8, as: UInt8.self))
        guard width == 1 || width == 2 || width == 4 else {
            throw DecodingFailure(at: 8, expected: "a width of 1, 2 or 4")
        }
        count = Int(
            UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 9, as: UInt16.self)))
        guard Self.headerSize + count * width <= bytes.byteCount else {
            throw DecodingFailure(at: 9, expected: "a count of fields within the row")
        }
    }

    /// The value in a slot; null for a slot the row does not have.
    func value(_ slot: Int, in bytes: RawSpan) throws(DecodingFailure) -> Value {
        guard slot < count else { return .null }
        let fields = fieldsStart
        let start = slot == 0 ? 0 : end(of: slot - 1, in: bytes)
        return try field(slot, fields + start, fields + end(of: slot, in: bytes), in: bytes)
    }

    /// All values.
    func values(in bytes: RawSpan) throws(DecodingFailure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        let fields = fieldsStart
        var start = fields
        for slot in 0..<count {
            let end = fields + end(of: slot, in: bytes)
            values.append(try field(slot, start, end, in: bytes))
            start = end
        }
        try checkEnd(at: start, in: bytes)
        return values
    }

    /// Where the value in a slot starts; nil for null, and for a slot the row does not have.
    func start(of slot: Int, in bytes: RawSpan) -> Int? {
        guard slot < count else { return nil }
        let start = slot == 0 ? 0 : end(of: slot - 1, in: bytes)
        return start == end(of: slot, in: bytes) ? nil : fieldsStart + start
    }

    /// The range of a field that the row has; empty for null.
    @inline(__always)
    func field(_ slot: Int, in bytes: RawSpan) throws(DecodingFailure) -> EncodedField {
        let start = fieldsStart + (slot == 0 ? 0 : end(of: slot - 1, in: bytes))
        let end = fieldsStart + end(of: slot, in: bytes)
        guard start <= end, end < bytes.byteCount else {
            throw DecodingFailure(at: start, expected: "the end of field \(slot)")
        }
        return EncodedField(start: start, end: end)
    }

    /// Where the first field starts.
    var fieldsStart: Int { Self.fieldsStart(count, width) }

    /// Where the first of `count` fields starts when end offsets have `width` bytes.
    static func fieldsStart(_ count: Int, _ width: Int) -> Int { headerSize + count * width }

    /// Checks that valid ages follow the fields.
    func checkEnd(at end: Int, in bytes: RawSpan) throws(DecodingFailure) {
        guard end < bytes.byteCount else {
            throw DecodingFailure(at: end, expected: "the ages of the row")
        }
    }

    /// The ranges of the fields; empty for null.
    func fields(
        in bytes: RawSpan, _ fields: inout [RowField]
    ) throws(DecodingFailure) {
        fields.removeAll(keepingCapacity: true)
        let base = fieldsStart
        var start = base
        try fields.append(addingCapacity: count) { (found) throws(DecodingFailure) in
            for slot in 0..<count {
                let end = base + end(of: slot, in: bytes)
                guard start <= end, end <= bytes.byteCount else {
                    throw DecodingFailure(at: start, expected: "the end of field \(slot)")
                }
                found.append(RowField(range: EncodedField(start: start, end: end), isNew: false))
                start = end
            }
        }
        try checkEnd(at: start, in: bytes)
    }

    /// The ages of the parts: the object, each field, and each stored to-many relationship that the
    /// entity had when the row was written.
    func ages(
        in bytes: RawSpan, relationships: Int, _ ages: inout [UInt64]
    ) throws(DecodingFailure) {
        ages.removeAll(keepingCapacity: true)
        let parts = 1 + count + relationships
        var offset = fieldsStart + (count == 0 ? 0 : end(of: count - 1, in: bytes))
        let newest = since.rawValue
        try ages.append(addingCapacity: parts) { (found) throws(DecodingFailure) in
            for _ in 0..<parts {
                let start = offset
                let age = try bytes.readVariable(at: &offset)
                guard age <= newest else {
                    throw DecodingFailure(at: start, expected: "an age within the journal")
                }
                found.append(age)
            }
        }
        guard offset == bytes.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the row")
        }
    }

    /// The entries that gave the object's parts their values in this row.
    ///
    /// - Parameters:
    ///   - bytes: The row.
    ///   - relationships: The number of stored to-many relationships that the entity had when the row
    ///     was written.
    /// - Returns: The entries, one for each part that the row has.
    /// - Throws: ``DecodingFailure`` when the ages are malformed.
    func origins(
        in bytes: RawSpan, relationships: Int
    ) throws(DecodingFailure) -> RowOrigins {
        var ages: [UInt64] = []
        try self.ages(in: bytes, relationships: relationships, &ages)
        let origins = ages.map { SequenceNumber(rawValue: since.rawValue - $0) }
        return RowOrigins(
            birth: origins[0], values: Array(origins[1..<(1 + count)]),
            members: Array(origins[(1 + count)...]))
    }

    private func field(
        _ slot: Int, _ start: Int, _ end: Int, in bytes: RawSpan
    ) throws(DecodingFailure) -> Value {
        if start == end { return .null }
        var offset = start
        let value = try bytes.readValue(at: &offset)
        guard offset == end else {
            throw DecodingFailure(at: offset, expected: "the end of field \(slot)")
        }
        return value
    }

    /// Where a field ends; the initializer has checked that all offsets exist.
    func end(of slot: Int, in bytes: RawSpan) -> Int {
        assert(slot >= 0 && slot < count && fieldsStart <= bytes.byteCount)
        let offset = Self.headerSize + slot * width
        switch width {
        case 1:
            return Int(bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self))
        case 2:
            return Int(
                UInt16(
                    bigEndian: bytes.unsafeLoadUnaligned(
                        fromUncheckedByteOffset: offset, as: UInt16.self)))
        default:
            return Int(
                UInt32(
                    bigEndian: bytes.unsafeLoadUnaligned(
                        fromUncheckedByteOffset: offset, as: UInt32.self)))
        }
    }
}
