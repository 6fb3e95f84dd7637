internal import LMDB
internal import ObjectModel

/// Records to be written to one table, in one run and in the order of their keys.
///
/// Sorting them first makes neighbours meet on the same page, and lets records that belong behind
/// the last one be appended, which fills pages to the end.
struct PutBatch {
    private var bytes: [UInt8] = []
    private var records: [Record] = []
    private var isSorted = true

    private struct Record {
        var start: Int
        var keyEnd: Int
        var valueEnd: Int

        func precedes(_ other: Record, in bytes: [UInt8]) -> Bool {
            let all = bytes.span.bytes
            return all.extracting(start..<keyEnd)
                .precedes(all.extracting(other.start..<other.keyEnd))
        }
    }

    /// Adds a record. No two have the same key.
    mutating func add(_ key: [UInt8], _ value: [UInt8] = []) {
        add(key.span.bytes, value.span.bytes)
    }

    /// Adds a record. No two have the same key.
    mutating func add(_ key: RawSpan, _ value: RawSpan) {
        let start = bytes.count
        bytes.append(addingCapacity: key.byteCount + value.byteCount) { room in
            room.append(raw: key)
            room.append(raw: value)
        }
        let keyEnd = start + key.byteCount
        let record = Record(start: start, keyEnd: keyEnd, valueEnd: keyEnd + value.byteCount)
        if isSorted, let last = records.last { isSorted = last.precedes(record, in: bytes) }
        records.append(record)
    }

    /// Makes room for so many times the records that are here.
    ///
    /// An array that doubles as it grows would be copied several times over, and each time into
    /// memory that the system has to clear.
    mutating func makeRoom(times factor: Double) {
        guard !records.isEmpty else { return }
        bytes.reserveCapacity(Int(Double(bytes.count) * factor))
        records.reserveCapacity(Int(Double(records.count) * factor))
    }

    /// Forgets the records and keeps the room.
    mutating func removeAll() {
        guard !records.isEmpty else { return }
        bytes.removeAll(keepingCapacity: true)
        records.removeAll(keepingCapacity: true)
        isSorted = true
    }

    /// Hands every record to `body`, in the order in which they were added.
    func forEach(_ body: (_ key: RawSpan, _ value: RawSpan) -> Void) {
        let all = bytes.span.bytes
        for record in records {
            body(
                all.extracting(record.start..<record.keyEnd),
                all.extracting(record.keyEnd..<record.valueEnd))
        }
    }

    /// Writes everything.
    mutating func write(to table: Table, in transaction: borrowing WriteTransaction) throws {
        guard !records.isEmpty else { return }
        if !isSorted {
            let bytes = bytes
            records.sort { $0.precedes($1, in: bytes) }
        }
        let all = bytes.span.bytes
        try transaction.putAscendingRun(table) { run in
            for record in records {
                try run.put(
                    all.extracting(record.start..<record.keyEnd),
                    all.extracting(record.keyEnd..<record.valueEnd))
            }
        }
    }
}

extension RawSpan {
    /// Whether these bytes come before others: the first different byte decides, then the length.
    func precedes(_ other: RawSpan) -> Bool {
        let shared = Swift.min(byteCount, other.byteCount)
        var offset = 0
        while offset + 8 <= shared {
            let left = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if left != right { return UInt64(bigEndian: left) < UInt64(bigEndian: right) }
            offset += 8
        }
        while offset < shared {
            let left = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            let right = other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            if left != right { return left < right }
            offset += 1
        }
        return byteCount < other.byteCount
    }
}
