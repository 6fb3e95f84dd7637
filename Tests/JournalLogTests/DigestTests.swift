import DaybookJournalLog
import Testing

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `the digests of FIPS 180-4's examples are right`(text: String, digest: String) {
        #expect(Digest.of(Array(text.utf8)).hexadecimal == digest)
    }

    @Test func `a digest built from pieces equals the digest of the whole`() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        var hasher = DigestHasher()

        hasher.update(bytes[0])
        hasher.update(bytes.span.extracting(1..<700).bytes)
        hasher.update(bytes.span.extracting(700...).bytes)

        #expect(hasher.finish() == Digest.of(bytes))
    }

    @Test func `a hasher begins again after it finished`() {
        var hasher = DigestHasher()
        hasher.update(7)

        let first = hasher.finish()
        hasher.update(7)
        let second = hasher.finish()

        #expect(first == second)
    }

    @Test func `hexadecimal text is read back`() throws {
        let digest = Digest.of([1, 2, 3])

        #expect(Digest(hexadecimal: digest.hexadecimal) == digest)
        #expect(Digest(hexadecimal: digest.hexadecimal.uppercased()) == digest)
        #expect(Digest(bytes: digest.bytes) == digest)
    }

    @Test(arguments: [
        "", "12", String(repeating: "g", count: 64), String(repeating: "0", count: 63),
    ])
    func `text that is no digest is refused`(text: String) {
        #expect(Digest(hexadecimal: text) == nil)
    }
}
