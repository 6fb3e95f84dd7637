package import DaybookLMDB

extension Journal {
    /// The entry at `sequence`, its digest checked.
    ///
    /// - Returns: The entry, or `nil` when the journal has no entry of that number.
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when it cannot be trusted.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the number of the entry's pages.
    package func entry(
        at sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> JournalEntry? {
        let lower = Self.key(sequence)
        let upper = Self.key(sequence, chunk: .max)
        var assembly = EntryAssembly(sequence: sequence)
        try asJournalError {
            try transaction.scan(
                records, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
            ) { key, value in
                try assembly.add(key, value)
                return .proceed
            }
        }
        if assembly.isEmpty { return nil }
        var hasher = DigestHasher()
        return try Self.trusted(assembly, &hasher)
    }

    /// An entry whose records have all been read, its digest checked.
    private static func trusted(
        _ assembly: EntryAssembly, _ hasher: inout DigestHasher
    ) throws -> JournalEntry {
        let sequence = assembly.sequence
        let entry: JournalEntry
        switch assembly.finish(&hasher) {
        case .success(let read): entry = read
        case .failure(let damage):
            throw JournalError.entryBroken(at: sequence, because: damage.reason)
        }
        guard let digest = assembly.digest else {
            throw JournalError.entryBroken(at: sequence, because: "its digest is missing")
        }
        guard digest == entry.digest else {
            throw JournalError.entryBroken(
                at: sequence, because: "its digest does not match its bytes")
        }
        return entry
    }

    /// Hands the entries of a range to `body`, each one checked. Small ones are read in batches.
    ///
    /// - Parameters:
    ///   - first: The first number; 0 is taken as 1.
    ///   - last: The last number, or `nil` for the head. Numbers after the head are left out.
    ///   - order: The direction through the range.
    ///   - transaction: The state to read.
    ///   - body: Takes an entry and says whether to continue.
    /// - Throws: ``JournalError`` at the first entry that is missing, cannot be trusted or does not
    ///   follow the one before it; errors of `body`.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of entries read.
    package func entries(
        from first: SequenceNumber, through last: SequenceNumber?, order: ScanOrder = .ascending,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (JournalEntry) throws -> ScanStep
    ) throws {
        let head = try self.last(in: transaction)
        let said = try saidHead(in: transaction)
        try said.check(head)
        let lower = max(first, SequenceNumber(1))
        let upper = min(last ?? head, head)
        guard lower <= upper else { return }
        var neighbour: JournalEntry?
        var next = order == .ascending ? lower : upper
        while true {
            let batch = try batch(from: next, through: upper, order, in: transaction)
            for entry in batch.entries {
                try checkChain(entry, neighbour, order)
                if entry.sequence == head { try said.check(head, entry.digest) }
                if try body(entry) == .stop { return }
                if entry.sequence == (order == .ascending ? upper : lower) { return }
                neighbour = entry
                next = order == .ascending ? entry.sequence.next : entry.sequence.previous
            }
            if let failure = batch.failure { throw failure }
        }
    }

    /// Entries read together, and the reason why the next one is not among them.
    private struct Batch {
        var entries: [JournalEntry] = []
        var failure: (any Error)?
    }

    /// The maximal number of entries, and of their bytes, read together.
    private static let batchCountMaximum = 256
    private static let batchBytesMaximum = 1 << 18

    private func batch(
        from first: SequenceNumber, through last: SequenceNumber, _ order: ScanOrder,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Batch {
        guard order == .ascending else {
            guard let entry = try entry(at: first, in: transaction) else {
                throw JournalError.entryMissing(first)
            }
            return Batch(entries: [entry])
        }
        var batch = Batch()
        do {
            try asJournalError { try read(&batch.entries, from: first, through: last, transaction) }
            if batch.entries.isEmpty { throw JournalError.entryMissing(first) }
        } catch {
            batch.failure = error
        }
        return batch
    }

    /// Reads a batch of entries in one walk.
    private func read(
        _ entries: inout [JournalEntry], from first: SequenceNumber,
        through last: SequenceNumber, _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        let lower = Self.key(first)
        let upper = Self.key(last, chunk: .max)
        var hasher = DigestHasher()
        var assembly = EntryAssembly(sequence: first)
        var size = 0
        try transaction.scan(
            records, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, value in
            var reader = KeyReader()
            let sequence = SequenceNumber(try reader.uint64(key))
            if sequence != assembly.sequence {
                // The empty list means that the first entry is missing.
                guard !assembly.isEmpty else { return .stop }
                entries.append(try Self.trusted(assembly, &hasher))
                size += entries[entries.count - 1].payload.count
                assembly = EntryAssembly(sequence: entries[entries.count - 1].sequence.next)
                guard sequence == assembly.sequence, entries.count < Self.batchCountMaximum,
                    size < Self.batchBytesMaximum
                else { return .stop }
            }
            try assembly.add(key, value)
            return .proceed
        }
        if !assembly.isEmpty { entries.append(try Self.trusted(assembly, &hasher)) }
    }

    private func checkChain(
        _ entry: JournalEntry, _ neighbour: JournalEntry?, _ order: ScanOrder
    ) throws {
        guard let neighbour else { return }
        let (older, newer) = order == .ascending ? (neighbour, entry) : (entry, neighbour)
        try Self.checkChain(
            from: older.sequence, older.digest, to: newer.sequence, carrying: newer.previous)
    }

    /// Checks that an entry follows another one.
    ///
    /// - Parameters:
    ///   - older: The entry before.
    ///   - digest: Its digest.
    ///   - newer: The entry.
    ///   - previous: The digest that it carries of the one before.
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when that is another one.
    package static func checkChain(
        from older: SequenceNumber, _ digest: Digest, to newer: SequenceNumber,
        carrying previous: Digest
    ) throws {
        guard previous == digest else {
            throw JournalError.entryBroken(
                at: newer, because: "it does not carry the digest of entry \(older)")
        }
    }
}

/// Assembles the records of one entry.
struct EntryAssembly {
    let sequence: SequenceNumber
    /// Its stored digest; nil until a valid one is found.
    private(set) var digest: Digest?
    private var header = RecordHeader.Bytes(repeating: 0)
    private var headerCount = 0
    private var payload: [UInt8] = []
    private var chunkCount: UInt32 = 0
    private var damage: String?

    init(sequence: SequenceNumber) {
        self.sequence = sequence
    }

    /// Whether no chunk was found at all.
    var isEmpty: Bool { chunkCount == 0 && damage == nil }

    /// Adds a record with the entry's number.
    mutating func add(_ key: RawSpan, _ value: RawSpan) throws {
        switch key.byteCount {
        case Journal.KeySize.digest: digest = Digest(value)
        case Journal.KeySize.chunk:
            var reader = KeyReader(at: Journal.KeySize.digest)
            add(try reader.uint32(key), value)
        // The root of a tile, or a record that only verification checks.
        default: return
        }
    }

    private mutating func add(_ chunk: UInt32, _ value: RawSpan) {
        if chunk != chunkCount, damage == nil {
            damage = "its chunk \(chunkCount) is missing"
        }
        chunkCount += 1
        let taken = min(RecordHeader.byteCount - headerCount, value.byteCount)
        for index in 0..<taken {
            header[headerCount + index] = value.unsafeLoadUnaligned(
                fromByteOffset: index, as: UInt8.self)
        }
        headerCount += taken
        value.extracting(droppingFirst: taken).withUnsafeBytes { payload.append(contentsOf: $0) }
    }

    /// The entry of the chunks, or their fault.
    func finish(_ hasher: inout DigestHasher) -> Result<JournalEntry, RecordHeader.Malformation> {
        if let damage { return .failure(.init(damage)) }
        let bytes = header.span.bytes.extracting(first: headerCount)
        return RecordHeader.decode(bytes).flatMap { header in
            if header.payloadCount > payload.count {
                let count = headerCount + payload.count
                return .failure(.init("its end is missing after \(count) bytes"))
            }
            if header.payloadCount < payload.count {
                return .failure(
                    .init("\(payload.count - header.payloadCount) bytes too many are at its end"))
            }
            guard header.sequence == sequence else {
                return .failure(.init("its bytes are those of entry \(header.sequence)"))
            }
            hasher.update(0)
            hasher.update(self.header.span.bytes)
            hasher.update(payload.span.bytes)
            return .success(
                JournalEntry(
                    sequence: sequence, recordedAt: header.recordedAt, previous: header.previous,
                    payload: payload, digest: hasher.finish()))
        }
    }
}
