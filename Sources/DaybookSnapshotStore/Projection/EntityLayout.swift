internal import DaybookJournalLog
internal import DaybookObjectModel

/// Brings rows of earlier and later versions of a model into the layout of one version.
///
/// Layouts are only appended to. So the fields of an older row are the first ones, and what it lacks is
/// known from the model; a newer row has more at its end. What was removed stays in rows, and nobody is
/// shown it.
final class EntityLayout: Sendable {
    /// How many fields a row has.
    let slotCount: Int
    /// The fields of properties that were removed.
    let removed: [Int]
    /// The entries from which on rows have each field.
    let since: [SequenceNumber]
    /// The entries from which on rows have the age of each stored to-many relationship.
    let membersSince: [SequenceNumber]
    private let fills: [Fill]
    /// The bytes of the fields that older rows lack, one after the other.
    private let fillBytes: [UInt8]
    /// Where each of them is in these; empty where it depends on the row.
    private let fillPlaces: [EncodedField]
    /// Rows with so many fields, or more, lack none that depends on the row.
    private let countOfSimpleRows: Int

    /// What a row has in a field that is newer than it is.
    private enum Fill: Sendable {
        case nothing
        case bytes([UInt8])
        case converted(slot: Int, AttributeType)
    }

    init(_ entity: SchemaEntity) {
        let slots = entity.numbers.slots
        slotCount = slots.count
        removed = entity.removedSlots
        since = slots.map { SequenceNumber(rawValue: $0.since) }
        membersSince = entity.numbers.members.map { SequenceNumber(rawValue: $0.since) }
        let fills: [Fill] = slots.map { slot in
            switch slot.fill {
            case .value(.null): return .nothing
            case .value(let value): return .bytes(value.encoded)
            case .converted(let source, let type):
                let place = slots.firstIndex { $0.property == source }
                return place.map { .converted(slot: $0, type) } ?? .nothing
            }
        }
        self.fills = fills
        var bytes: [UInt8] = []
        var places: [EncodedField] = []
        for fill in fills {
            let start = bytes.count
            if case .bytes(let encoded) = fill { bytes += encoded }
            places.append(EncodedField(start: start, end: bytes.count))
        }
        (fillBytes, fillPlaces) = (bytes, places)
        let last = fills.lastIndex { if case .converted = $0 { true } else { false } }
        countOfSimpleRows = last.map { $0 + 1 } ?? 0
    }

    /// Whether a row has just the fields of this layout, and nothing in those that nobody is shown.
    func fits(_ row: RowLayout, _ bytes: RawSpan) -> Bool {
        guard row.count == slotCount else { return false }
        for slot in removed where row.start(of: slot, in: bytes) != nil { return false }
        return true
    }

    /// How many ages of stored to-many relationships a row has that was written in an entry.
    func relationshipCount(at entry: SequenceNumber) -> Int {
        membersSince.count { $0 <= entry }
    }

    /// Checks that a row has as many fields as rows had when it was written; one by a later model, which
    /// this layout does not know, has more.
    func check(_ row: RowLayout) throws(DecodingFailure) {
        guard row.count < slotCount else { return }
        guard row.count == since.count(where: { $0 <= row.since }) else {
            throw DecodingFailure(at: 9, expected: "as many fields as the model had then")
        }
    }

    /// The value that a row has in a field, be it newer than the row.
    func value(
        _ slot: Int, _ row: RowLayout, _ bytes: RawSpan
    ) throws(DecodingFailure) -> Value {
        guard slot >= row.count, slot < slotCount else { return try row.value(slot, in: bytes) }
        try check(row)
        switch fills[slot] {
        case .nothing: return .null
        case .bytes(let encoded):
            var offset = 0
            return try encoded.span.bytes.readValue(at: &offset)
        case .converted(let source, let type):
            return try value(source, row, bytes).converted(to: type)
        }
    }

    /// The values of a row as this layout has them.
    func values(
        _ row: RowLayout, _ bytes: RawSpan
    ) throws(DecodingFailure) -> [Value] {
        try check(row)
        var values = try row.values(in: bytes)
        if values.count > slotCount { values.removeLast(values.count - slotCount) }
        while values.count < slotCount {
            values.append(try value(values.count, row, bytes))
        }
        for slot in removed { values[slot] = .null }
        return values
    }

    /// Appends the fields that a row lacks.
    ///
    /// - Parameters:
    ///   - row: The bytes of the row.
    ///   - fields: Where its fields are; afterwards there are as many as the layout has.
    /// - Returns: The bytes of the row, and behind them those of the fields that were appended.
    /// - Throws: ``DecodingFailure`` when a value that is to be converted cannot be read.
    func complete(
        _ row: RawSpan, _ fields: inout [RowField]
    ) throws(DecodingFailure) -> [UInt8] {
        var bytes = row.array
        while fields.count < slotCount {
            let start = bytes.count
            switch fills[fields.count] {
            case .nothing: break
            case .bytes(let encoded): bytes += encoded
            case .converted(let source, let type):
                let value = try bytes.span.bytes.value(at: fields[source].range)
                let converted = value.converted(to: type)
                if !converted.isNull { bytes += converted.encoded }
            }
            let place = EncodedField(start: start, end: bytes.count)
            fields.append(RowField(range: place, isNew: false))
        }
        return bytes
    }

    /// Encodes a row in this layout, for readers: the ages in it mean nothing.
    ///
    /// Most rows of earlier versions lack only what the model says by itself, which is put behind their
    /// own fields without a look at these.
    func fit(
        _ row: RowLayout, _ bytes: RawSpan, into fitted: inout FittedRow
    ) throws(DecodingFailure) {
        try fit(row, bytes, without: removed, into: &fitted)
    }

    private func fit(
        _ row: RowLayout, _ bytes: RawSpan, without hidden: [Int], into fitted: inout FittedRow
    ) throws(DecodingFailure) {
        try check(row)
        if hidden.isEmpty, row.count < slotCount, row.count >= countOfSimpleRows,
            fitted.encoder.encode(extending: row, bytes, to: fillPlaces, from: fillBytes)
        {
            return
        }
        try row.fields(in: bytes, &fitted.fields)
        if fitted.fields.count > slotCount {
            fitted.fields.removeLast(fitted.fields.count - slotCount)
        }
        let completed = try complete(bytes, &fitted.fields)
        fitted.encode(row, without: hidden, from: completed.span.bytes)
    }

    /// Calls `body` with a row that has at least its first `count` fields: itself or, where it is older,
    /// one that is completed.
    func withFields<R>(
        _ count: Int, _ row: RowLayout, _ bytes: RawSpan,
        _ body: (RowLayout, RawSpan) throws(DecodingFailure) -> R
    ) throws(DecodingFailure) -> R {
        guard row.count < count else { return try body(row, bytes) }
        var fitted = FittedRow()
        try fit(row, bytes, without: [], into: &fitted)
        let span = fitted.bytes.span.bytes
        return try body(try RowLayout(span), span)
    }
}

/// A row in the layout of another version, and the memory for the next one.
struct FittedRow {
    fileprivate var fields: [RowField] = []
    fileprivate var encoder = RowEncoder()

    /// The bytes of the last row.
    var bytes: [UInt8] { encoder.bytes }

    fileprivate mutating func encode(
        _ row: RowLayout, without hidden: [Int], from bytes: RawSpan
    ) {
        for slot in hidden {
            let start = fields[slot].range.start
            fields[slot] = RowField(range: EncodedField(start: start, end: start), isNew: false)
        }
        encoder.encode(since: row.since, fields, from: bytes, bytes, ages: [0])
    }
}
