internal import DaybookJournalLog
internal import DaybookObjectModel

/// The entries that gave the parts of an object their current values.
struct RowOrigins: Equatable {
    /// The entry that inserted the object.
    var birth: SequenceNumber
    /// The entry that last changed each slot.
    var values: [SequenceNumber]
    /// The entry that last changed the members of each stored to-many relationship, by number.
    var members: [SequenceNumber]
}

/// The source of a field of a row that is being encoded.
struct RowField {
    let range: EncodedField
    /// Whether it is in the entry and not in the previous row.
    let isNew: Bool
}

/// Encodes rows, one after the other, from fields that are already in canonical bytes.
struct RowEncoder {
    /// The bytes of the last row encoded.
    private(set) var bytes: [UInt8] = []

    /// Encodes a row and replaces the last one.
    ///
    /// - Parameters:
    ///   - since: The entry that last changed the object.
    ///   - fields: The sources of the values, in slot order.
    ///   - entry: The bytes of the new values.
    ///   - before: The bytes of the others.
    ///   - ages: The ages of the parts.
    mutating func encode(
        since: SequenceNumber, _ fields: [RowField], from entry: RawSpan, _ before: RawSpan,
        ages: [UInt64]
    ) {
        let fields = fields.span
        var size = 0
        for slot in fields.indices { size += fields[slot].range.byteCount }
        let width = RowLayout.width(ofEnds: size)
        let bound = RowLayout.fieldsStart(fields.count, width) + size + ages.count * 10
        bytes.removeAll(keepingCapacity: true)
        bytes.append(addingCapacity: bound) { row in
            row.appendHeader(since: since, width, count: fields.count)
            var end = 0
            for slot in fields.indices {
                end += fields[slot].range.byteCount
                row.append(end: end, width)
            }
            row.copy(fields, from: entry, before)
            let ages = ages.span
            for part in ages.indices { row.append(variable: ages[part]) }
        }
    }

    /// Encodes the row of a new object and replaces the last one.
    ///
    /// - Parameters:
    ///   - since: The entry that inserts the object.
    ///   - fields: The sources of the values, in slot order.
    ///   - entry: The bytes of the entry.
    ///   - parts: The number of ages, all of them zero.
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

extension RowEncoder {
    /// Encodes a row with more fields behind its own, which are copied as they are, and replaces the last
    /// one. The ages are left out.
    ///
    /// - Parameters:
    ///   - row: The row, which has fewer fields.
    ///   - bytes: Its bytes.
    ///   - places: Where all fields are in `fills`, the last one at the end.
    ///   - fills: The bytes of the other fields, one after the other.
    /// - Returns: Whether that was possible: the ends of the fields may need more room.
    mutating func encode(
        extending row: RowLayout, _ bytes: RawSpan, to places: [EncodedField], from fills: [UInt8]
    ) -> Bool {
        let places = places.span
        let (start, first) = (row.fieldsStart, places[row.count].start)
        let own = row.count == 0 ? 0 : row.end(of: row.count - 1, in: bytes)
        let size = own + fills.count - first
        guard RowLayout.width(ofEnds: size) == row.width, start + own <= bytes.byteCount else {
            return false
        }
        let bound = RowLayout.fieldsStart(places.count, row.width) + size + 1
        self.bytes.removeAll(keepingCapacity: true)
        self.bytes.append(addingCapacity: bound) { extended in
            extended.appendHeader(since: row.since, row.width, count: places.count)
            extended.append(raw: bytes.extracting(RowLayout.headerSize..<start))
            for slot in row.count..<places.count {
                extended.append(end: own + places[slot].end - first, row.width)
            }
            extended.append(raw: bytes.extracting(start..<start + own))
            extended.append(raw: fills.span.bytes.extracting(first..<fills.count))
            extended.append(0)
        }
        return true
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

    /// Appends the end of a field, in `width` bytes.
    fileprivate mutating func append(end: Int, _ width: Int) {
        var byte = width
        while byte > 0 {
            byte -= 1
            append(UInt8(truncatingIfNeeded: end >> (8 * byte)))
        }
    }

    /// Copies fields, adjacent ones together.
    fileprivate mutating func copy(
        _ fields: Span<RowField>, from entry: RawSpan, _ before: RawSpan
    ) {
        var slot = 0
        while slot < fields.count {
            let first = fields[slot]
            var end = first.range.end
            slot += 1
            while slot < fields.count, fields[slot].isNew == first.isNew,
                fields[slot].range.start == end
            {
                end = fields[slot].range.end
                slot += 1
            }
            let range = first.range.start..<end
            append(raw: first.isNew ? entry.extracting(range) : before.extracting(range))
        }
    }
}

extension EncodedField {
    /// The number of bytes.
    var byteCount: Int { end - start }
}
