internal import DaybookLMDB
internal import DaybookObjectModel

/// Records to be written to one table in one pass, in the order of their keys.
///
/// Sorting them first brings neighbours to the same page, and lets records after the last existing
/// one be appended, which fills pages completely.
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

        /// Up to eight bytes of the key from an offset in it on, as a number in their order.
        func word(at offset: Int, in bytes: RawSpan) -> UInt64 {
            let first = start + offset
            if first + 8 <= keyEnd {
                return UInt64(
                    bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: first, as: UInt64.self))
            }
            var word: UInt64 = 0
            for position in first..<first + 8 {
                let byte: UInt8 =
                    position < keyEnd
                    ? bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self) : 0
                word = word << 8 | UInt64(byte)
            }
            return word
        }
    }

    /// Whether there are no records.
    var isEmpty: Bool { records.isEmpty }

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

    /// Reserves room for `factor` times the current records.
    ///
    /// An array that doubles as it grows would be copied several times over, and each time into
    /// memory that the system has to clear.
    mutating func makeRoom(times factor: Double) {
        guard !records.isEmpty else { return }
        bytes.reserveCapacity(Int(Double(bytes.count) * factor))
        records.reserveCapacity(Int(Double(records.count) * factor))
    }

    /// Removes the records and keeps the memory.
    mutating func removeAll() {
        guard !records.isEmpty else { return }
        bytes.removeAll(keepingCapacity: true)
        records.removeAll(keepingCapacity: true)
        isSorted = true
    }

    /// Passes every record to `body`, in the order in which they were added.
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
        sort()
        let all = bytes.span.bytes
        try transaction.putAscendingRun(table) { run in
            for record in records {
                try run.put(
                    all.extracting(record.start..<record.keyEnd),
                    all.extracting(record.keyEnd..<record.valueEnd))
            }
        }
    }

    /// Sorts by the first bytes in which keys differ, which stand beside each record as numbers; only
    /// where these are equal are keys compared.
    private mutating func sort() {
        guard !isSorted else { return }
        let bytes = bytes
        let shared = sharedCount
        var order: [SortKey] = []
        order.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            let all = bytes.span.bytes
            order.append(
                SortKey(
                    first: record.word(at: shared, in: all),
                    second: record.word(at: shared + 8, in: all), index: index))
        }
        order.sort {
            if $0.first != $1.first { return $0.first < $1.first }
            if $0.second != $1.second { return $0.second < $1.second }
            return records[$0.index].precedes(records[$1.index], in: bytes)
        }
        records = order.map { records[$0.index] }
        isSorted = true
    }

    /// How many bytes at the beginning all keys share.
    private var sharedCount: Int {
        guard let first = records.first else { return 0 }
        let all = bytes.span.bytes
        let key = all.extracting(first.start..<first.keyEnd)
        return records.reduce(key.byteCount) { shared, record in
            let other = all.extracting(record.start..<record.keyEnd)
            return key.extracting(first: shared).sharedCount(with: other)
        }
    }

    private struct SortKey {
        let first: UInt64
        let second: UInt64
        let index: Int
    }
}

// MARK: - Index records

extension PutBatch {
    /// The objects that have a value in common, where these are index records: each with the first
    /// object that has it, in the order of the objects.
    mutating func sharedValues() throws(LMDBError) -> [(object: ObjectID, first: ObjectID)] {
        sort()
        let all = bytes.span.bytes
        func object(_ record: Record) throws(LMDBError) -> ObjectID {
            var reader = KeyReader(at: record.keyEnd - StoreKey.objectSize)
            return try reader.object(all)
        }
        var found: [(object: ObjectID, first: ObjectID)] = []
        guard var first = records.first else { return [] }
        for record in records.dropFirst() {
            let value = all.extracting(record.start..<(record.keyEnd - StoreKey.objectSize))
            let before = all.extracting(first.start..<(first.keyEnd - StoreKey.objectSize))
            if before.hasSameBytes(as: value) {
                found.append((try object(record), try object(first)))
            } else {
                first = record
            }
        }
        return found.sorted { $0.object < $1.object }
    }

    /// The objects that have a value in common with one of another batch of index records, which are
    /// sorted: each with that object. Records there of `objects` do not count.
    func valuesShared(
        with others: PutBatch, except objects: Set<ObjectID>
    ) throws(LMDBError) -> [(object: ObjectID, first: ObjectID)] {
        let (all, theirs) = (bytes.span.bytes, others.bytes.span.bytes)
        var found: [(object: ObjectID, first: ObjectID)] = []
        for record in records {
            let valueEnd = record.keyEnd - StoreKey.objectSize
            let value = all.extracting(record.start..<valueEnd)
            var reader = KeyReader(at: valueEnd)
            let object = try reader.object(all)
            var (lower, upper) = (0, others.records.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                let other = others.records[middle]
                if theirs.extracting(other.start..<other.keyEnd).precedes(value) {
                    lower = middle + 1
                } else {
                    upper = middle
                }
            }
            while lower < others.records.count {
                let other = others.records[lower]
                let end = other.keyEnd - StoreKey.objectSize
                guard theirs.extracting(other.start..<end).hasSameBytes(as: value) else { break }
                var reader = KeyReader(at: end)
                let holder = try reader.object(theirs)
                if !objects.contains(holder) {
                    found.append((object, holder))
                    break
                }
                lower += 1
            }
        }
        return found
    }
}

