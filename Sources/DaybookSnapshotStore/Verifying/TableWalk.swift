internal import DaybookLMDB
internal import DaybookObjectModel

/// One record, copied.
struct StoreRecord: Sendable, Hashable {
    let key: [UInt8]
    let value: [UInt8]
}

/// Reads a table from its first record on, some at a time, so that two tables can be walked
/// together.
struct TableWalk {
    private let table: Table
    private var buffer: ArraySlice<StoreRecord> = []
    private var start: [UInt8] = []
    private var isAtEnd = false

    private static let bufferSize = 512

    init(_ table: Table) {
        self.table = table
    }

    /// The current record; nil at the end.
    mutating func peek(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> StoreRecord? {
        if buffer.isEmpty, !isAtEnd { try fill(in: transaction) }
        return buffer.first
    }

    /// Goes on to the next record.
    mutating func advance() {
        buffer.removeFirst()
    }

    private mutating func fill(in transaction: borrowing some Reading & ~Copyable) throws {
        var records: [StoreRecord] = []
        try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
            key, value in
            records.append(StoreRecord(key: key.array, value: value.array))
            return records.count < Self.bufferSize ? .proceed : .stop
        }
        isAtEnd = records.count < Self.bufferSize
        // The least key after the last one.
        if let last = records.last { start = last.key + [0] }
        buffer = records[...]
    }
}
