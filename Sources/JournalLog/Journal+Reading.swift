package import LMDB

extension Journal {
    /// The entry at `sequence`, its digest checked.
    ///
    /// - Returns: The entry, or `nil` when the journal has no entry of that number.
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when it cannot be trusted.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the number of the entry's pages.
    package func entry(
        at sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> JournalEntry? {
        let lower = Self.key(sequence, chunk: 0)
        let upper = Self.key(sequence, chunk: .max)
        var assembly = EntryAssembly(sequence: sequence)
        try asJournalError {
            try transaction.scan(
                chunks, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
            ) { key, value in
                var reader = KeyReader(at: 8)
                assembly.add(try reader.uint32(key), value)
                return .proceed
            }
        }
        if assembly.isEmpty { return nil }
        let entry: JournalEntry
        switch assembly.finish() {
        case .success(let read): entry = read
        case .failure(let damage):
            throw JournalError.entryBroken(at: sequence, because: damage.reason)
        }
        guard try digest(at: sequence, in: transaction) == entry.digest else {
            throw JournalError.entryBroken(
                at: sequence, because: "its digest does not match its bytes")
        }
        return entry
    }

    /// Hands the entries of a range to `body`, each one checked, one in memory at a time.
    ///
    /// - Parameters:
    ///   - first: The first number; 0 is taken as 1.
    ///   - last: The last number, or `nil` for the head. Numbers after the head are left out.
    ///   - order: In which direction to go through the range.
    ///   - transaction: The state to read.
    ///   - body: Says whether to go on.
    /// - Throws: ``JournalError`` at the first entry that is missing, cannot be trusted or does
    ///   not follow the one before it; what `body` throws.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of entries read.
    package func entries(
        from first: SequenceNumber, through last: SequenceNumber?, order: ScanOrder = .ascending,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (JournalEntry) throws -> ScanStep
    ) throws {
        let head = try head(in: transaction)
        let lower = max(first, SequenceNumber(1))
        let upper = min(last ?? head, head)
        guard lower <= upper else { return }
        var neighbour: JournalEntry?
        var place = order == .ascending ? lower : upper
        while true {
            guard let entry = try entry(at: place, in: transaction) else {
                throw JournalError.entryMissing(place)
            }
            try checkChain(entry, neighbour, order)
            if try body(entry) == .stop { return }
            if place == (order == .ascending ? upper : lower) { return }
            neighbour = entry
            place = order == .ascending ? place.next : place.previous
        }
    }

    private func checkChain(
        _ entry: JournalEntry, _ neighbour: JournalEntry?, _ order: ScanOrder
    ) throws {
        guard let neighbour else { return }
        let (older, newer) = order == .ascending ? (neighbour, entry) : (entry, neighbour)
        guard newer.previous == older.digest else {
            throw JournalError.entryBroken(
                at: newer.sequence,
                because: "it does not carry the digest of entry \(older.sequence)")
        }
    }
}

/// The chunks of one entry being put together.
struct EntryAssembly {
    let sequence: SequenceNumber
    private var bytes: [UInt8] = []
    private var chunkCount: UInt32 = 0
    private var damage: String?

    init(sequence: SequenceNumber) {
        self.sequence = sequence
    }

    /// Whether no chunk was found at all.
    var isEmpty: Bool { chunkCount == 0 && damage == nil }

    mutating func add(_ chunk: UInt32, _ value: RawSpan) {
        if chunk != chunkCount, damage == nil {
            damage = "its chunk \(chunkCount) is missing"
        }
        chunkCount += 1
        value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// The entry the chunks make, or what is wrong with them.
    func finish() -> Result<JournalEntry, EntryHeader.Malformation> {
        if let damage { return .failure(.init(damage)) }
        return EntryHeader.decode(bytes.span.bytes).flatMap { header in
            let count = bytes.count - EntryHeader.byteCount
            if header.payloadCount > count {
                return .failure(.init("the end of it is missing after \(bytes.count) bytes"))
            }
            if header.payloadCount < count {
                return .failure(
                    .init("\(count - header.payloadCount) bytes too many stand at its end"))
            }
            guard header.sequence == sequence else {
                return .failure(.init("its bytes are those of entry \(header.sequence)"))
            }
            var hasher = DigestHasher()
            hasher.update(0)
            hasher.update(bytes.span.bytes)
            return .success(
                JournalEntry(
                    sequence: sequence, recordedAt: header.recordedAt, previous: header.previous,
                    payload: Array(bytes[EntryHeader.byteCount...]), digest: hasher.finish()))
        }
    }
}
