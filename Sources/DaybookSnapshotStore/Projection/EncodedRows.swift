internal import DaybookLMDB
package import DaybookObjectModel

/// Rows of objects with neighbouring numbers, copied from the store in one piece.
///
/// A single row costs an allocation; these, at most 64, share one.
///
/// Invariants:
/// - All objects are of one entity, and their numbers differ only in the last six bits.
/// - Rows are in the order of the numbers, without gaps.
package struct EncodedRows: Sendable {
    /// The entity of the objects.
    package let entity: EntityNumber
    /// The common part of the objects' numbers: all but the last six bits.
    package let page: UInt64
    /// The numbers present, one bit for each.
    package let bits: UInt64
    private let bytes: [UInt8]
    /// The ends of all rows but the last, in order.
    private let ends: RowCollector.Ends

    fileprivate init(
        _ entity: EntityNumber, page: UInt64, bits: UInt64, _ bytes: [UInt8],
        _ ends: RowCollector.Ends
    ) {
        self.entity = entity
        self.page = page
        self.bits = bits
        self.bytes = bytes
        self.ends = ends
    }

    /// The number of their bytes.
    var byteCount: Int { bytes.count }

    /// How many rows there are.
    package var count: Int { bits.nonzeroBitCount }

    /// The bit of an object's number.
    package static func bit(of number: UInt64) -> UInt64 { 1 << (number & 63) }

    /// The row of an object; nil when it is not among these.
    package func row(of object: ObjectID) -> EncodedRow? {
        let bit = Self.bit(of: object.number)
        guard object.entity == entity, object.number >> 6 == page, bits & bit != 0 else {
            return nil
        }
        return row(at: (bits & (bit - 1)).nonzeroBitCount)
    }

    /// Passes on the rows in order.
    package func forEach(_ body: (ObjectID, EncodedRow) -> Void) {
        var rest = bits
        var index = 0
        while rest != 0 {
            let number = page << 6 | UInt64(rest.trailingZeroBitCount)
            body(ObjectID(entity: entity, number: number), row(at: index))
            rest &= rest - 1
            index += 1
        }
    }

    /// The objects whose rows here are older than those read at another time, one bit for each.
    package func bits(olderThan others: EncodedRows) -> UInt64 {
        var bits: UInt64 = 0
        forEach { object, row in
            guard let other = others.row(of: object), row.since < other.since else { return }
            bits |= Self.bit(of: object.number)
        }
        return bits
    }

    private func row(at index: Int) -> EncodedRow {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        let end = index == count - 1 ? bytes.count : Int(ends[index])
        return EncodedRow(checked: bytes, start..<end)
    }
}

/// Gathers checked rows until they are passed on together.
struct RowCollector: Sendable {
    typealias Ends = InlineArray<64, UInt16>

    /// With this many bytes no more rows are added, because keeping one row keeps all of them.
    private static let bytesLimit = 16_384

    private var writer = KeyWriter(capacity: 512)
    private var entity = EntityNumber(rawValue: 0)
    private var page: UInt64 = 0
    private var bits: UInt64 = 0
    private var count = 0
    private var ends = Ends(repeating: 0)
    private var fitted = FittedRow()

    /// Whether there are no rows.
    var isEmpty: Bool { count == 0 }

    /// Whether the row of an object may follow those gathered.
    func hasRoom(for object: ObjectID) -> Bool {
        object.number >> 6 == page && object.entity == entity
            && EncodedRows.bit(of: object.number) > bits
            && writer.bytes.count < Self.bytesLimit
    }

    /// Appends a row, checked and in the layout that the model has.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the bytes are not those of a row.
    mutating func append(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in projection: Projection
    ) throws {
        guard try projection.fit(object, row, bytes, into: &fitted) else {
            return append(object, bytes)
        }
        let fitted = fitted.bytes
        append(object, fitted.span.bytes)
    }

    /// Appends a row that has been checked.
    mutating func append(_ object: ObjectID, _ row: RawSpan) {
        if count == 0 {
            entity = object.entity
            page = object.number >> 6
        } else {
            ends[count - 1] = UInt16(writer.bytes.count)
        }
        bits |= EncodedRows.bit(of: object.number)
        count += 1
        writer.append(bytes: row)
    }

    /// Returns the rows and leaves the collector empty.
    mutating func take() -> EncodedRows {
        let bytes = writer.bytes.span.bytes.array
        let rows = EncodedRows(entity, page: page, bits: bits, bytes, ends)
        writer.removeAll()
        bits = 0
        count = 0
        return rows
    }
}