// MARK: - Merging

extension PutBatch {
    /// Writes all records to a table where they belong between others, as versions of an object
    /// belong between its earlier ones and those of its neighbours (decision 0012).
    ///
    /// LMDB splits a full page in half, unless the new record is the last of all, so pages would be
    /// two thirds full, and half as many more would be written. Many records are therefore
    /// appended: the existing records after the first of them are removed beforehand and put back
    /// among them.
    mutating func mergeIntoTail(of table: Table, in transaction: borrowing WriteTransaction) throws
    {
        sort()
        guard records.count >= Self.mergedMinimum, let tail = try tail(of: table, in: transaction)
        else { return try write(to: table, in: transaction) }
        try transaction.removeLast(tail.records.count, of: table)
        let others = tail.bytes.span.bytes
        let all = bytes.span.bytes
        var next = 0
        try transaction.putAscendingRun(table) { run in
            for record in records {
                let key = all.extracting(record.start..<record.keyEnd)
                while next < tail.records.count {
                    let other = tail.records[next]
                    let otherKey = others.extracting(other.start..<other.keyEnd)
                    guard !key.precedes(otherKey) else { break }
                    next += 1
                    // An existing record with the same key is replaced.
                    guard otherKey.precedes(key) else { break }
                    try run.put(otherKey, others.extracting(other.keyEnd..<other.valueEnd))
                }
                try run.put(key, all.extracting(record.keyEnd..<record.valueEnd))
            }
            for other in tail.records[next...] {
                try run.put(
                    others.extracting(other.start..<other.keyEnd),
                    others.extracting(other.keyEnd..<other.valueEnd))
            }
        }
    }

    /// The records of a table from the first new one on; nil when there are none, or so many that
    /// rewriting them would cost more than it saves.
    private func tail(
        of table: Table, in transaction: borrowing WriteTransaction
    ) throws -> PutBatch? {
        guard let first = records.first, bytes.count <= records.count * Self.averageMaximum else {
            return nil
        }
        let start = bytes.span.bytes.extracting(first.start..<first.keyEnd)
        let limit = (count: records.count * Self.tailMaximum, bytes: bytes.count * Self.tailMaximum)
        var found = (count: 0, bytes: 0)
        try transaction.scan(table, from: start, to: nil, order: .ascending) { key, value in
            found.count += 1
            found.bytes += key.byteCount + value.byteCount
            return found.count <= limit.count && found.bytes <= limit.bytes ? .proceed : .stop
        }
        guard found.count > 0, found.count <= limit.count, found.bytes <= limit.bytes else {
            return nil
        }
        // Nothing is copied before the amount is known to be small.
        var tail = PutBatch()
        tail.bytes.reserveCapacity(found.bytes)
        tail.records.reserveCapacity(found.count)
        try transaction.scan(table, from: start, to: nil, order: .ascending) { key, value in
            tail.add(key, value)
            return .proceed
        }
        return tail
    }

    /// The number of records from which merging pays: enough to fill some pages.
    private static let mergedMinimum = 1024

    /// The greatest average size of a record, in bytes: so few larger ones share a page that
    /// splitting it costs little in comparison.
    private static let averageMaximum = 1024

    /// How many existing records may follow the first new one, as a multiple of the new ones, in
    /// count and in bytes. If half of them followed the last new one, as many pages would be
    /// written as without merging.
    private static let tailMaximum = 2
}

extension RawSpan {
    /// Whether these bytes sort before others: by the first different byte, then by length.
    func precedes(_ other: RawSpan) -> Bool {
        let shared = sharedCount(with: other)
        guard shared < Swift.min(byteCount, other.byteCount) else {
            return byteCount < other.byteCount
        }
        return unsafeLoad(fromByteOffset: shared, as: UInt8.self)
            < other.unsafeLoad(fromByteOffset: shared, as: UInt8.self)
    }

    /// How many bytes at the beginning are the same.
    fileprivate func sharedCount(with other: RawSpan) -> Int {
        let limit = Swift.min(byteCount, other.byteCount)
        var offset = 0
        while offset + 8 <= limit {
            let left = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let different = left ^ right
            if different != 0 { return offset + different.littleEndian.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < limit,
            unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                == other.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        {
            offset += 1
        }
        return offset
    }
}
