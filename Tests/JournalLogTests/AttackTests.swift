import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

/// Attacks that have broken other logs, tried on this one. `ProofAttackTests` of ToolTests and
/// `TamperedStoreTests` of RecoveryTests show the command's reaction to each.
@Suite struct AttackTests {
    private let key: SigningKey

    init() throws {
        key = try SigningKey.random(name: "example.org/ledger")
    }

    /// A journal of small entries, which may differ from some entry on.
    private func journal(
        _ count: Int, otherFrom changed: Int? = nil, clock: (Int) -> Int64 = { Int64($0) }
    ) throws -> TemporaryJournal {
        let file = try TemporaryJournal()
        let journal = file.journal
        try file.environment.write { [recorded = (1...count).map(clock)] transaction in
            for number in 1...count {
                let isOther = changed.map { number >= $0 } ?? false
                _ = try journal.append(
                    payload: TemporaryJournal.payload(9, seed: isOther ? number + 99 : number),
                    recordedAt: recorded[number - 1], in: transaction)
            }
        }
        return file
    }

    private func root(_ file: TemporaryJournal, _ size: UInt64) throws -> Digest {
        try file.environment.read { try file.journal.root(ofFirst: size, in: $0) }
    }

    private func growth(
        _ file: TemporaryJournal, from older: UInt64, to newer: UInt64
    ) throws -> ConsistencyProof {
        try file.environment.read {
            try file.journal.consistencyProof(from: older, to: newer, in: $0)
        }
    }

    private func proof(
        _ file: TemporaryJournal, of number: UInt64, amongFirst size: UInt64
    ) throws -> InclusionProof {
        try file.environment.read {
            try file.journal.inclusionProof(
                of: SequenceNumber(number), amongFirst: size, in: $0)
        }
    }

    private func leaf(_ file: TemporaryJournal, _ number: UInt64) throws -> Digest {
        try file.environment.read {
            try file.journal.digest(at: SequenceNumber(number), in: $0)
        }
    }

    private func signed(_ checkpoint: Checkpoint) throws -> SignedNote {
        var note = checkpoint.note
        try note.sign(with: key)
        return note
    }

    /// Rewrites an entry behind the journal's back, with the digest that fits it.
    private func rewrite(_ file: TemporaryJournal, _ number: UInt64) throws {
        let place = TemporaryJournal.key(number, chunk: 0)
        var bytes = try #require(try file.record("journal", place))
        bytes[bytes.count - 1] ^= 1
        try file.damage("journal", place, bytes)
        try file.damage("journal", TemporaryJournal.key(number), Digest.of([0] + bytes).bytes)
    }

    // MARK: - 1. The unchecked middle of a chain

    @Test func `Attack 1: every entry of a chain is hashed, not only its ends`() throws {
        let file = try journal(300)

        for number: UInt64 in [1, 2, 128, 150, 255, 256, 257, 299, 300] {
            let place = TemporaryJournal.key(number, chunk: 0)
            let whole = try #require(try file.record("journal", place))
            var bytes = whole
            bytes[bytes.count - 1] ^= 1
            try file.damage("journal", place, bytes)

            let found = try file.findings()

            #expect(found.map(\.sequence) == [SequenceNumber(number)])
            try file.damage("journal", place, whole)
        }
        #expect(try file.findings() == [])
    }

