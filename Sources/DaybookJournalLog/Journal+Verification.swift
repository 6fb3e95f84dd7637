package import DaybookLMDB

/// A fault of the journal.
package struct JournalFinding: Sendable, Hashable {
    /// The kind of damage.
    package let kind: Kind
    /// The entry, if its number is known.
    package let sequence: SequenceNumber?
    /// A full sentence that names the entry.
    package let message: String

    /// The kinds of damage.
    package enum Kind: Sendable, Hashable {
        /// One or more entries are missing.
        case gap
        /// An entry's bytes are not those that were written, or a chunk is missing or too many.
        case entryBroken
        /// An entry does not carry the digest of the one before it.
        case chainBroken
        /// An entry has no digest beside it.
        case digestMissing
        /// A digest has no entry, or is not a digest.
        case digestExtra
        /// A stored root of the tree over the entries is wrong.
        case treeBroken
        /// A key is not a valid key of the journal.
        case malformedKey
        /// The journal does not end with its recorded head.
        case headBroken
    }
}

extension Journal {
    /// Walks the whole journal and reports all faults, continuing after damage.
    ///
    /// Without a digest kept elsewhere, a journal that was cut off, digests included, cannot be
    /// distinguished from a shorter one.
    ///
    /// - Parameters:
    ///   - transaction: The state to read.
    ///   - report: Called with each finding, in the order of the entries.
    ///   - follow: Called with each entry, as long as everything up to it is intact.
    ///   - progress: Called occasionally with the number of the entry reached and the last one.
    /// - Throws: ``JournalError`` when the tables themselves cannot be walked; errors of `follow`.
    /// - Complexity: O(*p*) page reads, *p* the number of the journal's pages.
    package func verify(
        in transaction: borrowing some Reading & ~Copyable,
        _ report: (JournalFinding) -> Void,
        follow: (JournalEntry) throws -> Void = { _ in },
        progress: (_ done: SequenceNumber, _ last: SequenceNumber) -> Void = { _, _ in }
    ) throws {
        var last = SequenceNumber.maximum
        let said = try saidHead(in: transaction)
        do {
            last = try self.last(in: transaction)
            if let flaw = said.flaw(ofLast: last) { report(.headBroken(flaw)) }
        } catch let error as JournalError where error.code == .entryBroken {
            // The walk reaches that entry later.
        }
        let none: [UInt8] = []
        var walk = JournalWalk()
        var current: EntryAssembly?
        func finish(_ assembly: EntryAssembly) throws {
            if let entry = walk.finish(assembly, report) { try follow(entry) }
        }
        try asJournalError {
            try transaction.scan(
                records, from: none.span.bytes, to: nil, order: .ascending
            ) { key, value in
                var reader = KeyReader()
                switch key.byteCount {
                case KeySize.digest, KeySize.chunk:
                    let sequence = SequenceNumber(try reader.uint64(key))
                    if let assembly = current, assembly.sequence != sequence {
                        try finish(assembly)
                        if assembly.sequence.rawValue % 1_024 == 0 {
                            progress(assembly.sequence, last)
                        }
                        current = nil
                    }
                    var assembly = current ?? EntryAssembly(sequence: sequence)
                    current = nil
                    try assembly.add(key, value)
                    current = assembly
                    if key.byteCount == KeySize.digest {
                        walk.recordDigest(sequence, value.byteCount)
                    }
                case KeySize.root:
                    let sequence = SequenceNumber(try reader.uint64(key))
                    let level = try reader.uint8(key)
                    let flaw = try flaw(ofTile: level, endingAt: sequence, value, in: transaction)
                    if let flaw { walk.addBesides(.treeBroken(sequence, level, flaw)) }
                default:
                    report(.malformedKey(key.byteCount, after: current?.sequence ?? walk.previous))
                }
                return .proceed
            }
        }
        if let assembly = current { try finish(assembly) }
        for finding in walk.besides { report(finding) }
        let digest = try storedDigest(walk.previous, in: transaction)
        if walk.isSound, let flaw = said.flaw(ofLast: walk.previous, digest) {
            report(.headBroken(flaw))
        }
        progress(last, last)
    }
}

/// The state of verification between entries.
private struct JournalWalk: ~Copyable {
    private(set) var previous = SequenceNumber.zero
    /// Faults of records beside the entries, reported after those of the entries.
    private(set) var besides: [JournalFinding] = []
    private var hasher = DigestHasher()
    private var previousDigest: Digest? = .zero
    private(set) var isSound = true

    mutating func addBesides(_ finding: JournalFinding) {
        besides.append(finding)
    }

