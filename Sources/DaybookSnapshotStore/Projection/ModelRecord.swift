internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | field | bytes |
// |---|---|
// | version | the canonical form of the version of the model |
// | digest | SHA-256 of the key and the version |
//
// The digest tells a damaged record from a sound one without reading its entry, which may have changed
// any number of objects.

/// A record of the table of models.
enum ModelRecord {
    /// The bytes of a record.
    static func bytes(_ version: ModelVersion, at sequence: SequenceNumber) -> [UInt8] {
        let content = version.canonicalBytes
        return content + Digest.of(StoreKey.sequence(sequence) + content).bytes
    }

    /// The canonical form of the version in a record.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the record is damaged.
    static func content(_ record: RawSpan, at sequence: SequenceNumber) throws -> [UInt8] {
        let bytes = record.array
        let content = Array(bytes.dropLast(Digest.byteCount))
        guard bytes.count > Digest.byteCount,
            Digest.of(StoreKey.sequence(sequence) + content).bytes
                == Array(bytes.suffix(Digest.byteCount))
        else {
            throw StoreError.corrupt(
                "The record of the model that entry \(sequence) sets is damaged")
        }
        return content
    }

    /// The version in a record.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the record is damaged.
    static func version(_ record: RawSpan, at sequence: SequenceNumber) throws -> ModelVersion {
        do {
            return try ModelVersion(canonicalBytes: try content(record, at: sequence))
        } catch let error as DecodingFailure {
            throw StoreError.corrupt(
                "The model that entry \(sequence) sets cannot be read", cause: error)
        }
    }
}

extension Projection {
    /// The number of the entry that set the model in force.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when there is none.
    /// - Complexity: O(1) page reads.
    static func lastModel(
        _ tables: StoreTables, in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        let end = StoreKey.sequence(.latest)
        let last = try transaction.seek(tables.models, before: end.span.bytes) { key, _ in
            var reader = KeyReader()
            return try reader.sequence(key)
        }
        guard let last else { throw StoreError.corrupt("The store holds no model") }
        return last
    }

    /// The version that an entry set.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it set none or cannot be read.
    static func model(
        _ tables: StoreTables, setBy sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelVersion {
        guard let version = try modelIfThere(tables, setBy: sequence, in: transaction) else {
            throw StoreError.corrupt("The model that entry \(sequence) sets is not in the tables")
        }
        return version
    }

    /// The version that an entry set; nil when it set none.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it cannot be read.
    static func modelIfThere(
        _ tables: StoreTables, setBy sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelVersion? {
        let key = StoreKey.sequence(sequence)
        return try transaction.get(tables.models, key.span.bytes) {
            try ModelRecord.version($0, at: sequence)
        }
    }

    /// The entries that set a model, in order.
    static func models(
        _ tables: StoreTables, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [SequenceNumber] {
        var found: [SequenceNumber] = []
        let start: [UInt8] = []
        try transaction.scan(
            tables.models, from: start.span.bytes, to: nil, order: .ascending
        ) { key, _ in
            var reader = KeyReader()
            found.append(try reader.sequence(key))
            return .proceed
        }
        return found
    }
}
