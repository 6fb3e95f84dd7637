package import LMDB

/// One thing wrong with the journal.
package struct JournalFinding: Sendable, Hashable {
    /// What kind of damage it is.
    package let kind: Kind
    /// The entry it is about, if its number can be told.
    package let sequence: SequenceNumber?
    /// A full sentence that names the entry.
    package let message: String

    /// The kinds of damage.
    package enum Kind: Sendable, Hashable {
        /// One or more entries are not there.
        case gap
        /// An entry's bytes are not those that were written, or a chunk is missing or too many.
        case entryBroken
        /// An entry does not carry the digest of the one before it.
        case chainBroken
        /// An entry has no digest beside it.
        case digestMissing
        /// A digest stands beside no entry, or is not a digest.
        case digestExtra
        /// A root kept for the tree over the entries is not theirs.
        case treeBroken
        /// A key cannot be one of the journal's.
        case malformedKey
    }
}

extension Journal {
    /// Walks the whole journal and reports everything that is wrong, going on after damage.
    ///
    /// A journal cut off at its end, digests included, cannot be told from a shorter one without
    /// a digest kept elsewhere.
    ///
    /// - Parameters:
    ///   - transaction: The state to look at.
    ///   - report: Called with each finding, in the order of the entries.
    ///   - follow: Called with each entry, as long as everything up to it is what was written.
    ///   - progress: Called now and then with the number of the entry reached and the last one.
    /// - Throws: ``JournalError`` when the tables themselves cannot be walked; what `follow` throws.
    /// - Complexity: O(*p*) page reads, *p* the number of the journal's pages.
    package func verify(
        in transaction: borrowing some Reading & ~Copyable,
        _ report: (JournalFinding) -> Void,
        follow: (JournalEntry) throws -> Void = { _ in },
        progress: (_ done: SequenceNumber, _ last: SequenceNumber) -> Void = { _, _ in }
    ) throws {
        // Only for the progress: a damaged last key must not keep the rest from being looked at.
        let last = try asJournalError {
            try transaction.seek(chunks, before: nil) { key, _ in
                var reader = KeyReader()
                return key.byteCount == 12 ? SequenceNumber(try reader.uint64(key)) : .zero
            } ?? .zero
        }
        let none: [UInt8] = []
        var walk = JournalWalk()
        var current: EntryAssembly?
        try asJournalError {
            try transaction.scan(
                chunks, from: none.span.bytes, to: nil, order: .ascending
            ) { key, value in
                guard key.byteCount == 12 else {
                    report(.malformedKey(key.byteCount, after: current?.sequence ?? walk.previous))
                    return .proceed
                }
                var reader = KeyReader()
                let sequence = SequenceNumber(try reader.uint64(key))
                let chunk = try reader.uint32(key)
                if let assembly = current, assembly.sequence != sequence {
                    let stored = try storedDigest(assembly.sequence, in: transaction)
                    if let entry = walk.finish(assembly, stored, report) { try follow(entry) }
                    if assembly.sequence.rawValue % 1_024 == 0 {
                        progress(assembly.sequence, last)
                    }
                    current = nil
                }
                var assembly = current ?? EntryAssembly(sequence: sequence)
                current = nil
                assembly.add(chunk, value)
                current = assembly
                return .proceed
            }
        }
        if let assembly = current {
            let stored = try storedDigest(assembly.sequence, in: transaction)
            if let entry = walk.finish(assembly, stored, report) { try follow(entry) }
        }
        try verifyDigestRows(besides: walk.found, in: transaction, report)
        progress(last, last)
    }

    /// - Parameters:
    ///   - found: The entries that are there, in runs and in order.
    ///   - transaction: The state to look at.
    ///   - report: Called with each finding.
    /// - Throws: ``JournalError`` when the table cannot be walked.
    private func verifyDigestRows(
        besides found: [ClosedRange<SequenceNumber>],
        in transaction: borrowing some Reading & ~Copyable, _ report: (JournalFinding) -> Void
    ) throws {
        var runs = found[...]
        let none: [UInt8] = []
        try asJournalError {
            try transaction.scan(
                digests, from: none.span.bytes, to: nil, order: .ascending
            ) { key, value in
                guard key.byteCount == 8 || key.byteCount == 9 else {
                    report(.malformedDigestKey(key.byteCount))
                    return .proceed
                }
                var reader = KeyReader()
                let sequence = SequenceNumber(try reader.uint64(key))
                if key.byteCount == 9 {
                    let level = try reader.uint8(key)
                    let flaw = try flaw(
                        ofTile: level, endingAt: sequence, value, in: transaction)
                    if let flaw { report(.treeBroken(sequence, level, flaw)) }
                    return .proceed
                }
                while let run = runs.first, run.upperBound < sequence { runs.removeFirst() }
                if runs.first?.contains(sequence) != true { report(.digestExtra(sequence)) }
                if value.byteCount != Digest.byteCount {
                    report(.malformedDigest(sequence, value.byteCount))
                }
                return .proceed
            }
        }
    }
}

/// What verification carries from entry to entry.
private struct JournalWalk: ~Copyable {
    var previous = SequenceNumber.zero
    /// The entries that are there, in runs.
    private(set) var found: [ClosedRange<SequenceNumber>] = []
    private var hasher = DigestHasher()
    private var previousDigest: Digest? = .zero
    private var isSound = true

    /// Compares an entry with what is kept beside it and with the one before.
    ///
    /// - Returns: The entry, if everything up to it is what was written.
    mutating func finish(
        _ assembly: EntryAssembly, _ stored: Digest?, _ report: (JournalFinding) -> Void
    ) -> JournalEntry? {
        var entry: JournalEntry?
        var flawCount = 0
        check(assembly, stored, &entry) { finding in
            flawCount += 1
            report(finding)
        }
        if flawCount > 0 { isSound = false }
        return isSound ? entry : nil
    }

    private mutating func check(
        _ assembly: EntryAssembly, _ stored: Digest?, _ read: inout JournalEntry?,
        _ report: (JournalFinding) -> Void
    ) {
        let sequence = assembly.sequence
        if let run = found.last, run.upperBound.next == sequence {
            found[found.count - 1] = run.lowerBound...sequence
        } else {
            found.append(sequence...sequence)
        }
        if sequence == .zero {
            report(.broken(sequence, "there is no entry 0"))
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

    fileprivate static func digestMissing(_ sequence: SequenceNumber) -> JournalFinding {
        JournalFinding(
            kind: .digestMissing, sequence: sequence,
            message: "The digest of entry \(sequence) is missing.")
    }

    fileprivate static func digestExtra(_ sequence: SequenceNumber) -> JournalFinding {
        JournalFinding(
            kind: .digestExtra, sequence: sequence,
            message: "There is a digest for entry \(sequence), and no such entry.")
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
            message: "A key of the journal after entry \(sequence) has \(count) bytes, not 12.")
    }

    fileprivate static func malformedDigestKey(_ count: Int) -> JournalFinding {
        JournalFinding(
            kind: .malformedKey, sequence: nil,
            message: "A key of the digests has \(count) bytes instead of 8 or 9.")
    }
}
