import DaybookJournalLog
import Testing

@Suite struct SignedNoteTests {
    /// The example of Go's note package.
    private static let signer =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
    private static let verifier =
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    private static let text =
        "If you think cryptography is the answer to your problem,\n"
        + "then you don't know what your problem is.\n"
    private static let note =
        text + "\n\u{2014} PeterNeumann "
        + "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"

    @Test func `a key and a note are those of Go's note package`() throws {
        let key = try SigningKey(Self.signer)

        var note = SignedNote(unsigned: Self.text)
        try note.sign(with: key)

        #expect(key.verifierKey.description == Self.verifier)
        #expect(key.secretText == Self.signer)
        #expect(note.description == Self.note)
        try SignedNote(Self.note).verify(with: VerifierKey(Self.verifier))
    }

    @Test func `a new key signs, and only its own verifier accepts`() throws {
        let key = try SigningKey.random(name: "example.org/ledger")
        let other = try SigningKey.random(name: "example.org/ledger")
        var note = SignedNote(unsigned: "text\n")
        try note.sign(with: key)

        let again = try SignedNote(note.description)

        try again.verify(with: VerifierKey(key.verifierKey.description))
        #expect(throws: ProofError.self) { try again.verify(with: other.verifierKey) }
        #expect(try SigningKey(key.secretText).verifierKey == key.verifierKey)
    }

    @Test func `a text that was changed has a bad signature`() throws {
        let changed = Self.note.replacing("answer", with: "Answer")

        let error = #expect(throws: ProofError.self) {
            try SignedNote(changed).verify(with: VerifierKey(Self.verifier))
        }

        #expect(error?.code == .badSignature)
    }

    @Test func `a bad signature by the key is refused beside a good one`() throws {
        let line = try #require(Self.note.split(separator: "\n").last)
        let broken = line.replacing("x08go/ZJ", with: "x08go/ZK")

        for lines in ["\(line)\n\(broken)\n", "\(broken)\n\(line)\n"] {
            let error = #expect(throws: ProofError.self) {
                try SignedNote(Self.text + "\n" + lines).verify(with: VerifierKey(Self.verifier))
            }
            #expect(error?.code == .badSignature)
        }
    }

    @Test func `signatures by others are overlooked`() throws {
        var note = try SignedNote(Self.note)
        try note.sign(with: SigningKey.random(name: "example.org/witness"))

        try SignedNote(note.description).verify(with: VerifierKey(Self.verifier))
    }

    @Test(arguments: [
        "", "text", "text\n", "text\n\n", "text\n\nsomething\n", "text\n\n\u{2014} name\n",
        "text\n\n\u{2014} name AAAA\n", "text\n\n\u{2014} na+me AAAAAAA=\n",
        "text\n\n\u{2014} name AAAAAAB=\n", "text\n\n- name AAAAAAA=\n",
        "text\r\n\n\u{2014} name AAAAAAA=\n", "text\n\n\u{2014} name AAAAAAA=",
        "text\n\n\u{2014} name  AAAAAAA=\n",
    ])
    func `what is no note is refused`(note: String) {
        let error = #expect(throws: ProofError.self) { try SignedNote(note) }

        #expect(error?.code == .malformed)
    }

    @Test(arguments: [
        "", "PeterNeumann", "PeterNeumann+c74f20a3", "PeterNeumann+c74f20a3+AAAA",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AhpcPQcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ])
    func `what is no verifier key is refused`(text: String) {
        let error = #expect(throws: ProofError.self) { try VerifierKey(text) }

        #expect(error?.code == .malformed)
    }

    @Test func `a refused signing key is not in the message`() {
        let broken = Self.signer.replacing("c74f20a3", with: "c74f20a4")

        let error = #expect(throws: ProofError.self) { try SigningKey(broken) }

        #expect(error?.code == .malformed)
        #expect(error?.message.contains("AYEKFALV") == false)
    }
}

@Suite struct CheckpointTests {
    private static let root = Digest.of([1])

    @Test func `a checkpoint comes back as it was written`() throws {
        let checkpoint = Checkpoint(origin: "example.org/ledger", size: 1524, root: Self.root)

        #expect(try Checkpoint(checkpoint.description) == checkpoint)
        #expect(
            checkpoint.description
                == "example.org/ledger\n1524\nS/USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPHeFRZo=\n")
    }

    @Test func `lines that others add are overlooked`() throws {
        let text = Checkpoint(origin: "o", size: 3, root: Self.root).description + "more\n"

        #expect(try Checkpoint(text).size == 3)
    }

    @Test(arguments: [
        "", "o\n", "o\n3\n", "o\n03\nAAAA\n", "o\n-1\nAAAA\n", "o\n3\nAAAA\n", "o\n3\n\n",
        "o\n+3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
        "o\n3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n",
        "o\n99999999999999999999\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
        "\n3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
    ])
    func `what is no checkpoint is refused`(text: String) {
        let error = #expect(throws: ProofError.self) { try Checkpoint(text) }

        #expect(error?.code == .malformed)
    }

    @Test func `a proof travels as one text and is checked without the journal`() throws {
        let tree = NaiveTree(count: 11)
        let key = try SigningKey.random(name: "example.org/ledger")
        var note = Checkpoint(origin: "example.org/ledger", size: 11, root: tree.root()).note
        try note.sign(with: key)
        let inclusion = InclusionProof(index: 4, size: 11, hashes: tree.path(4))

        let proof = try EntryProof(EntryProof(inclusion, note).description)

        try proof.verify(entry: tree.leaves[4], with: key.verifierKey)
        let error = #expect(throws: ProofError.self) {
            try proof.verify(entry: tree.leaves[5], with: key.verifierKey)
        }
        #expect(error?.code == .badProof)
        let unsigned = #expect(throws: ProofError.self) {
            try proof.verify(
                entry: tree.leaves[4], with: SigningKey.random(name: "other").verifierKey)
        }
        #expect(unsigned?.code == .unsigned)
    }

    @Test func `a proof of another size than its checkpoint is refused`() throws {
        let tree = NaiveTree(count: 11)
        let note = Checkpoint(origin: "o", size: 12, root: tree.root()).note

        let error = #expect(throws: ProofError.self) {
            try EntryProof(InclusionProof(index: 4, size: 11, hashes: tree.path(4)), note)
        }

        #expect(error?.code == .mismatch)
    }

    @Test func `a checkpoint of another journal is refused though its key is right`() throws {
        let tree = NaiveTree(count: 2)
        let key = try SigningKey.random(name: "example.org/ledger")
        var note = Checkpoint(origin: "example.org/other", size: 2, root: tree.root()).note
        try note.sign(with: key)
        let proof = try EntryProof(
            InclusionProof(index: 0, size: 2, hashes: tree.path(0)), note)

        let error = #expect(throws: ProofError.self) {
            try proof.verify(entry: tree.leaves[0], with: key.verifierKey)
        }

        #expect(error?.code == .mismatch)
    }
}
