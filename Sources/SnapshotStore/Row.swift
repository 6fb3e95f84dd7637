package import JournalLog
internal import LMDB
package import ObjectModel

// | field | bytes |
// |---|---|
// | since | 8: the entry that last changed the object |
// | width | 1: bytes of each end offset, 2 or 4; and 128 if there are ages |
// | count | 2: how many fields |
// | ends | count × width: where each field ends, from the first field's first byte |
// | fields | the values in slot order, each in its canonical form; null has no bytes |
// | ages | of the object, each field and each stored to-many relationship, variable length: |
// |      | since less the entry that inserted the object, or that last changed the part |
//
// So one field is found without reading those before it. Ages stand only where one is not zero: a
// row that has not been changed since its insert, which most have not, pays nothing for them.

/// An object's values as they stand at some sequence number.
package struct Row: Sendable, Hashable {
    /// The entry that last changed the object.
    package let since: SequenceNumber
    private let content: Content

    private enum Content: Sendable {
        case values([Value])
        case packed(PackedRow)
    }

    /// Describes a row.
    package init(since: SequenceNumber, values: [Value]) {
        self.since = since
        content = .values(values)
    }

    /// Wraps a row as it was read.
    package init(_ packed: PackedRow) {
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
    package var packed: PackedRow? {
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

/// Encodes rows, one after the other, without an allocation for each.
struct RowEncoder {
    private var writer = KeyWriter(capacity: 256)
    private var fields = ByteWriter(capacity: 256)
    private var ends: [Int] = []

    /// The bytes of the row encoded last.
    var bytes: [UInt8] { writer.bytes }

    /// Encodes a row, in place of the one encoded before.
    ///
    /// - Parameters:
    ///   - since: The entry that changed the object last.
    ///   - values: The values in slot order.
    ///   - origins: The entries that its parts come from; nil when that is `since` for all.
    mutating func encode(
        since: SequenceNumber, _ values: [Value], origins: RowOrigins? = nil
    ) {
        fields.removeAll()
        ends.removeAll(keepingCapacity: true)
        for value in values {
            if !value.isNull { fields.append(value) }
            ends.append(fields.bytes.count)
        }
        writer.removeAll()
        writer.append(since.rawValue)
        let isWide = fields.bytes.count > Int(UInt16.max)
        let origins = origins.flatMap { $0.isAll(since) ? nil : $0 }
        writer.append((isWide ? 4 : 2) | (origins == nil ? 0 : RowLayout.agesFlag))
        writer.append(UInt16(values.count))
        for end in ends {
            if isWide {
                writer.append(UInt32(end))
            } else {
                writer.append(UInt16(end))
            }
        }
        let encoded = fields.bytes
        writer.append(bytes: encoded.span.bytes)
        if let origins { append(origins, since: since) }
    }

    private mutating func append(_ origins: RowOrigins, since: SequenceNumber) {
        fields.removeAll()
        for origin in [origins.birth] + origins.values + origins.members {
            fields.append(variable: since.rawValue - origin.rawValue)
        }
        writer.append(bytes: fields.bytes)
    }
}

extension RowOrigins {
    /// Whether all parts come from one entry.
    fileprivate func isAll(_ sequence: SequenceNumber) -> Bool {
        birth == sequence && values.allSatisfy { $0 == sequence }
            && members.allSatisfy { $0 == sequence }
    }
}

/// Where things stand in the bytes of a row.
struct RowLayout {
    let since: SequenceNumber
    let count: Int
    private let width: Int
    private let hasAges: Bool

    /// Stands in the width of a row that tells the ages of its parts.
    static let agesFlag: UInt8 = 0x80
    private static let headerSize = 11

    init(_ bytes: RawSpan) throws(DecodingFailure) {
        guard bytes.byteCount >= Self.headerSize else {
            throw DecodingFailure(at: bytes.byteCount, expected: "the header of a row")
        }
        since = SequenceNumber(
            rawValue: UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self)))
        let shape = bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt8.self)
        hasAges = shape & Self.agesFlag != 0
        width = Int(shape & ~Self.agesFlag)
        guard width == 2 || width == 4 else {
            throw DecodingFailure(at: 8, expected: "a width of 2 or 4")
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
        let fields = Self.headerSize + count * width
        let start = slot == 0 ? 0 : end(of: slot - 1, in: bytes)
        return try field(slot, fields + start, fields + end(of: slot, in: bytes), in: bytes)
    }

    /// All values.
    func values(in bytes: RawSpan) throws(DecodingFailure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        let fields = Self.headerSize + count * width
        var start = fields
        for slot in 0..<count {
            let end = fields + end(of: slot, in: bytes)
            values.append(try field(slot, start, end, in: bytes))
            start = end
        }
        try checkEnd(at: start, in: bytes)
        return values
    }

    /// Where the first field starts.
    var fieldsStart: Int { Self.headerSize + count * width }

    /// Sees that behind the fields stands what belongs there.
    func checkEnd(at end: Int, in bytes: RawSpan) throws(DecodingFailure) {
        guard hasAges ? end < bytes.byteCount : end == bytes.byteCount else {
            throw DecodingFailure(
                at: end, expected: hasAges ? "the ages of the row" : "the end of the row")
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
        var origins = RowOrigins(
            birth: since, values: Array(repeating: since, count: count),
            members: Array(repeating: since, count: relationships))
        guard hasAges else { return origins }
        var offset =
            Self.headerSize + count * width + (count == 0 ? 0 : end(of: count - 1, in: bytes))
        origins.birth = try origin(at: &offset, in: bytes)
        for slot in 0..<count { origins.values[slot] = try origin(at: &offset, in: bytes) }
        for place in 0..<relationships {
            origins.members[place] = try origin(at: &offset, in: bytes)
        }
        guard offset == bytes.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the row")
        }
        return origins
    }

    private func origin(
        at offset: inout Int, in bytes: RawSpan
    ) throws(DecodingFailure) -> SequenceNumber {
        let start = offset
        let age = try bytes.readVariable(at: &offset)
        guard age <= since.rawValue else {
            throw DecodingFailure(at: start, expected: "an age within the journal")
        }
        return SequenceNumber(rawValue: since.rawValue - age)
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
        let offset = Self.headerSize + slot * width
        return width == 2
            ? Int(
                UInt16(
                    bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
            : Int(
                UInt32(
                    bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}
