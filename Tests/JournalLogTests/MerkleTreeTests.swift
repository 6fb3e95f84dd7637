import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

/// A tree that holds all its leaves, straight from the text of RFC 6962, 2.1.
struct NaiveTree {
    let leaves: [Digest]

    init(_ entries: [[UInt8]]) {
        leaves = entries.map { Digest.of([0] + $0) }
    }

    init(count: Int) {
        self.init((0..<count).map { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    }

    func root(_ range: Range<Int>? = nil) -> Digest {
        let range = range ?? 0..<leaves.count
        if range.isEmpty { return Digest.of([]) }
        if range.count == 1 { return leaves[range.lowerBound] }
        let middle = range.lowerBound + split(range.count)
        return Digest.of(
            [1] + root(range.lowerBound..<middle).bytes + root(middle..<range.upperBound).bytes)
    }

    func path(_ leaf: Int, _ range: Range<Int>? = nil) -> [Digest] {
        let range = range ?? 0..<leaves.count
        if range.count == 1 { return [] }
        let middle = range.lowerBound + split(range.count)
        return leaf < middle
            ? path(leaf, range.lowerBound..<middle) + [root(middle..<range.upperBound)]
            : path(leaf, middle..<range.upperBound) + [root(range.lowerBound..<middle)]
    }

    func proof(_ older: Int, _ range: Range<Int>? = nil, isWhole: Bool = true) -> [Digest] {
        let range = range ?? 0..<leaves.count
        if older == range.count { return isWhole ? [] : [root(range)] }
        let size = split(range.count)
        let middle = range.lowerBound + size
        return older <= size
            ? proof(older, range.lowerBound..<middle, isWhole: isWhole)
                + [root(middle..<range.upperBound)]
            : proof(older - size, middle..<range.upperBound, isWhole: false)
                + [root(range.lowerBound..<middle)]
    }

    /// The root of a complete subtree, as the tree requests it.
    func node(_ level: Int, _ index: UInt64) -> Digest {
        root(Int(index << UInt64(level))..<Int((index + 1) << UInt64(level)))
    }

    private func split(_ count: Int) -> Int {
        var size = 1
        while size * 2 < count { size *= 2 }
        return size
    }
}

@Suite struct MerkleTreeTests {
    /// The roots over the first n of these leaves, from Certificate Transparency's tests.
    private static let knownLeaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
        [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57], Array(0x60...0x6F),
    ]
    private static let knownRoots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test(arguments: 0...8) func `roots are those of Certificate Transparency`(size: Int) {
        let tree = NaiveTree(Array(Self.knownLeaves.prefix(size)))

        let root = MerkleTree(size: UInt64(size)).root { tree.node($0, $1) }

        #expect(root.hexadecimal == Self.knownRoots[size])
    }

    @Test func `every inclusion proof up to 66 entries is the RFC's and leads to the root`() {
        for size in 1...66 {
            let naive = NaiveTree(count: size)
            let root = naive.root()
            for leaf in 0..<size {
                let hashes = MerkleTree(size: UInt64(size)).inclusionProof(of: UInt64(leaf)) {
                    naive.node($0, $1)
                }
                #expect(hashes == naive.path(leaf))
                let proof = InclusionProof(
                    index: UInt64(leaf), size: UInt64(size), hashes: hashes)
                #expect(proof.leads(from: naive.leaves[leaf], to: root))
            }
        }
    }

    @Test func `every consistency proof up to 66 entries is the RFC's and leads to both roots`() {
        for size in 1...66 {
            let naive = NaiveTree(count: size)
            let root = naive.root()
            for older in 1...size {
                let hashes = MerkleTree(size: UInt64(size)).consistencyProof(from: UInt64(older)) {
                    naive.node($0, $1)
                }
                #expect(hashes == naive.proof(older))
                let proof = ConsistencyProof(
                    olderSize: UInt64(older), newerSize: UInt64(size), hashes: hashes)
                #expect(proof.leads(from: naive.root(0..<older), to: root))
            }
        }
    }

    @Test func `a proof with anything changed leads nowhere`() {
        for size in 1...20 {
            let naive = NaiveTree(count: size)
            let root = naive.root()
            for leaf in 0..<size {
                let hashes = naive.path(leaf)
                let index = UInt64(leaf)
                let count = UInt64(size)
                func leads(
                    _ hashes: [Digest], index: UInt64, size: UInt64, from entry: Digest
                ) -> Bool {
                    InclusionProof(index: index, size: size, hashes: hashes)
                        .leads(from: entry, to: root)
                }
                #expect(
                    !leads(hashes + [root], index: index, size: count, from: naive.leaves[leaf]))
                #expect(!leads(hashes, index: count, size: count, from: naive.leaves[leaf]))
                #expect(!leads(hashes, index: index, size: 0, from: naive.leaves[leaf]))
                #expect(!leads(hashes, index: index, size: count, from: Digest.of([9])))
                for place in hashes.indices {
                    var fewer = hashes
                    fewer.remove(at: place)
                    #expect(!leads(fewer, index: index, size: count, from: naive.leaves[leaf]))
                    var other = hashes
                    other[place] = Digest.of([7])
                    #expect(!leads(other, index: index, size: count, from: naive.leaves[leaf]))
                }
                for other in 0..<size where other != leaf {
                    #expect(
                        !leads(
                            hashes, index: UInt64(other), size: count, from: naive.leaves[leaf]))
                }
            }
        }
    }

    @Test func `a consistency proof with anything changed leads nowhere`() {
        for size in 2...20 {
            let naive = NaiveTree(count: size)
            let root = naive.root()
            for older in 1..<size {
                let hashes = naive.proof(older)
                let before = naive.root(0..<older)
                func leads(
                    _ hashes: [Digest], _ older: Int, _ newer: Int, from before: Digest
                ) -> Bool {
                    ConsistencyProof(
                        olderSize: UInt64(older), newerSize: UInt64(newer), hashes: hashes
                    ).leads(from: before, to: root)
                }
                #expect(!leads(hashes + [root], older, size, from: before))
                #expect(!leads(hashes, older, size, from: Digest.of([9])))
                #expect(!leads(hashes, size + 1, size, from: before))
                #expect(!leads(hashes, 0, size, from: before))
                for place in hashes.indices {
                    var fewer = hashes
                    fewer.remove(at: place)
                    #expect(!leads(fewer, older, size, from: before))
                    var other = hashes
                    other[place] = Digest.of([7])
                    #expect(!leads(other, older, size, from: before))
                }
            }
        }
    }

    @Test func `an inner node is no entry`() {
        let tree = NaiveTree(count: 4)
        let inner = tree.root(0..<2)
        let proof = InclusionProof(index: 0, size: 2, hashes: [tree.root(2..<4)])

        // Entries and nodes are hashed apart, so no entry has the bytes of a node.
        #expect(proof.leads(from: inner, to: tree.root()))
        let asEntry = Digest.of([0] + tree.leaves[0].bytes + tree.leaves[1].bytes)
        #expect(!proof.leads(from: asEntry, to: tree.root()))
    }

    @Test func `a journal's tree is that of its entries, over tiles and between`() throws {
        let sizes = [1, 2, 255, 256, 257, 511, 512, 513, 700]
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 700))
        let journal = file.journal
        let leaves = try file.environment.read { transaction in
            try (1...700).map {
                try journal.digest(at: SequenceNumber(UInt64($0)), in: transaction)
            }
        }

        for size in sizes {
            let naive = NaiveTree(leaves: Array(leaves.prefix(size)))
            try file.environment.read { transaction in
                let root = try journal.root(ofFirst: UInt64(size), in: transaction)
                #expect(root == naive.root())
                for number in [1, size / 2 + 1, size] {
                    let proof = try journal.inclusionProof(
                        of: SequenceNumber(UInt64(number)), amongFirst: UInt64(size),
                        in: transaction)
                    #expect(proof.hashes == naive.path(number - 1))
                }
                for older in [0, 1, size / 2 + 1, size] {
                    let proof = try journal.consistencyProof(
                        from: UInt64(older), to: UInt64(size), in: transaction)
                    let before = NaiveTree(leaves: Array(leaves.prefix(older))).root()
                    #expect(proof.leads(from: before, to: root))
                }
            }
        }
        #expect(try file.findings() == [])
    }

    @Test func `kept roots that are missing are computed`() throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 520))
        let journal = file.journal
        let before = try file.environment.read { try journal.root(ofFirst: 520, in: $0) }

        try file.damage("journal", TemporaryJournal.key(256) + [1], nil)

        #expect(try file.environment.read { try journal.root(ofFirst: 520, in: $0) } == before)
        #expect(try file.findings() == [])
    }

    /// A bit in the root, its last one, and one in the check.
    @Test(arguments: [0, 32 * 8 - 1, 34 * 8])
    func `nothing is said of the tree when a kept root has a flipped bit`(bit: Int) throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 300))
        let journal = file.journal
        let key = TemporaryJournal.key(256) + [1]
        let sound = try #require(try file.record("journal", key))
        var damaged = sound
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        try file.damage("journal", key, damaged)

        for reading in [
            { _ = try journal.root(ofFirst: 256, in: $0) },
            { _ = try journal.root(ofFirst: 300, in: $0) },
            { _ = try journal.inclusionProof(of: SequenceNumber(280), amongFirst: 300, in: $0) },
            { _ = try journal.consistencyProof(from: 260, to: 300, in: $0) },
            { _ = try journal.tile(0, 0, width: 256, in: $0) },
            { _ = try journal.tile(1, 0, width: 1, in: $0) },
        ] as [(borrowing ReadTransaction) throws -> Void] {
            let error = #expect(throws: JournalError.self) { try file.environment.read(reading) }
            #expect(error?.code == .entryBroken)
            #expect(
                error?.message
                    == "The root of level 1 kept at entry 256 cannot be read: it has a check that does "
                    + "not fit. Run 'daybook verify' to see how far the damage goes.")
        }
        #expect(
            try file.findings().map(\.message) == [
                "The root of level 1 kept at entry 256 has a check that does not fit."
            ])
        // What does not need that root is said, and entries are added.
        _ = try file.environment.read { try journal.root(ofFirst: 255, in: $0) }
        try file.append([1], recordedAt: 300)
        try file.damage("journal", key, sound)
        #expect(try file.findings() == [])
    }

    @Test func `the root kept for one tile is not taken for that of another`() throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 520))
        let journal = file.journal
        let before = try file.environment.read { try journal.root(ofFirst: 520, in: $0) }
        let key = TemporaryJournal.key(256) + [1]
        let root = try #require(try file.record("journal", key))

        try file.damage("journal", TemporaryJournal.key(512) + [1], root)

        let error = #expect(throws: JournalError.self) {
            try file.environment.read { try journal.root(ofFirst: 520, in: $0) }
        }
        #expect(error?.sequence == SequenceNumber(512))
        try file.damage("journal", TemporaryJournal.key(512) + [1], nil)
        #expect(try file.environment.read { try journal.root(ofFirst: 520, in: $0) } == before)
    }

    @Test(arguments: [1, 2, 7, 8])
    func `nothing is said of the tree when a digest is not the one that the chain carries`(
        number: UInt64
    ) throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 8))
        let journal = file.journal
        let key = TemporaryJournal.key(number)
        var digest = try #require(try file.record("journal", key))
        digest[7] ^= 0x20
        try file.damage("journal", key, digest)
        // A number whose path has the damaged digest, or the root above it.
        let other = SequenceNumber(number == 1 ? 3 : 1)

        for reading in [
            { _ = try journal.root(ofFirst: 8, in: $0) },
            { _ = try journal.inclusionProof(of: other, amongFirst: 8, in: $0) },
            { _ = try journal.consistencyProof(from: 6, to: 8, in: $0) },
            { _ = try journal.tile(0, 0, width: 8, in: $0) },
        ] as [(borrowing ReadTransaction) throws -> Void] {
            let error = #expect(throws: JournalError.self) { try file.environment.read(reading) }
            #expect(error?.code == .entryBroken)
        }
    }

    @Test func `the last digest is not believed where the head names another entry`() throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 8))
        let journal = file.journal
        try file.environment.write { transaction in
            let heads = file.environment.mainTable
            let key = Array("head".utf8)
            var head =
                try transaction.get(heads, key.span.bytes) {
                    $0.withUnsafeBytes { Array($0) }
                } ?? []
            head[7] += 1
            try transaction.put(heads, key.span.bytes, head.span.bytes, .upsert)
        }

        let error = #expect(throws: JournalError.self) {
            try file.environment.read { try journal.root(ofFirst: 8, in: $0) }
        }
        #expect(error?.description.contains("it ends with entry 9, and 8 is the last one") == true)
    }

    @Test func `a digest damaged long ago is in no root that is kept`() throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 200))
        let key = TemporaryJournal.key(100)
        var digest = try #require(try file.record("journal", key))
        digest[0] ^= 1
        try file.damage("journal", key, digest)

        for index in 200..<256 {
            try file.append(TemporaryJournal.payload(3, seed: index), recordedAt: Int64(index))
        }

        #expect(try file.record("journal", TemporaryJournal.key(256) + [1]) == nil)
    }

    @Test(arguments: [nil, [1, 2]] as [[UInt8]?])
    func `a digest lost long ago keeps nobody from filling a tile, and is told`(
        left: [UInt8]?
    ) throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 255))
        let journal = file.journal
        let sound = try TemporaryJournal(payloads: Array(repeating: 3, count: 300))
        let key = TemporaryJournal.key(100)
        let digest = try #require(try file.record("journal", key))
        try file.damage("journal", key, left)

        for index in 255..<300 {
            try file.append(TemporaryJournal.payload(3, seed: index), recordedAt: Int64(index))
        }

        #expect(try file.record("journal", TemporaryJournal.key(256) + [1]) == nil)
        let findings = try file.findings()
        #expect(
            findings.map(\.kind)
                == (left == nil ? [.digestMissing] : [.digestMissing, .digestExtra]))
        #expect(findings.map(\.sequence).allSatisfy { $0 == SequenceNumber(100) })
        let error = #expect(throws: JournalError.self) {
            try file.environment.read { try journal.root(ofFirst: 300, in: $0) }
        }
        #expect(error?.code == .entryBroken)
        try file.damage("journal", key, digest)
        #expect(try file.findings() == [])
        let root = try file.environment.read { try journal.root(ofFirst: 300, in: $0) }
        #expect(
            try root == sound.environment.read { try sound.journal.root(ofFirst: 300, in: $0) })
    }

    @Test func `a kept root that is not that of its entries is found`() throws {
        let file = try TemporaryJournal(payloads: Array(repeating: 3, count: 256))

        try file.forgeRoot(TemporaryJournal.key(256) + [1], Digest.of([1]))

        let findings = try file.findings()
        #expect(findings.map(\.kind) == [.treeBroken])
        #expect(
            findings.first?.message
                == "The root of level 1 kept at entry 256 is not that of its entries.")
    }

    @Test func `a root kept where no tile ends, or of another length, is found`() throws {
        let file = try TemporaryJournal(payloads: [3, 3])

        try file.forgeRoot(TemporaryJournal.key(1) + [1], Digest.of([1]))
        try file.forgeRoot(TemporaryJournal.key(2) + [0], Digest.of([1]))
        try file.damage("journal", TemporaryJournal.key(256) + [1], [1, 2])

        let findings = try file.findings()
        #expect(findings.map(\.kind) == [.treeBroken, .treeBroken, .treeBroken])
        #expect(
            findings.last?.message
                == "The root of level 1 kept at entry 256 has 2 bytes instead of 36.")
    }
}

extension NaiveTree {
    init(leaves: [Digest]) {
        self.leaves = leaves
    }
}
