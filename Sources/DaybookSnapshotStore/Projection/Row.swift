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
// So one field is found without reading those before it. Ages stand in new rows, too, where all are
// zero: a row that grew at its first change would split the page that inserts have filled.

/// An object's values as they stand at some sequence number.
package struct Row: Sendable, Hashable {
    /// The entry that last changed the object.
    package let since: SequenceNumber
    private let content: Content

    private enum Content: Sendable {
        case values([Value])
        case packed(EncodedRow)
    }

    /// Describes a row.
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

    /// The row as it was read; nil for one that was made of values.
    package var packed: EncodedRow? {
        if case .packed(let packed) = content { packed } else { nil }
    }

    /// Whether both say the same, read or made.
    package static func == (left: Row, right: Row) -> Bool {
        left.since == right.since && left.values == right.values
    }

    /// Feeds what equality looks at.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(since)
        hasher.combine(values)
    }
}

/// The entries from which the parts of an object are as they stand in its row.
struct RowOrigins: Equatable {
    /// The entry that inserted the object.
    var birth: SequenceNumber
    /// For each slot the entry that last changed it.
    var values: [SequenceNumber]
    /// For each stored to-many relationship, in the order of their numbers, the entry that last
    /// changed its members.
    var members: [SequenceNumber]
}

/// Where a field of a row that is being laid out comes from.
struct RowField {
    let place: EncodedField
    /// Whether it stands in the entry, and not in the row before.
    let isNew: Bool
}

/// Lays rows out, one after the other, from fields that have their canonical bytes already.
struct RowEncoder {
    /// The bytes of the row laid out last.
    private(set) var bytes: [UInt8] = []

    /// Lays out a row, in place of the one before.
    ///
    /// - Parameters:
    ///   - since: The entry that changed the object last.
    ///   - fields: Where the values are, in slot order.
    ///   - entry: Where the new ones are.
    ///   - before: Where the others are.
    ///   - ages: The ages of the parts.
    mutating func encode(
        since: SequenceNumber, _ fields: [RowField], from entry: RawSpan, _ before: RawSpan,
        ages: [UInt64]
    ) {
        let fields = fields.span
        var size = 0
        for slot in fields.indices { size += fields[slot].place.byteCount }
        let width = RowLayout.width(ofEnds: size)
        let bound = RowLayout.fieldsStart(fields.count, width) + size + ages.count * 10
        bytes.removeAll(keepingCapacity: true)
        bytes.append(addingCapacity: bound) { row in
            row.appendHeader(since: since, width, count: fields.count)
            var end = 0
            for slot in fields.indices {
                end += fields[slot].place.byteCount
                row.append(end: end, width)
            }
            row.copy(fields, from: entry, before)
            let ages = ages.span
            for part in ages.indices { row.append(variable: ages[part]) }
        }
    }

    /// Lays out the row of a new object, in place of the one before.
    ///
    /// - Parameters:
    ///   - since: The entry that inserts the object.
    ///   - fields: Where the values are, in slot order.
    ///   - entry: The entry.
    ///   - parts: How many ages there are, all of them zero.
    mutating func encode(
        since: SequenceNumber, new fields: [EncodedField], from entry: RawSpan, parts: Int
    ) {
        let fields = fields.span
        var size = 0
        for slot in fields.indices { size += fields[slot].byteCount }
        let width = RowLayout.width(ofEnds: size)
        let bound = RowLayout.fieldsStart(fields.count, width) + size + parts
        bytes.removeAll(keepingCapacity: true)
        bytes.append(addingCapacity: bound) { row in
            row.appendHeader(since: since, width, count: fields.count)
            var end = 0
            for slot in fields.indices {
                end += fields[slot].byteCount
                row.append(end: end, width)
            }
            if let last = fields.indices.last, fields[last].end - fields[0].start == size {
                row.append(raw: entry.extracting(fields[0].start..<fields[last].end))
            } else {
                for slot in fields.indices {
                    row.append(raw: entry.extracting(fields[slot].start..<fields[slot].end))
                }
            }
            row.append(repeating: 0, count: parts)
        }
    }
}

extension OutputSpan where Element == UInt8 {
    fileprivate mutating func appendHeader(
        since: SequenceNumber, _ width: Int, count: Int
    ) {
        append(bigEndian: since.rawValue)
        append(UInt8(width))
        append(UInt8(truncatingIfNeeded: count >> 8))
        append(UInt8(truncatingIfNeeded: count))
    }

    /// Appends where a field ends, in `width` bytes.
    fileprivate mutating func append(end: Int, _ width: Int) {
        var place = width
        while place > 0 {
            place -= 1
            append(UInt8(truncatingIfNeeded: end >> (8 * place)))
        }
    }

    /// Copies fields, neighbours together.
    fileprivate mutating func copy(
        _ fields: Span<RowField>, from entry: RawSpan, _ before: RawSpan
    ) {
        var slot = 0
        while slot < fields.count {
            let first = fields[slot]
            var end = first.place.end
            slot += 1
            while slot < fields.count, fields[slot].isNew == first.isNew,
                fields[slot].place.start == end
            {
                end = fields[slot].place.end
                slot += 1
            }
            let range = first.place.start..<end
            append(raw: first.isNew ? entry.extracting(range) : before.extracting(range))
        }
    }
}

extension EncodedField {
    /// How many bytes there are.
    var byteCount: Int { end - start }
}

/// Where things stand in the bytes of a row.
struct RowLayout {
    let since: SequenceNumber
    let count: Int
    private let width: Int

    private static let headerSize = 11

    /// How many bytes the end of a field has, in a row whose fields have `size` bytes.
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

    /// Where the first field starts.
    var fieldsStart: Int { Self.fieldsStart(count, width) }

    /// Where the first of so many fields starts whose ends have `width` bytes.
    static func fieldsStart(_ count: Int, _ width: Int) -> Int { headerSize + count * width }

    /// Sees that behind the fields stands what belongs there.
    func checkEnd(at end: Int, in bytes: RawSpan) throws(DecodingFailure) {
        guard end < bytes.byteCount else {
            throw DecodingFailure(at: end, expected: "the ages of the row")
        }
    }

    /// Where the fields stand, nulls empty.
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
                found.append(RowField(place: EncodedField(start: start, end: end), isNew: false))
                start = end
            }
        }
        try checkEnd(at: start, in: bytes)
    }

    /// The ages of the parts: of the object, of each field, of each stored to-many relationship.
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

    /// The entries from which the object's parts are as they stand here.
    ///
    /// - Parameters:
    ///   - bytes: The row.
    ///   - relationships: How many stored to-many relationships the object has.
    /// - Returns: The entries, one for each part.
    /// - Throws: ``DecodingFailure`` when the ages are not what a row has.
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

    /// Where a field ends; the initializer has seen that the offsets are all there.
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
