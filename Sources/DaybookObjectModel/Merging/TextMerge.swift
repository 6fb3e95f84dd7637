/// Three-way merge of text, word by word.
///
/// Each word includes the white space after it. Both sides are compared with the base; where only
/// one side differs, its words are taken, and where both differ in the same stretch or in adjacent
/// ones, their words must be the same.
enum TextMerge {
    /// Their text with the edits that lead from the base to our text.
    ///
    /// - Returns: The merged text; nil when both sides edited the same stretch, or when the search
    ///   would take too long.
    static func merged(base: Value, theirs: Value, ours: Value) -> Value? {
        guard let base = base.text, let there = theirs.text, let here = ours.text else {
            return nil
        }
        if theirs == ours { return theirs }
        var words = WordList()
        let before = words.numbers(of: base)
        let (their, our) = (words.numbers(of: there), words.numbers(of: here))
        guard let theirHunks = Hunk.all(from: before, to: their),
            let ourHunks = Hunk.all(from: before, to: our)
        else { return nil }
        var merge = ThreeSidedWalk(
            base: before, sides: [their, our], hunks: [theirHunks, ourHunks])
        return merge.run().map { .string(words.text(of: $0)) }
    }
}

extension Value {
    /// The text; empty for null, nil for another kind of value.
    fileprivate var text: String? {
        switch self {
        case .null: ""
        case .string(let text): text
        default: nil
        }
    }
}

/// Words numbered, so that comparing two of them is fast.
private struct WordList {
    private var words: [ArraySlice<UInt8>] = []
    private var numbers: [ArraySlice<UInt8>: Int] = [:]

    /// Splits a text into words, each with the white space after it.
    mutating func numbers(of text: String) -> [Int] {
        let bytes = Array(text.utf8)
        var found: [Int] = []
        var start = 0
        for index in bytes.indices.dropFirst()
        where bytes[index - 1].isWhiteSpace && !bytes[index].isWhiteSpace {
            found.append(number(of: bytes[start..<index]))
            start = index
        }
        if start < bytes.count { found.append(number(of: bytes[start...])) }
        return found
    }

    private mutating func number(of word: ArraySlice<UInt8>) -> Int {
        if let number = numbers[word] { return number }
        numbers[word] = words.count
        words.append(word)
        return words.count - 1
    }

    /// The text of some words.
    func text(of numbers: [Int]) -> String {
        String(decoding: numbers.flatMap { words[$0] }, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether this is a space, a tab or the end of a line, which are never a part of another
    /// character.
    fileprivate var isWhiteSpace: Bool {
        self == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(self)
    }
}

/// Walks along the base and takes the version of the side that differs, or of both when they agree.
private struct ThreeSidedWalk {
    let base: [Int]
    let sides: [[Int]]
    let hunks: [[Hunk]]
    private var next = [0, 0]
    private var position = 0

    init(base: [Int], sides: [[Int]], hunks: [[Hunk]]) {
        self.base = base
        self.sides = sides
        self.hunks = hunks
    }

    mutating func run() -> [Int]? {
        var merged: [Int] = []
        while let stretch = takeStretch() {
            merged += base[position..<stretch.base.lowerBound]
            position = stretch.base.upperBound
            let versions = stretch.versions
            guard versions.dropFirst().allSatisfy({ $0 == versions[0] }) else { return nil }
            merged += versions[0]
        }
        return merged + base[position...]
    }

    /// The next stretch of the base that at least one side has changed.
    private mutating func takeStretch() -> (base: Range<Int>, versions: [ArraySlice<Int>])? {
        let starts = [0, 1].compactMap { hunk($0)?.base.lowerBound }
        guard let lower = starts.min() else { return nil }
        var upper = lower
        var taken: [[Hunk]] = [[], []]
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for side in [0, 1] {
                while let hunk = hunk(side), hunk.base.lowerBound <= upper {
                    taken[side].append(hunk)
                    upper = max(upper, hunk.base.upperBound)
                    next[side] += 1
                    hasGrown = true
                }
            }
        }
        let versions = [0, 1].compactMap { side -> ArraySlice<Int>? in
            guard let first = taken[side].first, let last = taken[side].last else { return nil }
            let start = first.other.lowerBound - (first.base.lowerBound - lower)
            let end = last.other.upperBound + (upper - last.base.upperBound)
            return sides[side][start..<end]
        }
        return (lower..<upper, versions)
    }

    private func hunk(_ side: Int) -> Hunk? {
        next[side] < hunks[side].count ? hunks[side][next[side]] : nil
    }
}
