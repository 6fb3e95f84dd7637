internal import DaybookLMDB
package import DaybookObjectModel
package import Foundation

/// Writes bytes that come piece by piece into a store, before an entry refers to them.
///
/// The chunks are written in slices, each in an LMDB transaction of its own, so few of them are in
/// memory. Chunks to which no entry comes to refer, because the program was killed for example, are
/// removed by ``Store/sweep()``.
///
/// Invariant of the table: where the record at the top of a tree is, all of the tree is. So the top is
/// written last, in a transaction that has looked for the others; and a sweep is one transaction.
package struct DataStaging {
    private let store: Store
    private var builder = ChunkTreeBuilder()
    private var buffer = Data()
    private var records: [ChunkRecord] = []
    private var recordBytes = 0
    private var count = 0

    private struct ChunkRecord: Sendable {
        let key: ChunkKey
        let bytes: [UInt8]
    }

    /// How many bytes are written in one LMDB transaction.
    private static let sliceBytes = 8 << 20

    /// Starts with no bytes.
    package init(in store: Store) {
        self.store = store
    }

    /// Takes the next bytes.
    ///
    /// - Throws: ``StoreError`` when the store cannot be written.
    package mutating func append(_ data: Data) throws {
        count += data.count
        guard count <= LargeData.bytesMaximum else { throw StoreError.tooMuchData() }
        buffer.append(data)
        // What a record can hold itself needs no chunks.
        guard count > LargeData.inlineBytesMaximum, buffer.count >= ChunkTree.chunkBytes else {
            return
        }
        while buffer.count >= ChunkTree.chunkBytes { try takeChunk(ChunkTree.chunkBytes) }
        // The bytes taken are still in front of the others.
        buffer = Data(buffer)
    }

    /// Writes what is left.
    ///
    /// - Returns: The data, to be given to a property.
    /// - Throws: ``StoreError`` when the store cannot be written, and with
    ///   ``StoreError/Code/noSuchData`` when the store was swept meanwhile.
    package mutating func finish() throws -> LargeData {
        guard count > LargeData.inlineBytesMaximum else { return LargeData(buffer) }
        if !buffer.isEmpty { try takeChunk(buffer.count) }
        let top = builder.finish { records.append(ChunkRecord(key: $0, bytes: $1)) }
        let data = LargeData(count: count, digest: top.digest, source: store)
        try write(completing: data)
        return data
    }

    private mutating func takeChunk(_ size: Int) throws {
        let bytes = [UInt8](buffer.prefix(size))
        buffer = buffer.dropFirst(size)
        let key = ChunkKey(level: 0, of: bytes.span.bytes)
        records.append(ChunkRecord(key: key, bytes: bytes))
        builder.add(key.digest) { records.append(ChunkRecord(key: $0, bytes: $1)) }
        recordBytes += size
        if recordBytes >= Self.sliceBytes { try write() }
    }

    private mutating func write(completing data: LargeData? = nil) throws {
        let chunks = try store.chunkTableMade()
        let records = records
        try store.writing { transaction in
            for record in records {
                try chunks.put(record.key, record.bytes.span.bytes, in: transaction)
            }
            if let data { try chunks.checkCompleteness(of: data, in: transaction) }
        }
        self.records = []
        recordBytes = 0
    }
}

extension ChunkTable {
    /// Looks for all records of a tree.
    fileprivate func checkCompleteness(
        of data: LargeData, in transaction: borrowing WriteTransaction
    ) throws {
        var path = ChunkPath(data)
        do {
            for index in 0..<data.tree.chunkCount {
                let key = try path.chunk(index, self, in: transaction)
                guard try contains(key, in: transaction) else { throw ChunkDamage.missing(key) }
            }
        } catch ChunkDamage.missing {
            throw StoreError(
                .noSuchData,
                "The bytes were not kept, because the store was swept while they came. Import them "
                    + "again.")
        }
    }
}

extension StoreError {
    fileprivate static func tooMuchData() -> StoreError {
        StoreError(.validation, "No value may have more than \(LargeData.bytesMaximum) bytes.")
    }
}
