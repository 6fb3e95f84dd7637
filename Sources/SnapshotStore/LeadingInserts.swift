internal import LMDB
internal import ObjectModel

/// The inserts that an entry begins with, in the order of their objects.
///
/// Their rows are made of the bytes of the entry alone, and so they need not be kept until everything
/// is written.
struct LeadingInserts {
    let payload: EntryPayload.Encoded
    /// How many changes of the entry they are.
    private(set) var count = 0
    private var first: ObjectID?
    private var last: ObjectID?

    init(_ payload: EntryPayload.Encoded) {
        self.payload = payload
    }

    /// Takes in an insert.
    ///
    /// - Returns: Whether it follows on those before.
    mutating func take(_ object: ObjectID, at place: Int) -> Bool {
        guard place == count else { return false }
        if let last, object <= last { return false }
        first = first ?? object
        last = object
        count += 1
        return true
    }

    /// How the rows are to be put into a table: behind everything, where they belong there.
    func mode(in table: Table, _ transaction: borrowing WriteTransaction) throws -> PutMode {
        guard let first else { return .upsert }
        let key = VersionKey(first)
        let row = key.bytes.span.bytes.extracting(first: VersionKey.rowSize)
        let isBehind =
            try transaction.seek(table, before: nil) { last, _ in last.precedes(row) } ?? true
        return isBehind ? .append : .upsert
    }
}
