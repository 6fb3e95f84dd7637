import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct TextMergeTests {
    private func merged(_ base: String, _ theirs: String, _ ours: String) -> String? {
        let value = TextMerge.merged(
            base: .string(base), theirs: .string(theirs), ours: .string(ours))
        guard case .string(let text)? = value else { return nil }
        return text
    }

    @Test func `edits of words that are not adjacent both apply`() {
        #expect(
            merged(
                "The quick brown fox jumps over the dog.", "The slow brown fox jumps over the dog.",
                "The quick brown fox jumps over the cat.")
                == "The slow brown fox jumps over the cat.")
        #expect(
            merged("one\ntwo\nthree\n", "zero\none\ntwo\nthree\n", "one\ntwo\nthree\nfour\n")
                == "zero\none\ntwo\nthree\nfour\n")
        #expect(merged("a b c d e", "a c d e", "a b c d") == "a c d")
    }

    @Test func `edits of one stretch collide unless they are the same`() {
        #expect(merged("a b c", "a x c", "a y c") == nil)
        #expect(merged("a b c", "a x c", "a x c") == "a x c")
        #expect(merged("a b c d e", "a x c d y", "a x c z e") == nil)
        #expect(merged("a b c d e", "a x c d y", "a x c d e") == "a x c d y")
        // Neighbouring words.
        #expect(merged("a b c d", "a x c d", "a b y d") == nil)
        // Both insert something at one position.
        #expect(merged("a d", "a b d", "a c d") == nil)
        // One removes what the other edits.
        #expect(merged("a b c d", "a d", "a b x d") == nil)
    }

    @Test func `a missing text counts as an empty one`() {
        let (text, other) = (Value.string("a"), Value.string("b"))
        #expect(TextMerge.merged(base: .null, theirs: text, ours: text) == text)
        #expect(TextMerge.merged(base: .null, theirs: text, ours: other) == nil)
        #expect(TextMerge.merged(base: text, theirs: .null, ours: .null) == .null)
        #expect(TextMerge.merged(base: text, theirs: .null, ours: other) == nil)
    }

    @Test func `words are never cut inside a character`() {
        let base = "na\u{ef}ve caf\u{e9} 日本語\u{3000}テキスト end"
        #expect(merged(base, base + " x", "y " + base) == "y " + base + " x")
        #expect(merged(base + "\n", base + "\nx", "y " + base + "\n") == "y " + base + "\nx")
        #expect(merged("👩‍👩‍👧 a b", "👩‍👩‍👧 a c", "👩‍👩‍👦 a b") == "👩‍👩‍👦 a c")
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `the search finds the fewest possible differences`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let letters = Int.random(in: 1...5, using: &random)
        func sequence() -> [Int] {
            (0..<Int.random(in: 0...24, using: &random)).map { _ in
                Int.random(in: 0..<letters, using: &random)
            }
        }
        let (base, other) = (sequence(), sequence())

        let hunks = try #require(Hunk.all(from: base, to: other))

        var built: [Int] = []
        var position = 0
        for hunk in hunks {
            #expect(hunk.base.lowerBound >= position, "seed \(seed)")
            built += base[position..<hunk.base.lowerBound]
            built += other[hunk.other]
            position = hunk.base.upperBound
        }
        built += base[position...]
        #expect(built == other, "seed \(seed)")
        let differing = hunks.reduce(0) { $0 + $1.base.count + $1.other.count }
        #expect(
            differing == base.count + other.count - 2 * longestCommon(base, other), "seed \(seed)")
        for (one, next) in zip(hunks, hunks.dropFirst()) {
            #expect(one.base.upperBound < next.base.lowerBound, "seed \(seed)")
        }
    }

    /// The length of the longest common subsequence, by the table in the textbooks.
    private func longestCommon(_ left: [Int], _ right: [Int]) -> Int {
        var lengths = [Int](repeating: 0, count: right.count + 1)
        for element in left {
            var diagonal = 0
            for (index, other) in right.enumerated() {
                let above = lengths[index + 1]
                lengths[index + 1] =
                    element == other ? diagonal + 1 : max(above, lengths[index])
                diagonal = above
            }
        }
        return lengths[right.count]
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `the order of the sides does not matter, and no word is lost`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let base = (0..<12).map { "w\($0)" }
        func edited(_ name: String) -> (words: [String], positions: Set<Int>) {
            var words = base
            let positions = Set((0..<3).map { _ in Int.random(in: 0..<base.count, using: &random) })
            for position in positions { words[position] = "\(name)\(position)" }
            return (words, positions)
        }
        let (left, right) = (edited("l"), edited("r"))
        let texts = [base, left.words, right.words].map { $0.joined(separator: " ") + " " }

        let one = merged(texts[0], texts[1], texts[2])
        let other = merged(texts[0], texts[2], texts[1])

        #expect(one == other, "seed \(seed)")
        let touch = left.positions.contains { position in
            right.positions.contains { abs($0 - position) <= 1 }
        }
        #expect((one == nil) == touch, "seed \(seed)")
        for word in left.positions.map({ "l\($0)" }) + right.positions.map({ "r\($0)" }) {
            if let one { #expect(one.contains(word), "seed \(seed)") }
        }
    }

    @Test func `two long texts with nothing in common are a conflict, found quickly`() {
        let (many, others) = (0..<40_000, 40_000..<80_000)
        let base = "start " + many.map { "a\($0)" }.joined(separator: " ")
        let theirs = "start " + others.map { "b\($0)" }.joined(separator: " ")
        let ours = base + " end"
        #expect(merged(base, theirs, ours) == nil)
        // The worst case for the search: few words, all over the place.
        let left = (0..<60_000).map { "\($0 % 7 * $0 % 3)" }.joined(separator: " ")
        let right = (0..<60_000).map { "\($0 % 5 * $0 % 4)" }.joined(separator: " ")
        #expect(merged(left, right, left + " end") == nil)
    }
}
