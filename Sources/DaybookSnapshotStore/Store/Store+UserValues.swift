internal import DaybookLMDB
package import DaybookObjectModel

// Values that users keep about a store, beside the journal: the record `userValues` of `meta`. They
// are not part of any entry, so replaying, rebuilding and exporting ignore them.

extension Store {
    /// The values that users keep about the store, by name; empty when there are none.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func userValues() throws -> [String: Value] {
        try reading { try StoreMetadata.userValues(self.parts.tables.meta, in: $0) }
    }

    /// Replaces the values that users keep about the store, in an LMDB transaction of its own. A
    /// save can write them in its transaction, as ``SaveRequest/userValues``.
    package func setUserValues(_ values: [String: Value]) throws {
        try writing { [meta = parts.tables.meta] in
            try StoreMetadata.setUserValues(values, meta, in: $0)
        }
        sendMarksSoon()
    }
}

extension StoreMetadata {
    private static let userValuesVersion: UInt8 = 1

    static func userValues(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [String: Value] {
        try record(Name.userValues, meta, in: transaction).map { try userValues(in: $0) } ?? [:]
    }

    /// Those in the content of their record.
    static func userValues(in record: [UInt8]) throws -> [String: Value] {
        do {
            return try decode(record)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.userValues)' of the store cannot be read", cause: error)
        }
    }

    static func setUserValues(
        _ values: [String: Value], _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 256)
        writer.append(userValuesVersion)
        writer.append(variable: UInt64(values.count))
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.append(name)
            // Chunks are kept for entries only.
            if case .large(let data) = value {
                writer.append(Value.data(try data.data()))
            } else {
                writer.append(value.normalized)
            }
        }
        try put(Name.userValues, writer.bytes, meta, in: transaction)
    }

    private static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> [String: Value] {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == userValuesVersion else {
            throw DecodingFailure(at: 0, expected: "version \(userValuesVersion) of kept values")
        }
        var values: [String: Value] = [:]
        for _ in 0..<(try span.readCount(at: &offset)) {
            let name = try span.readText(at: &offset)
            values[name] = try span.readValue(at: &offset)
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the kept values")
        }
        return values
    }
}
