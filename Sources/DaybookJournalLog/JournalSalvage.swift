package import DaybookLMDB

/// What is left of a journal in a damaged file.
///
/// An entry counts as found if all its bytes are there and have a digest that the file keeps beside an entry of that
/// number, that the entry after it carries, or that the recorded head has. None of this needs a tree of the file.
///
/// Pages that are free may have other entries of a number: what was taken off a copy, what a crash kept from being
/// completed, and what somebody has put there. So the chain of digests is followed from the recorded head backwards:
/// each entry says which one came before it, and where entries contradict each other, the trees that can still be
/// followed tell which ones are the journal's. See `SalvagedChain`.
package struct JournalSalvage {
    private let file: SalvagedFile
    /// The records of entries, by number and chunk.
    private var chunks: [Chunk] = []
    /// The digests beside entries, by number.
    private var digests: [KeptDigest] = []
    /// The records of the head.
    private var heads: [SalvagedFile.Place] = []

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
        let place: SalvagedFile.Place
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
            case Journal.KeySize.chunk where place.count <= Journal.chunkBytes:
                let sequence = try reader.uint64(key)
                guard (1...SequenceNumber.maximum.rawValue).contains(sequence) else { return }
                chunks.append(
                    Chunk(sequence: sequence, index: try reader.uint32(key), place: place))
            case Journal.KeySize.digest where place.count == Digest.byteCount:
                guard let digest = file.bytes(at: place).flatMap({ Digest(bytes: $0) }) else {
                    return
                }
                digests.append(
                    KeptDigest(sequence: try reader.uint64(key), digest: digest, place: place))
            case Journal.headKey.count
            where place.count == Journal.headSize && key.isHead: heads.append(place)
            default: try other(key, place)
            }
        }
        chunks.sort()
        digests.sort { $0.sequence < $1.sequence }
    }

    /// The last entry that the file says it has, where it cannot be opened; nil when the trees do not lead to what says so.
    package var end: RecordedHead? {
        for place in heads where file.isInUse(place) {
            guard let bytes = file.bytes(at: place),
                case .said(let sequence, let digest) = SaidHead(bytes.span.bytes),
                (SequenceNumber(1)...SequenceNumber.maximum).contains(sequence)
            else { continue }
            return RecordedHead(sequence, digest)
        }
        return nil
    }

    /// Whether the trees lead to entries behind an end: that is none then.
    ///
    /// - Parameter end: The last entry that the file says it has.
    /// - Returns: Whether there are any.
    package func isFollowed(_ end: RecordedHead) -> Bool {
        chunks.contains { chunk in
            chunk.sequence > end.sequence.rawValue && chunk.index == 0
                && header(at: chunk.place, of: chunk.sequence) != nil && file.isInUse(chunk.place)
        }
    }

    /// Passes on the entries of the journal that were found, in order, each number once.
    ///
    /// - Parameters:
    ///   - end: The recorded head; nil when it cannot be read.
    ///   - body: Takes an entry.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*b*), *b* the bytes of the entries.
    package func forEachEntry(
        endingWith end: RecordedHead?, _ body: (JournalEntry) throws -> Void
    ) throws {
        let candidates = candidates(endingWith: end)
        let chain = SalvagedChain(
            candidates.contradict(end) ? consistent(candidates, endingWith: end) : candidates,
            endingWith: end,
            isEndKept: digests.contains {
                $0.sequence == end?.sequence.rawValue && $0.digest == end?.digest
            },
            // Where one of the two newest states cannot be read, the head may be that of the other.
            hasFollowers: !file.hasBothStates)
        for found in chain.entries {
            guard let entry = entry(at: found.places), entry.digest == found.digest else {
                continue
            }
            try body(entry)
        }
    }

    /// The entries without those that are not in the journal by what the trees say, as far as these can be followed.
    private func consistent(
        _ candidates: [SalvagedEntry], endingWith end: RecordedHead?
    ) -> [SalvagedEntry] {
        var said: [UInt64: Set<Digest>] = [:]
        var named: [UInt64: Set<Digest>] = [:]
        for entry in candidates {
            named[entry.sequence, default: []].insert(entry.digest)
            named[entry.sequence - 1, default: []].insert(entry.previous)
            if entry.places.allSatisfy(file.isInUse) {
                said[entry.sequence, default: []].insert(entry.digest)
            }
        }
        // A digest that is damaged is none that an entry has.
        for kept in digests
        where named[kept.sequence]?.contains(kept.digest) == true && file.isInUse(kept.place) {
            said[kept.sequence, default: []].insert(kept.digest)
        }
        // What is recorded of the end may be damaged, and is believed where nothing else is known of that entry.
        if let end, said[end.sequence.rawValue] == nil {
            said[end.sequence.rawValue] = [end.digest]
        }
        return candidates.consistent(with: said)
    }

    // MARK: - Putting entries together

    /// All entries that can be put together and have a digest that proves them, by number.
    private func candidates(endingWith end: RecordedHead?) -> [SalvagedEntry] {
        var candidates: [SalvagedEntry] = []
        var (start, digest) = (0, 0)
        while start < chunks.count {
            let sequence = chunks[start].sequence
            let stop = endOfNumber(from: start)
            var proofs: Set<Digest> = []
            while digest < digests.count, digests[digest].sequence <= sequence {
                if digests[digest].sequence == sequence { proofs.insert(digests[digest].digest) }
                digest += 1
            }
            if let end, end.sequence.rawValue == sequence { proofs.insert(end.digest) }
            if stop < chunks.count, chunks[stop].sequence == sequence + 1 {
                for first in chunks[stop...].prefix(while: {
                    $0.sequence == sequence + 1 && $0.index == 0
                }) {
                    if let header = header(at: first.place, of: first.sequence) {
                        proofs.insert(header.previous)
                    }
                }
            }
            candidates += entries(of: chunks[start..<stop], proofs)
            start = stop
        }
        return candidates
    }

    private func endOfNumber(from start: Int) -> Int {
        var end = start
        while end < chunks.count, chunks[end].sequence == chunks[start].sequence { end += 1 }
        return end
    }

    /// The entries of one number that one of the digests proves.
    private func entries(
        of chunks: ArraySlice<Chunk>, _ proofs: Set<Digest>
    ) -> [SalvagedEntry] {
        let number = chunks[chunks.startIndex].sequence
        let firsts = differing(chunks.prefix { $0.index == 0 }.map(\.place))
            .filter { header(at: $0, of: number) != nil }
        // Rows have keys of that length, too.
        guard !firsts.isEmpty else { return [] }
        var later: [LaterChunk: [SalvagedFile.Place]] = [:]
        for chunk in chunks where chunk.index > 0 {
            later[LaterChunk(index: chunk.index, count: chunk.place.count), default: []]
                .append(chunk.place)
        }
        later = later.mapValues { differing($0) }
        var found: [SalvagedEntry] = []
        var seen: Set<Digest> = []
        for first in firsts {
            guard let choices = choices(beginningWith: first, number, later) else { continue }
            for places in choices {
                guard let entry = entry(at: places), proofs.contains(entry.digest) else { continue }
                guard seen.insert(entry.digest).inserted else { break }
                found.append(SalvagedEntry(entry, at: places))
                break
            }
        }
        return found
    }

    private struct LaterChunk: Hashable {
        let index: UInt32
        let count: Int
    }

    /// The places that do not have the same bytes as one before.
    private func differing(_ places: [SalvagedFile.Place]) -> [SalvagedFile.Place] {
        guard places.count > 1 else { return places }
        var seen: Set<Digest> = []
        return places.filter { place in
            file.bytes(at: place).map { seen.insert(Digest.of($0)).inserted } ?? false
        }
    }

    /// The ways to put an entry together that begins with a chunk; nil when one that it needs is not there.
    ///
    /// Of each later chunk the file has one, as a rule. Where it has more, of an entry that was taken back, the digest
    /// tells which of them belong together.
    private func choices(
        beginningWith first: SalvagedFile.Place, _ sequence: UInt64,
        _ later: [LaterChunk: [SalvagedFile.Place]]
    ) -> [[SalvagedFile.Place]]? {
        guard let header = header(at: first, of: sequence) else { return nil }
        var choices = [[first]]
        var count = first.count - RecordHeader.byteCount
        guard count <= header.payloadCount else { return nil }
        var index: UInt32 = 1
        while count < header.payloadCount {
            let wanted = min(Journal.chunkBytes, header.payloadCount - count)
            guard let places = later[LaterChunk(index: index, count: wanted)], !places.isEmpty
            else { return nil }
            if places.count > 1 {
                choices = places.flatMap { place in choices.map { $0 + [place] } }
                choices = Array(choices.prefix(Self.choicesMaximum))
            } else {
                for choice in choices.indices { choices[choice].append(places[0]) }
            }
            count += wanted
            index += 1
        }
        return choices
    }

    /// More than a file has that nobody has made on purpose: each is read as a whole.
    private static let choicesMaximum = 256

    private func header(at place: SalvagedFile.Place, of sequence: UInt64) -> RecordHeader? {
        guard place.count >= RecordHeader.byteCount,
            let bytes = file.bytes(
                at: SalvagedFile.Place(offset: place.offset, count: RecordHeader.byteCount)),
            case .success(let header) = RecordHeader.decode(bytes.span.bytes),
            header.sequence.rawValue == sequence
        else { return nil }
        return header
    }

    /// The entry of the chunks at some places; nil when one cannot be read.
    private func entry(at places: [SalvagedFile.Place]) -> JournalEntry? {
        var bytes: [UInt8] = []
        for place in places {
            guard let chunk = file.bytes(at: place) else { return nil }
            bytes += chunk
        }
        guard case .success(let header) = RecordHeader.decode(bytes.span.bytes) else { return nil }
        return JournalEntry(
            sequence: header.sequence, recordedAt: header.recordedAt, previous: header.previous,
            payload: Array(bytes[RecordHeader.byteCount...]))
    }
}

extension RawSpan {
    /// Whether it is the key under which a journal records its end.
    fileprivate var isHead: Bool { withUnsafeBytes { $0.elementsEqual(Journal.headKey) } }
}
