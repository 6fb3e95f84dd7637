internal import DaybookLMDB
package import DaybookObjectModel

/// Where the records of large data are kept beside a shared journal: chunks, and the nodes above them.
///
/// They are found by their digests, so keeping one twice does no harm, and whoever gets one can check it. An entry
/// refers to them only by the digest at the top, so they are kept before the entry is appended.
///
/// Invariant: where the record at the top of a tree is, all of the tree is. So it is kept last.
package protocol SharedRecords: RecordSource {
    /// Which of some records are not there, or perhaps only on a server that others do not confirm.
    ///
    /// - Parameter keys: Their keys, at most ``SharedRecord/countMaximum``.
    /// - Returns: The keys of those that are to be kept.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/unreachable``,
    ///   ``SharedJournalError/Code/unprotected`` or ``SharedJournalError/Code/refused``.
    func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey]

    /// Keeps records; those that are there stay what they are.
    ///
    /// - Parameter records: The records, at most ``SharedRecord/countMaximum``.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/unreachable``; some may have been kept then, and
    ///   keeping them again settles it. With ``SharedJournalError/Code/unprotected`` or
    ///   ``SharedJournalError/Code/refused`` when nothing was kept.
    func keep(_ records: [SharedRecord]) throws(SharedJournalError)
}

/// Where records of large data are found by their digests.
package protocol RecordSource {
    /// The records that are there.
    ///
    /// They are handed out as they were found; the caller checks them.
    ///
    /// - Parameter keys: Their keys, at most ``SharedRecord/countMaximum``.
    /// - Returns: The records, in any order.
    /// - Throws: As ``SharedRecords/lacking(_:)``.
    func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord]
}

/// A record of large data on its way to or from a shared journal.
package struct SharedRecord: Sendable, Hashable {
    /// What it is found by.
    package let key: ChunkKey
    /// The bytes that have the digest.
    package let bytes: [UInt8]

    /// A record. Nothing about it has been checked.
    package init(_ key: ChunkKey, _ bytes: [UInt8]) {
        self.key = key
        self.bytes = bytes
    }

    /// How many records are sent or asked for at once: four mebibytes of them.
    package static let countMaximum = 64
}

extension SharedRecords {
    /// Sends large data, unless they are there already.
    ///
    /// - Parameter data: The data, which can be read.
    /// - Throws: As ``keep(_:)``; what reading throws.
    /// - Complexity: O(*n*) reading, hashing and sending, *n* the number of bytes; one question when they are there.
    func send(_ data: LargeData) throws {
        guard try !lacking([data.top]).isEmpty else { return }
        var waiting: [SharedRecord] = []
        try data.forEachRecord { key, bytes in
            waiting.append(SharedRecord(key, bytes.array))
            guard waiting.count == SharedRecord.countMaximum else { return }
            try sendLacking(waiting)
            waiting = []
        }
        try sendLacking(waiting)
    }

    /// Sends those of the records that are not there: an earlier attempt, or other data, may have sent some.
    private func sendLacking(_ records: [SharedRecord]) throws {
        guard !records.isEmpty else { return }
        var keys = Set(try lacking(Array(Set(records.map(\.key)))))
        let missing = records.filter { keys.remove($0.key) != nil }
        if !missing.isEmpty { try keep(missing) }
    }
}

extension RecordSource {
    /// Reads all records of large data, and checks each.
    ///
    /// - Parameter data: The data.
    /// - Throws: ``ChunkDamage`` for the first that is missing or is not what it should be; as ``records(_:)``.
    /// - Complexity: O(*n*) receiving and hashing, *n* the number of bytes.
    func check(_ data: LargeData) throws {
        try check([data.top], from: 0, of: data.tree)
    }

    private func check(_ keys: [ChunkKey], from first: Int, of tree: ChunkTree) throws {
        for start in stride(from: 0, to: keys.count, by: SharedRecord.countMaximum) {
            let part = keys[start..<min(start + SharedRecord.countMaximum, keys.count)]
            let found = try checkedRecords(part, of: Set(part), from: first + start, of: tree)
            for (index, key) in zip((first + start)..., part) where key.level > 0 {
                let children = try tree.children(of: key, at: index, among: found)
                try check(children, from: index * ChunkTree.fanOut, of: tree)
            }
        }
    }

