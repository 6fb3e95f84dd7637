internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Checks large data: every record of a chunk or node against its digest, and every reference in the
/// journal against the records.
///
/// Rows and versions have the references of the journal, byte for byte, as the projection's own check
/// shows.
struct DataCheck {
    private let chunks: ChunkTable?
    private let schema: Schema
    /// The data that entries refer to, and the first value that does.
    private var references: [LargeData: Place] = [:]
    private var damaged: [ChunkKey: ChunkDamage] = [:]
    /// Full subtrees in which nothing is wrong, so that those that several have are walked once.
    private var sound: Set<ChunkKey> = []
    private(set) var findings: [VerifyFinding] = []

    private struct Place {
        let sequence: SequenceNumber
        let object: ObjectID
        let place: DataPlace
    }

    init(_ chunks: ChunkTable?, _ schema: Schema) {
        (self.chunks, self.schema) = (chunks, schema)
    }

    /// Whether there are references and no table.
    var lacksTable: Bool { chunks == nil && !references.isEmpty }

    /// Takes in the references of the next entry. One that cannot be decoded is reported elsewhere.
    mutating func follow(_ entry: JournalEntry) {
        do {
            try entry.forEachLargeData { data, object, place in
                guard references[data] == nil else { return }
                references[data] = Place(sequence: entry.sequence, object: object, place: place)
            }
        } catch {
            // Folding the entry fails as well, and says why.
            return
        }
    }

    /// Checks everything, once all entries have been taken in.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read.
    /// - Complexity: O(*d*) page reads and hashing, *d* the number of bytes of all large data.
    mutating func run(
        in transaction: borrowing ReadTransaction, _ progress: (Double) -> Void
    ) throws {
        if let chunks { try checkRecords(chunks, in: transaction, progress) }
        var met: Set<ChunkKey> = []
        let places = references.sorted {
            ($0.value.sequence, $0.value.object) < ($1.value.sequence, $1.value.object)
        }
        for (data, place) in places {
            var found: [ChunkDamage] = []
            if let chunks {
                try check(data.top, at: 0, of: data, chunks, in: transaction, &found)
            } else {
                found = [.missing(data.top)]
            }
            guard let first = found.first else { continue }
            met.formUnion(found.map(\.key))
            report(data, place, first, others: found.count - 1)
        }
        for (key, damage) in damaged where !met.contains(key) {
            let place = "\(damage.noun) \(key.digest.hexadecimal)"
            add(place, "The \(place), which no entry refers to, \(damage.reason).")
        }
    }

    private mutating func checkRecords(
        _ chunks: ChunkTable, in transaction: borrowing ReadTransaction,
        _ progress: (Double) -> Void
    ) throws {
        let count = try transaction.count(chunks.table)
        var done = 0
        let start: [UInt8] = []
        try transaction.scan(chunks.table, from: start.span.bytes, to: nil, order: .ascending) {
            bytes, value in
            done += 1
            if done % 256 == 0 { progress(Double(done) / Double(count)) }
            guard let key = ChunkTable.key(bytes) else {
                add(
                    "chunks",
                    "A record of the table 'chunks' has a key that no record of it can have.")
                return .proceed
            }
            if value.byteCount > ChunkTree.chunkBytes {
                damaged[key] = .misfit(key)
            } else if ChunkKey(level: key.level, of: value) != key {
                damaged[key] = .changed(key)
            }
            return .proceed
        }
    }

    /// Gathers what is wrong under a record of a tree.
    private mutating func check(
        _ key: ChunkKey, at index: Int, of data: LargeData, _ chunks: ChunkTable,
        in transaction: borrowing ReadTransaction, _ found: inout [ChunkDamage]
    ) throws {
        if let damage = damaged[key] { return found.append(damage) }
        guard key.level > 0 else {
            let count = try chunks.byteCount(of: key, in: transaction)
            if count == nil { return found.append(.missing(key)) }
            if count != data.tree.byteCount(ofChunk: index) { found.append(.misfit(key)) }
            return
        }
        let isFull = (index + 1) * ChunkTree.chunks(under: key.level) < data.tree.chunkCount
        if isFull, sound.contains(key) { return }
        let known = found.count
        defer { if isFull, found.count == known { sound.insert(key) } }
        do {
            let children = try chunks.children(of: key, at: index, in: data.tree, transaction)
            for (position, child) in children.enumerated() {
                let index = index * ChunkTree.fanOut + position
                try check(child, at: index, of: data, chunks, in: transaction, &found)
            }
        } catch let damage as ChunkDamage {
            found.append(damage)
        }
    }

    private mutating func report(
        _ data: LargeData, _ place: Place, _ damage: ChunkDamage, others: Int
    ) {
        let property = place.place.name(place.object, in: schema) ?? "?"
        let name = "'\(property)' of \(schema.name(of: place.object))"
        let rest = others == 0 ? "" : "; \(others) more are damaged"
        add(
            "\(name), entry \(place.sequence)",
            "The \(data.count) bytes of \(name) since entry \(place.sequence) cannot all be read: a "
                + "\(damage.noun) \(damage.reason)\(rest).")
    }

    private mutating func add(_ place: String, _ message: String) {
        findings.append(VerifyFinding(kind: .data, place: place, message: message))
    }
}
