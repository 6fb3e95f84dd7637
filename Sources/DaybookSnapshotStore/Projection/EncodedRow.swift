package import DaybookJournalLog
package import DaybookObjectModel
import DaybookStopping

/// An object's row as it is encoded in the store, copied in one piece, alone or together with
/// others.
///
/// A value is decoded on request. All of them were checked when the row was read: malformed bytes
/// are refused then and cannot turn up later.
package struct EncodedRow: Sendable {
    private let bytes: [UInt8]
    /// Where the row starts in the bytes, which may hold several rows.
    private let start: UInt32
    private let count: UInt32

    /// Takes the bytes of a row.
    ///
    /// - Throws: ``DecodingFailure`` when they are not those of a row.
    init(_ bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        try RowLayout(span).check(span)
        self.init(checked: bytes, 0..<bytes.count)
    }

    /// Copies the bytes of a row.
    ///
    /// - Throws: ``DecodingFailure`` when they are not those of a row.
    init(_ bytes: RawSpan, _ layout: RowLayout) throws(DecodingFailure) {
        try layout.check(bytes)
        self.init(checked: bytes.array, 0..<bytes.byteCount)
    }

    /// Takes a range of bytes that has been checked to be a row.
    init(checked bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        start = UInt32(range.lowerBound)
        count = UInt32(range.count)
    }

    /// The entry that last changed the object.
    package var since: SequenceNumber {
        let since = bytes.span.bytes.unsafeLoadUnaligned(
            fromByteOffset: Int(start), as: UInt64.self)
        return SequenceNumber(rawValue: UInt64(bigEndian: since))
    }

    /// The value in a slot; null for a slot the row does not have.
    package func value(inSlot slot: Int) -> Value {
        reading { layout, bytes throws(DecodingFailure) in try layout.value(slot, in: bytes) }
    }

    /// The integer in a slot; nil when there is none.
    package func integer(inSlot slot: Int) -> Int64? {
        reading { layout, bytes throws(DecodingFailure) in
            guard let start = layout.start(of: slot, in: bytes) else { return nil }
            return try bytes.integer(at: start)
        }
    }

    /// The floating-point number in a slot; nil when there is none.
    package func double(inSlot slot: Int) -> Double? {
        reading { layout, bytes throws(DecodingFailure) in
            guard let start = layout.start(of: slot, in: bytes) else { return nil }
            return try bytes.double(at: start)
        }
    }

    /// The seconds since the reference date of the date in a slot; nil when there is none.
    package func seconds(inSlot slot: Int) -> Double? {
        reading { layout, bytes throws(DecodingFailure) in
            guard let start = layout.start(of: slot, in: bytes) else { return nil }
            return try bytes.seconds(at: start)
        }
    }

    /// The text in a slot; nil when there is none.
    package func text(inSlot slot: Int) -> String? {
        reading { layout, bytes throws(DecodingFailure) in
            guard let start = layout.start(of: slot, in: bytes) else { return nil }
            return try bytes.text(at: start)
        }
    }

    /// Whether a slot has no value.
    package func isNull(inSlot slot: Int) -> Bool {
        reading { layout, bytes in
            layout.start(of: slot, in: bytes).map { bytes.isNull(at: $0) } ?? true
        }
    }

    /// All values in slot order.
    package var values: [Value] {
        reading { layout, bytes throws(DecodingFailure) in try layout.values(in: bytes) }
    }

    @inline(__always)
    private func reading<R>(_ body: (RowLayout, RawSpan) throws(DecodingFailure) -> R) -> R {
        let start = Int(start)
        let span = bytes.span.bytes.extracting(start..<start + Int(count))
        do throws(DecodingFailure) {
            return try body(RowLayout(span), span)
        } catch {
            stop("A row is checked when it is copied: \(error).")
        }
    }
}

extension RowLayout {
    /// Checks that all values can be decoded, without creating them.
    ///
    /// - Throws: ``DecodingFailure`` wherever ``values(in:)`` would.
    func check(_ bytes: RawSpan) throws(DecodingFailure) {
        var slot = 0
        while true {
            slot = bytes.endOfPlainFields(
                from: slot, of: count, width: width, ends: Self.headerSize, fields: fieldsStart)
            guard slot < count else { break }
            try checkClosely(slot, in: bytes)
            slot += 1
        }
        try checkEnd(at: fieldsStart + (count == 0 ? 0 : end(of: count - 1, in: bytes)), in: bytes)
    }

    @inline(never)
    private func checkClosely(_ slot: Int, in bytes: RawSpan) throws(DecodingFailure) {
        var offset = fieldsStart + (slot == 0 ? 0 : end(of: slot - 1, in: bytes))
        try bytes.skipValue(at: &offset)
        guard offset == fieldsStart + end(of: slot, in: bytes) else {
            throw DecodingFailure(at: offset, expected: "the end of field \(slot)")
        }
    }
}
