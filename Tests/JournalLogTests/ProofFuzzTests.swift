import DaybookJournalLog
import DaybookTestSupport
import Foundation
import Testing

/// Good keys, notes and proofs with something changed at random: never a crash, and never accepted
/// unless what counts is the same.
@Suite struct ProofFuzzTests {
    private static let rounds = 4_000

    /// A text with one to three changes.
    private func mutated(_ text: String, _ generator: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let other = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0...7, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(bytes[other], at: place)
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 4: bytes.removeSubrange(min(place, other)..<max(place, other))
            case 5:
                bytes.insert(contentsOf: bytes[min(place, other)..<max(place, other)], at: place)
            case 6: bytes.swapAt(place, other)
            default:
                // Whole lines are swapped or repeated.
                var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
                let line = Int.random(in: lines.indices, using: &generator)
                let target = Int.random(in: lines.indices, using: &generator)
                if Bool.random(using: &generator) {
                    lines.swapAt(line, target)
                } else {
                    lines.insert(lines[line], at: target)
                }
                bytes = Array(lines.joined(separator: [10]))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [UInt64(1), 2]) func `a mutated proof proves nothing else`(seed: UInt64) throws
    {
        var generator = SeededGenerator(seed: seed)
        let tree = NaiveTree(count: 23)
        let key = try SigningKey.random(name: "example.org/ledger")
        var note = Checkpoint(origin: "example.org/ledger", size: 23, root: tree.root()).note
        try note.sign(with: .random(name: "example.org/witness"))
        try note.sign(with: key)
        let good = try EntryProof(InclusionProof(index: 9, size: 23, hashes: tree.path(9)), note)
        var accepted = 0

        for round in 0..<Self.rounds {
            let text = mutated(good.description, &generator)
            for (number, leaf) in tree.leaves.enumerated() where number % 9 == 0 {
                do {
                    let proof = try EntryProof(text)
                    try proof.verify(entry: leaf, with: key.verifierKey)
                    accepted += 1
                    #expect(number == 9, "seed \(seed), round \(round): \(text)")
                    #expect(proof.inclusion == good.inclusion, "seed \(seed), round \(round)")
                    #expect(proof.note.text == note.text, "seed \(seed), round \(round)")
                } catch {
                    continue
                }
            }
        }

        // Some changes touch only the line of the witness, or nothing at all.
        #expect(accepted > 0, "seed \(seed)")
    }

    @Test(arguments: [UInt64(3), 4]) func `a mutated checkpoint says nothing else`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        let key = try SigningKey.random(name: "example.org/ledger")
        let checkpoint = Checkpoint(origin: "example.org/ledger", size: 1_234, root: .of([5]))
        var note = checkpoint.note
        try note.sign(with: key)

        for round in 0..<Self.rounds {
            let text = mutated(note.description, &generator)
            do {
                let found = try SignedNote(text).checkpoint(signedBy: key.verifierKey)
                #expect(found == checkpoint, "seed \(seed), round \(round): \(text)")
            } catch {
                // Unsigned input must never stop the program either.
                do {
                    _ = try Checkpoint(text)
                } catch {
                    continue
                }
            }
        }
    }

    @Test(arguments: [UInt64(5), 6]) func `a mutated key is no other key`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let key = try SigningKey.random(name: "example.org/ledger")

        for round in 0..<Self.rounds {
            let known = mutated(key.verifierKey.description, &generator)
            do {
                let found = try VerifierKey(known)
                #expect(found == key.verifierKey, "seed \(seed), round \(round): \(known)")
            } catch {
                #expect(known != key.verifierKey.description)
            }
            let secret = mutated(key.secretText, &generator)
            do {
                let found = try SigningKey(secret)
                #expect(found.secretText == key.secretText, "seed \(seed), round \(round)")
            } catch {
                #expect(secret != key.secretText)
                #expect(!error.message.contains(key.secretText.suffix(30)))
            }
        }
    }
}