    /// Some records of a level, each of which is there and is what its digest and its place say.
    ///
    /// - Parameters:
    ///   - keys: Records of a level, one after the other.
    ///   - wanted: Those of them that are asked for.
    ///   - first: The place of the first of `keys` in its level.
    ///   - tree: The shape of the data.
    /// - Returns: The bytes of those that are wanted.
    /// - Throws: ``ChunkDamage``; as ``records(_:)``.
    fileprivate func checkedRecords(
        _ keys: ArraySlice<ChunkKey>, of wanted: Set<ChunkKey>, from first: Int, of tree: ChunkTree
    ) throws -> [ChunkKey: [UInt8]] {
        var found: [ChunkKey: [UInt8]] = [:]
        for record in try records(Array(wanted)) {
            guard ChunkKey(level: record.key.level, of: record.bytes.span.bytes) == record.key
            else {
                throw ChunkDamage.changed(record.key)
            }
            found[record.key] = record.bytes
        }
        for (index, key) in zip(first..., keys) where wanted.contains(key) {
            guard let bytes = found[key] else { throw ChunkDamage.missing(key) }
            guard key.level > 0 || bytes.count == tree.byteCount(ofChunk: index) else {
                throw ChunkDamage.misfit(key)
            }
        }
        return found
    }
}

extension ChunkTree {
    /// The keys that a node leads to, whose bytes are among some.
    fileprivate func children(
        of key: ChunkKey, at index: Int, among found: [ChunkKey: [UInt8]]
    ) throws -> [ChunkKey] {
        guard let bytes = found[key] else { throw ChunkDamage.missing(key) }
        return try ChunkTable.children(
            of: key, bytes.span.bytes, count: childCount(ofNode: index, at: key.level))
    }
}

/// Brings large data from elsewhere into a file.
struct DataFetch {
    private let records: any RecordSource
    private let chunks: ChunkTable

    init(from records: any RecordSource, into chunks: ChunkTable) {
        self.records = records
        self.chunks = chunks
    }

    /// Brings all records of large data that the file does not have, each checked.
    ///
    /// What was brought before it is interrupted stays, and is not asked for again. The record at the top comes last:
    /// where it is, all of them are.
    ///
    /// - Throws: ``ChunkDamage`` for a record that is missing there, or is not what it should be;
    ///   ``SharedJournalError``; what writing throws.
    /// - Complexity: O(*n*) receiving, hashing and writing, *n* the number of bytes.
    func bring(_ data: LargeData, _ write: JournalGate.Write) throws {
        try bring([data.top], from: 0, of: data.tree, write)
    }

    /// Brings records of one level, the first of which has a place among its level, and all that is under them.
    private func bring(
        _ keys: [ChunkKey], from first: Int, of tree: ChunkTree, _ write: JournalGate.Write
    ) throws {
        for start in stride(from: 0, to: keys.count, by: SharedRecord.countMaximum) {
            let end = min(start + SharedRecord.countMaximum, keys.count)
            try bringTogether(keys[start..<end], from: first + start, of: tree, write)
        }
    }

    private func bringTogether(
        _ keys: ArraySlice<ChunkKey>, from first: Int, of tree: ChunkTree,
        _ write: JournalGate.Write
    ) throws {
        // A node may be here without all that is under it.
        let isOfChunks = keys.first?.level == 0
        let wanted = isOfChunks ? try notHere(keys, from: first, of: tree, write) : Set(keys)
        guard !wanted.isEmpty else { return }
        let found = try records.checkedRecords(keys, of: wanted, from: first, of: tree)
        for (index, key) in zip(first..., keys) where key.level > 0 {
            let children = try tree.children(of: key, at: index, among: found)
            try bring(children, from: index * ChunkTree.fanOut, of: tree, write)
        }
        try write { [chunks, found] transaction in
            for (key, bytes) in found { try chunks.put(key, bytes.span.bytes, in: transaction) }
        }
    }

    /// Which chunks the file does not have.
    private func notHere(
        _ keys: ArraySlice<ChunkKey>, from first: Int, of tree: ChunkTree,
        _ write: JournalGate.Write
    ) throws -> Set<ChunkKey> {
        let missing = Found<Set<ChunkKey>>()
        try write { [chunks] transaction in
            var found: Set<ChunkKey> = []
            for (index, key) in zip(first..., keys) {
                guard let count = try chunks.byteCount(of: key, in: transaction) else {
                    found.insert(key)
                    continue
                }
                guard count == tree.byteCount(ofChunk: index) else { throw ChunkDamage.misfit(key) }
            }
            missing.set(found)
        }
        return missing.value ?? []
    }
}
