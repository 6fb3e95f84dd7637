package import DaybookLMDB

/// What is left of a journal in a damaged file.
///
/// An entry counts as found if all its bytes are there and have the digest that the file keeps beside it, or that the
/// entry after it carries. Neither needs a tree of the file.
package struct JournalSalvage {
    private let file: SalvagedFile
    /// The records of entries, by number and chunk.
    private var chunks: [Chunk] = []
    /// The digests beside entries, by number.
    private var digests: [KeptDigest] = []

    private struct Chunk: Comparable {
        let sequence: UInt64
        let index: UInt32
        let place: SalvagedFile.Place

        static func < (left: Chunk, right: Chunk) -> Bool {
            (left.sequence, left.index, left.place.offset)
                < (right.sequence, right.index, right.place.offset)
        }
    }

    private struct KeptDigest {
        let sequence: UInt64
        let digest: Digest
    }

    /// Looks through a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - other: Called with the records that belong to no journal.
    /// - Throws: What `other` throws.
    /// - Complexity: O(*p* + *n* log *n*), *p* the number of the file's pages and *n* of the entries' records.
    package init(
        of file: SalvagedFile, other: (_ key: RawSpan, _ value: SalvagedFile.Place) throws -> Void
    ) throws {
        self.file = file
        try file.forEachRecord { key, place in
            var reader = KeyReader()
            switch key.byteCount {
            case Journal.KeySize.chunk:
                chunks.append(
                    Chunk(
                        sequence: try reader.uint64(key), index: try reader.uint32(key),
                        place: place))
            case Journal.KeySize.digest where place.count == Digest.byteCount:
                guard let digest = file.bytes(at: place).flatMap({ Digest(bytes: $0) }) else {
                    return
                }
                digests.append(KeptDigest(sequence: try reader.uint64(key), digest: digest))
            default: try other(key, place)
            }
        }
        chunks.sort()
        digests.sort { $0.sequence < $1.sequence }
    }

    /// Passes on every entry that was found, in order, each number once.
    ///
    /// Where pages that were freed have another entry of a number, as in a copy that was taken back once, the one is
    /// passed on that follows the entry before.
    ///
    /// - Parameter body: Takes an entry.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*b*), *b* the bytes of the entries.
    package func forEachEntry(_ body: (JournalEntry) throws -> Void) throws {
        var last: (sequence: SequenceNumber, digest: Digest) = (.zero, .zero)
        var upcoming = candidates(from: 0)
        var digest = 0
        while let present = upcoming {
            upcoming = candidates(from: present.end)
            let sequence = present.sequence
            while digest < digests.count, digests[digest].sequence < sequence { digest += 1 }
            var confirmed: Set<Digest> = []
            var next = digest
            while next < digests.count, digests[next].sequence == sequence {
                confirmed.insert(digests[next].digest)
                next += 1
            }
            if let upcoming, upcoming.sequence == sequence + 1 {
                for entry in upcoming.entries { confirmed.insert(entry.previous) }
            }
            let sound = present.entries.filter { confirmed.contains($0.digest) }
            let isNext = last.sequence.next == SequenceNumber(sequence)
            let follower = isNext ? sound.first { $0.previous == last.digest } : nil
            guard let entry = follower ?? sound.first else { continue }
            try body(entry)
            last = (entry.sequence, entry.digest)
        }
    }

    /// The entries that can be put together of the records of one number, the first of those from a place on.
    private func candidates(
        from start: Int
    ) -> (sequence: UInt64, entries: [JournalEntry], end: Int)? {
        guard start < chunks.count else { return nil }
        let sequence = chunks[start].sequence
        var end = start
        while end < chunks.count, chunks[end].sequence == sequence { end += 1 }
        guard (1...SequenceNumber.maximum.rawValue).contains(sequence) else {
            return (sequence, [], end)
        }
        // Of each later chunk the file has one, as a rule; where it has more, from an entry that was taken back, the
        // length tells which is wanted, and the digest whether that is right.
        var later: [LaterChunk: SalvagedFile.Place] = [:]
        for chunk in chunks[start..<end] where chunk.index > 0 {
            later[LaterChunk(index: chunk.index, count: chunk.place.count)] = chunk.place
        }
        var entries: [JournalEntry] = []
        var seen: Set<Digest> = []
        for first in chunks[start..<end].prefix(while: { $0.index == 0 }) {
            guard let entry = entry(beginningWith: first, later) else { continue }
            if seen.insert(entry.digest).inserted { entries.append(entry) }
        }
        return (sequence, entries, end)
    }

    private struct LaterChunk: Hashable {
        let index: UInt32
        let count: Int
    }

    /// The entry of a first chunk and those that it needs besides; nil when one is not there.
    private func entry(
        beginningWith first: Chunk, _ later: [LaterChunk: SalvagedFile.Place]
    ) -> JournalEntry? {
        guard let begin = file.bytes(at: first.place),
            case .success(let header) = RecordHeader.decode(begin.span.bytes),
            header.sequence.rawValue == first.sequence,
            header.payloadCount >= begin.count - RecordHeader.byteCount
        else { return nil }
        var payload = Array(begin[RecordHeader.byteCount...])
        var index: UInt32 = 1
        while payload.count < header.payloadCount {
            let wanted = min(Journal.chunkBytes, header.payloadCount - payload.count)
            guard let place = later[LaterChunk(index: index, count: wanted)],
                let bytes = file.bytes(at: place)
            else { return nil }
            payload += bytes
            index += 1
        }
        return JournalEntry(
            sequence: header.sequence, recordedAt: header.recordedAt, previous: header.previous,
            payload: payload)
    }
}