    @Test func `Attack 1: an entry rewritten with its digest breaks the chain and the tile`() throws
    {
        let file = try journal(300)

        try rewrite(file, 100)

        #expect(
            try file.findings().map(\.message) == [
                "Entry 101 breaks the chain: it does not carry the digest of entry 100.",
                "The root of level 1 kept at entry 256 is not that of its entries.",
            ])
    }

    @Test func `Attack 1: of two histories with the same ends only one fits a root`() throws {
        let honest = try journal(300)
        let forged = try journal(300)
        // Like a forged linear proof: both ends as before, the middle changed.
        for number: UInt64 in 101...199 { try rewrite(forged, number) }

        let size: UInt64 = 300
        let known = try root(honest, size)

        #expect(try leaf(honest, 300) == leaf(forged, 300))
        #expect(
            try !proof(honest, of: 150, amongFirst: size).leads(from: leaf(forged, 150), to: known))
        // The forged one does not even make a proof.
        let error = #expect(throws: JournalError.self) {
            try proof(forged, of: 150, amongFirst: size)
        }
        #expect(error?.code == .entryBroken)
        #expect(try !forged.findings().isEmpty)
    }

    // MARK: - 2. Old entries sealed again with the key of today

    @Test
    func `Attack 2: a past written anew and signed with the same key fails an older checkpoint`()
        throws
    {
        let honest = try journal(300)
        let forged = try journal(320, otherFrom: 50)
        let older = Checkpoint(origin: key.verifierKey.name, size: 300, root: try root(honest, 300))
        let newer = Checkpoint(origin: key.verifierKey.name, size: 320, root: try root(forged, 320))

        let growth = try growth(forged, from: 300, to: 320)

        // By itself the forgery is consistent, and its signature is valid.
        #expect(try forged.findings() == [])
        try signed(newer).verify(with: key.verifierKey)
        #expect(try root(forged, 300) != older.root)
        #expect(!growth.leads(from: older.root, to: newer.root))
    }

    @Test func `Attack 2: a rewritten entry has no proof under an older checkpoint`() throws {
        let honest = try journal(300)
        let forged = try journal(300, otherFrom: 50)
        let known = try root(honest, 300)

        #expect(try proof(honest, of: 50, amongFirst: 300).leads(from: leaf(honest, 50), to: known))
        #expect(
            try !proof(honest, of: 50, amongFirst: 300).leads(from: leaf(forged, 50), to: known))
        #expect(
            try !proof(forged, of: 50, amongFirst: 300).leads(from: leaf(forged, 50), to: known))
        // The entries before the change are unchanged, and still only the honest tree proves them.
        #expect(try leaf(honest, 49) == leaf(forged, 49))
        #expect(
            try !proof(forged, of: 49, amongFirst: 300).leads(from: leaf(forged, 49), to: known))
    }

    // MARK: - 3. Truncated and continued

    @Test
    func `Attack 3: a journal that was cut off is sound by itself and too short for a checkpoint`()
        throws
    {
        let cut = try journal(280)
        let whole = try journal(300)

        let head = try cut.environment.read { try cut.journal.head(in: $0) }

        #expect(try cut.findings() == [])
        #expect(try root(cut, 280) == root(whole, 280))
        #expect(head.rawValue < 300)
    }

    @Test func `Attack 3: a journal that was cut off and continued has another root at that size`()
        throws
    {
        let whole = try journal(300)
        let continued = try journal(340, otherFrom: 281)

        #expect(try continued.findings() == [])
        #expect(try root(continued, 280) == root(whole, 280))
        #expect(try root(continued, 300) != root(whole, 300))
        let growth = try growth(continued, from: 300, to: 340)
        #expect(try !growth.leads(from: root(whole, 300), to: root(continued, 340)))
    }

    @Test func `Attack 3: entries cut off without their digests are found by themselves`() throws {
        let file = try journal(5)

        try file.damage("journal", TemporaryJournal.key(5, chunk: 0), nil)

        #expect(
            try file.findings().map(\.message) == [
                "The journal does not end as it should: it says that it ends with entry 5, and 4 is the "
                    + "last one found.",
                "There is a digest for entry 5, but no such entry.",
            ])
    }

    // MARK: - 4. Nothing signed, and a key given

    @Test func `Attack 4: a note without the key's signature is refused, whatever else signed it`()
        throws
    {
        let checkpoint = Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1]))
        var others = checkpoint.note
        for name in ["example.org/witness", "example.org/ledge", "example.org/ledger2"] {
            try others.sign(with: .random(name: name))
        }

        for note in [checkpoint.note, others] {
            let error = #expect(throws: ProofError.self) {
                try note.checkpoint(signedBy: key.verifierKey)
            }
            #expect(error?.code == .unsigned)
        }
        // A note without a signature cannot even be read.
        let unreadable = #expect(throws: ProofError.self) {
            try SignedNote(checkpoint.note.description)
        }
        #expect(unreadable?.code == .malformed)
    }

    // MARK: - 5. The wrong key, and clocks

    @Test func `Attack 5: another key of the same name never passes`() throws {
        let note = try signed(Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1])))

        for _ in 0..<200 {
            let other = try SigningKey.random(name: key.verifierKey.name)
            let error = #expect(throws: ProofError.self) {
                try note.verify(with: other.verifierKey)
            }
            #expect(error?.code == .unsigned)
        }
    }

    @Test func `Attack 5: clocks that jump and stand still give no false alarm`() throws {
        let clocks: [(Int) -> Int64] = [
            { _ in 0 }, { -Int64($0) }, { $0 % 2 == 0 ? .max : .min },
            { Int64($0 % 7) * 86_400_000_000 - 1_000_000_000_000 },
        ]

        for clock in clocks {
            let file = try journal(300, clock: clock)
            #expect(try file.findings() == [])
            let growth = try growth(file, from: 150, to: 300)
            #expect(try growth.leads(from: root(file, 150), to: root(file, 300)))
        }
    }

    // MARK: - 6. Second preimages, positions, encodings, keys

    @Test func `Attack 6: a node of the tree cannot be passed off as an entry`() throws {
        let file = try journal(4)
        let leaves = try (1...4).map { try leaf(file, UInt64($0)) }
        let known = try root(file, 4)
        let right = Digest.node(leaves[2], leaves[3])

        // The bytes that the left node was hashed from, as an entry of a tree half as large.
        let forged = leaves[0].bytes + leaves[1].bytes
        let proof = InclusionProof(index: 0, size: 2, hashes: [right])

        #expect(proof.leads(from: .node(leaves[0], leaves[1]), to: known))
        #expect(!proof.leads(from: .ofEntry(forged), to: known))
        // The size in the checkpoint would have to be the forger's, too.
        let note = try signed(Checkpoint(origin: key.verifierKey.name, size: 4, root: known))
        let error = #expect(throws: ProofError.self) { try EntryProof(proof, note) }
        #expect(error?.code == .mismatch)
    }

    @Test(arguments: [UInt64(11), 12, 1 << 32, .max])
    func `Attack 6: a proof for a place after the last is refused`(place: UInt64) throws {
        let tree = NaiveTree(count: 11)
        let note = try signed(
            Checkpoint(origin: key.verifierKey.name, size: 11, root: tree.root()))
        let good = try EntryProof(InclusionProof(index: 4, size: 11, hashes: tree.path(4)), note)
        let forged = good.description.replacing("index 4\n", with: "index \(place)\n")

        let error = #expect(throws: ProofError.self) { try EntryProof(forged) }

        #expect(error?.code == .badProof)
        let proof = InclusionProof(index: place, size: 11, hashes: tree.path(4))
        #expect(!proof.leads(from: tree.leaves[4], to: tree.root()))
    }

    @Test func `Attack 6: nothing is in a journal of size 0`() throws {
        let empty = try signed(
            Checkpoint(origin: key.verifierKey.name, size: 0, root: Digest.of([])))

        let error = #expect(throws: ProofError.self) {
            try EntryProof(InclusionProof(index: 0, size: 0, hashes: []), empty)
        }

        #expect(error?.code == .badProof)
        #expect(
            !InclusionProof(index: 0, size: 0, hashes: [])
                .leads(from: Digest.of([]), to: Digest.of([])))
        let tree = NaiveTree(count: 3)
        let growth = ConsistencyProof(olderSize: 0, newerSize: 3, hashes: [])
        #expect(growth.leads(from: Digest.of([]), to: tree.root()))
        #expect(!growth.leads(from: tree.leaves[0], to: tree.root()))
    }

    @Test func `Attack 6: hashes too many, too few, or in another order lead nowhere`() throws {
        let file = try journal(300)
        let known = try root(file, 300)
        let entry = try leaf(file, 100)
        let hashes = try proof(file, of: 100, amongFirst: 300).hashes

        let forgeries = [
            hashes + [hashes[0]], [hashes[0]] + hashes, hashes + [known], Array(hashes.dropLast()),
            Array(hashes.dropFirst()), hashes.reversed(), [],
        ]

        for forged in forgeries {
            #expect(
                !InclusionProof(index: 99, size: 300, hashes: forged).leads(from: entry, to: known))
        }
        let growth = try growth(file, from: 100, to: 300).hashes
        let before = try root(file, 100)
        for forged in [growth + [known], Array(growth.dropLast()), growth.reversed(), []] {
            #expect(
                !ConsistencyProof(olderSize: 100, newerSize: 300, hashes: forged)
                    .leads(from: before, to: known))
        }
    }

    @Test func `Attack 6: every text has one way to be written`() throws {
        let tree = NaiveTree(count: 11)
        let note = try signed(
            Checkpoint(origin: key.verifierKey.name, size: 11, root: tree.root()))
        let good = try EntryProof(
            InclusionProof(index: 4, size: 11, hashes: tree.path(4)), note
        ).description
        let hash = NoteLines(good)[2]
        // The last character before the padding has two unused bits.
        let stray = "\(hash.dropLast(2))\(NoteLines.neighbour(of: hash.dropLast().last))="
        let root = NoteLines(note.description)[2]
        let broken = "\(hash.prefix(20))\n\(hash.dropFirst(20))"
        let returned = "\(root.prefix(20))\r\(root.dropFirst(20))"

        let forgeries: [(old: String, new: String)] = [
            ("index 4\n", "index 04\n"), ("index 4\n", "index +4\n"), ("index 4\n", "index 4 \n"),
            ("index 4\n", "index  4\n"), ("index 4\n", "Index 4\n"), ("index 4\n", "index 4\r\n"),
            ("index 4\n", "index \u{664}\n"), ("\n11\n", "\n011\n"), ("\n11\n", "\n+11\n"),
            ("\n11\n", "\n0xB\n"), ("\n11\n", "\n11.0\n"), ("\n11\n", "\n11 \n"), (hash, stray),
            (hash, String(hash.dropLast())), (hash, hash + "="), (hash, hash + " "),
            (hash, broken), (root, String(root.dropLast())), (root, returned),
            ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2"),
            ("c2sp.org/tlog-proof@v1\n", "c2sp.org/tlog-proof@v1\n\n"),
            ("c2sp.org/tlog-proof@v1\n", "c2sp.org/tlog-proof@v1\nextra ?\n"),
        ]

        for (old, new) in forgeries {
            let forged = good.replacing(old, with: new, maxReplacements: 1)
            #expect(forged != good)
            let error = #expect(throws: ProofError.self, "\(old) for \(new)") {
                try EntryProof(forged).verify(entry: tree.leaves[4], with: key.verifierKey)
            }
            #expect(error?.code == .malformed || error?.code == .badSignature, "\(old) for \(new)")
        }
    }

    @Test func `Attack 6: a key with the known name and id but other bytes signs nothing`() throws {
        let checkpoint = Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1]))
        let real = try signed(checkpoint).description
        let other = try SigningKey.random(name: key.verifierKey.name)
        var forged = checkpoint.note
        try forged.sign(with: other)
        // The forger's signature under the id of the known key, as a key made to collide would have it.
        let line = NoteLines(forged.description)[4]
        let text = try forged.description.replacing(
            line, with: NoteLines.line(line, withIDOf: NoteLines(real)[4]))

        let error = #expect(throws: ProofError.self) {
            try SignedNote(text).checkpoint(signedBy: key.verifierKey)
        }

        #expect(error?.code == .badSignature)
    }

    @Test
    func `Attack 6: signatures of unknown keys are overlooked, bad ones of known keys are not`()
        throws
    {
        let note = try signed(Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1])))
        let unknown = "\u{2014} example.org/witness " + NoteLines.base64(count: 76) + "\n"
        let sameName = "\u{2014} example.org/ledger " + NoteLines.base64(count: 76) + "\n"
        let own = try #require(NoteLines(note.description).last { !$0.isEmpty })
        let spoilt = own.replacing(own.suffix(12).prefix(4), with: "AAAA")

        try SignedNote(note.description + unknown + sameName + unknown)
            .verify(with: key.verifierKey)
        // Twice the same says no more than once.
        try SignedNote(note.description + own + "\n").verify(with: key.verifierKey)
        let error = #expect(throws: ProofError.self) {
            try SignedNote(note.description + spoilt + "\n").verify(with: key.verifierKey)
        }
        #expect(error?.code == .badSignature)
    }

    @Test func `Attack 6: a signature with the order of the curve added is not a second one`()
        throws
    {
        let note = try signed(Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1])))

        let text = try NoteLines.addingOrder(to: note.description)

        #expect(text != note.description)
        let error = #expect(throws: ProofError.self) {
            try SignedNote(text).verify(with: key.verifierKey)
        }
        #expect(error?.code == .badSignature)
    }

    @Test func `Attack 6: names that only look the same are not`() throws {
        let composed = try SigningKey.random(name: "example.org/caf\u{E9}")
        var note = Checkpoint(origin: "example.org/cafe\u{301}", size: 3, root: .of([1])).note
        try note.sign(with: composed)

        let error = #expect(throws: ProofError.self) {
            try note.checkpoint(signedBy: composed.verifierKey)
        }

        #expect(error?.code == .mismatch)
        let kelvin = composed.secretText.replacing("+KEY+", with: "+\u{212A}EY+")
        #expect(throws: ProofError.self) { try SigningKey(kelvin) }
    }

    @Test(arguments: [
        "", " ", "a b", "a+b", "a\nb", "a\u{A0}b", "a\u{2003}b", "a\u{0}b", "a\u{7F}",
    ])
    func `Attack 6: a name that a note cannot carry makes no key`(name: String) {
        let error = #expect(throws: ProofError.self) { try SigningKey.random(name: name) }

        #expect(error?.code == .malformed)
    }
}
