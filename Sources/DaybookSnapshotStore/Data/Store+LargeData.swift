internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
package import Foundation

extension Store {
    /// The table of chunks; nil when the store has none yet.
    func chunkTable() throws -> ChunkTable? {
        let environment = try openEnvironment()
        return try wrapping {
            try environment.table(ifThere: ChunkTable.name).map { ChunkTable(table: $0) }
        }
    }

    /// Whether there are large data.
    package func hasLargeData() throws -> Bool {
        guard let chunks = try chunkTable() else { return false }
        return try reading { try !chunks.isEmpty(in: $0) }
    }

    /// The table of chunks, made if it does not exist.
    func chunkTableMade() throws -> ChunkTable {
        guard !options.isReadOnly else { throw StoreError.readOnly(path) }
        let environment = try openEnvironment()
        return try wrapping {
            ChunkTable(table: try environment.table(making: ChunkTable.name))
        }
    }

    /// The table of chunks for changes on their way into an entry; nil when they need none. What they refer to is
    /// sent to the shared journal first, if there is one: no file is kept from writing meanwhile.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchData``; as ``commit(_:)``.
    func chunkTable(for changes: [Change]) throws -> ChunkTable? {
        guard changes.haveLargeData else { return nil }
        if let sharing { try send(changes, to: sharing) }
        return try chunkTableMade()
    }

    private func send(_ changes: [Change], to sharing: JournalGate) throws {
        var sent: Set<LargeData> = []
        for change in changes {
            try change.forEachNewLargeData { data in
                guard sent.insert(data.detached).inserted else { return }
                try sharing.send(toShared: data.attached(to: self))
            }
        }
    }
}

extension Store: LargeDataSource {
    /// Some of the bytes of large data, each chunk checked.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` where a chunk is damaged, and with
    ///   ``StoreError/Code/noSuchData`` when the store does not have the data.
    package func bytes(of data: LargeData, in range: Range<Int>) throws -> Data {
        guard !range.isEmpty else { return Data() }
        guard let chunks = try chunkTable() else { throw StoreError.noSuchData(data) }
        let size = ChunkTree.chunkBytes
        let wanted = range.lowerBound / size..<(range.upperBound - 1) / size + 1
        var found = Data()
        do {
            try reading { transaction in
                guard try chunks.contains(data.top, in: transaction) else {
                    throw StoreError.noSuchData(data)
                }
                try chunks.forEachChunk(of: data, wanted, in: transaction) { index, bytes in
                    let start = max(0, range.lowerBound - index * size)
                    let end = min(bytes.byteCount, range.upperBound - index * size)
                    bytes.extracting(start..<end).withUnsafeBytes {
                        found.append(contentsOf: $0)
                    }
                }
            }
        } catch let damage as ChunkDamage {
            throw StoreError.damaged(data, damage)
        }
        return found
    }
}

extension StoreError {
    static func noSuchData(_ data: LargeData) -> StoreError {
        StoreError(
            .noSuchData,
            "The store does not have the \(data.count) bytes of the digest "
                + "\(data.digest.hexadecimal). Give the property the bytes themselves.")
    }

    static func damaged(_ data: LargeData, _ damage: ChunkDamage) -> StoreError {
        .corrupt(
            "The \(data.count) bytes of the digest \(data.digest.hexadecimal) cannot be read: a "
                + "\(damage.noun) \(damage.reason)")
    }
}

extension ChunkDamage {
    var key: ChunkKey {
        switch self {
        case .missing(let key), .changed(let key), .misfit(let key): key
        }
    }

    var noun: String { key.level == 0 ? "chunk" : "node over chunks" }
}