    /// Checks the length of an entry's stored digest.
    mutating func recordDigest(_ sequence: SequenceNumber, _ count: Int) {
        if count != Digest.byteCount { besides.append(.malformedDigest(sequence, count)) }
    }

    /// Compares an entry with its stored digest and with the entry before.
    ///
    /// - Returns: The entry, if everything up to it is intact.
    mutating func finish(
        _ assembly: EntryAssembly, _ report: (JournalFinding) -> Void
    ) -> JournalEntry? {
        guard !assembly.isEmpty else {
            besides.append(.digestExtra(assembly.sequence))
            return nil
        }
        var entry: JournalEntry?
        var flawCount = 0
        check(assembly, &entry) { finding in
            flawCount += 1
            report(finding)
        }
        if flawCount > 0 { isSound = false }
        return isSound ? entry : nil
    }

    private mutating func check(
        _ assembly: EntryAssembly, _ read: inout JournalEntry?,
        _ report: (JournalFinding) -> Void
    ) {
        let sequence = assembly.sequence
        let stored = assembly.digest
        if sequence == .zero {
            report(.broken(sequence, "there is no entry 0"))
            return
        }
        guard sequence <= .maximum else {
            report(.broken(sequence, "no journal has that many"))
            return
        }
        if sequence != previous.next {
            report(.gap(from: previous.next, through: sequence.previous))
            previousDigest = nil
        }
        previous = sequence
        if stored == nil { report(.digestMissing(sequence)) }
        switch assembly.finish(&hasher) {
        case .failure(let damage):
            report(.broken(sequence, damage.reason))
            previousDigest = stored
        case .success(let entry):
            if let stored, stored != entry.digest {
                report(.broken(sequence, "its digest does not match its bytes"))
            }
            if let previousDigest, previousDigest != entry.previous {
                report(.chainBroken(sequence))
            }
            previousDigest = stored ?? entry.digest
            read = entry
        }
    }
}

extension JournalFinding {
    fileprivate static func gap(
        from first: SequenceNumber, through last: SequenceNumber
    ) -> JournalFinding {
        let what =
            first == last
            ? "Entry \(first) is missing." : "Entries \(first) to \(last) are missing."
        return JournalFinding(kind: .gap, sequence: first, message: what)
    }

    fileprivate static func broken(
        _ sequence: SequenceNumber, _ reason: String
    ) -> JournalFinding {
        JournalFinding(
            kind: .entryBroken, sequence: sequence,
            message: "Entry \(sequence) is damaged: \(reason).")
    }

    fileprivate static func chainBroken(_ sequence: SequenceNumber) -> JournalFinding {
        let before =
            sequence.rawValue == 1
            ? "zeros, which the first entry must carry" : "the digest of entry \(sequence.previous)"
        return JournalFinding(
            kind: .chainBroken, sequence: sequence,
            message: "Entry \(sequence) breaks the chain: it does not carry \(before).")
    }

    fileprivate static func headBroken(_ flaw: String) -> JournalFinding {
        JournalFinding(
            kind: .headBroken, sequence: nil,
            message: "The journal does not end as it should: \(flaw).")
    }

    fileprivate static func digestMissing(_ sequence: SequenceNumber) -> JournalFinding {
        JournalFinding(
            kind: .digestMissing, sequence: sequence,
            message: "The digest of entry \(sequence) is missing.")
    }

    fileprivate static func digestExtra(_ sequence: SequenceNumber) -> JournalFinding {
        JournalFinding(
            kind: .digestExtra, sequence: sequence,
            message: "There is a digest for entry \(sequence), but no such entry.")
    }

    fileprivate static func treeBroken(
        _ sequence: SequenceNumber, _ level: UInt8, _ flaw: String
    ) -> JournalFinding {
        JournalFinding(
            kind: .treeBroken, sequence: sequence,
            message: "The root of level \(level) kept at entry \(sequence) \(flaw).")
    }

    fileprivate static func malformedDigest(
        _ sequence: SequenceNumber, _ count: Int
    ) -> JournalFinding {
        JournalFinding(
            kind: .digestExtra, sequence: sequence,
            message: "The digest of entry \(sequence) has \(count) bytes instead of 32.")
    }

    fileprivate static func malformedKey(
        _ count: Int, after sequence: SequenceNumber
    ) -> JournalFinding {
        JournalFinding(
            kind: .malformedKey, sequence: nil,
            message:
                "A key of the journal after entry \(sequence) has \(count) bytes, not 8, 9 or 12.")
    }
}
