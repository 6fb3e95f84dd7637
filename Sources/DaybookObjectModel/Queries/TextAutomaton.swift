import Foundation

/// Decides whether a regular expression matches a whole text, in one pass over it.
///
/// All paths through the expression are followed in parallel, without backtracking: memory is
/// proportional to the size of the expression, and time to that and the length of the text.
/// Foundation's engine decides which characters a class or an escape stands for, one character at a
/// time, so both always agree.
///
/// Not every expression can be decided in this way: not those whose meaning depends on the order in
/// which paths are tried (possessive quantifiers, atomic groups) or on more than the next character
/// (back references, look-around, word boundaries). For these there is no automaton.
struct TextAutomaton {
    private enum State {
        /// One character of a kind, then the next state.
        case character(kind: Int, next: Int)
        /// Two alternatives.
        case fork(Int, Int)
        /// Only at the start of the text.
        case start(next: Int)
        /// Only at the end of the text, or before the line break that ends it.
        case end(next: Int)
        /// The text matches.
        case accepted
    }

    /// More states than a pattern written by a person has.
    private static let statesMaximum = 20_000
    /// The number of steps that take a few seconds.
    private static let stepsMaximum = 100_000_000

    private var states: [State] = [.accepted]
    private var kinds: [String: Int] = [:]
    private var first = 0
    private let refusesReturns: Bool
    private let refusesLettersBeyondASCII: Bool

    /// Makes the automaton of an expression; nil when an automaton cannot decide it.
    init?(_ pattern: String, ignoringCase isCaseInsensitive: Bool) {
        var parser = TextExpressionParser(pattern, ignoringCase: isCaseInsensitive)
        guard let node = parser.parse() else { return nil }
        refusesReturns = parser.hasDotForAll
        refusesLettersBeyondASCII = parser.ignoresCase
        guard let start = add(node, before: 0) else { return nil }
        first = start
    }

    // MARK: - Building

    private mutating func add(_ state: State) -> Int? {
        guard states.count < Self.statesMaximum else { return nil }
        states.append(state)
        return states.count - 1
    }

    /// Adds the states of a part of the expression.
    ///
    /// - Returns: The state in which the part begins; nil when there are too many.
    private mutating func add(_ node: TextExpressionNode, before next: Int) -> Int? {
        switch node {
        case .character(let kind):
            let number = kinds[kind] ?? kinds.count
            kinds[kind] = number
            return add(.character(kind: number, next: next))
        case .start: return add(.start(next: next))
        case .end: return add(.end(next: next))
        case .sequence(let nodes):
            var next = next
            for node in nodes.reversed() {
                guard let start = add(node, before: next) else { return nil }
                next = start
            }
            return next
        case .choice(let nodes):
            var choice: Int?
            for node in nodes.reversed() {
                guard let start = add(node, before: next) else { return nil }
                guard let others = choice else {
                    choice = start
                    continue
                }
                guard let fork = add(.fork(start, others)) else { return nil }
                choice = fork
            }
            return choice ?? next
        case .loop(let node, let least, let most):
            return add(loop: node, least, most, before: next)
        }
    }

    private mutating func add(
        loop node: TextExpressionNode, _ least: Int, _ most: Int?, before next: Int
    ) -> Int? {
        var start = next
        if let most {
            for _ in 0..<(most - least) {
                guard let body = add(node, before: start), let fork = add(.fork(body, next)) else {
                    return nil
                }
                start = fork
            }
        } else {
            guard let fork = add(.fork(next, next)), let body = add(node, before: fork) else {
                return nil
            }
            states[fork] = .fork(body, next)
            start = fork
        }
        for _ in 0..<least {
            guard let body = add(node, before: start) else { return nil }
            // A part without states can be repeated endlessly.
            if body == start { break }
            start = body
        }
        return start
    }

    // MARK: - Running

    /// Whether the whole text matches; nil when that takes too long, and for a text with two
    /// characters that the engine treats as one.
    func matches(_ text: String) -> Bool? {
        if refusesReturns, text.unicodeScalars.contains("\r") { return nil }
        if refusesLettersBeyondASCII, !text.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        var classes = CharacterClasses(kinds)
        let scalars = Array(text.unicodeScalars)
        let lineEnd = scalars.lineEnd
        var current = StateSet(states.count)
        var next = StateSet(states.count)
        var steps = 0
        enter(first, at: 0, of: scalars.count, lineEnd, &current)
        for (index, scalar) in scalars.enumerated() {
            guard !current.isEmpty else { return false }
            steps += current.states.count
            guard steps <= Self.stepsMaximum else { return nil }
            next.removeAll()
            for number in current.states {
                guard case .character(let kind, let following) = states[number],
                    classes.contains(scalar, ofKind: kind)
                else { continue }
                enter(following, at: index + 1, of: scalars.count, lineEnd, &next)
            }
            swap(&current, &next)
        }
        return current.contains(0)
    }

    /// Enters a state and all states reachable from it without a character.
    private func enter(
        _ state: Int, at index: Int, of count: Int, _ lineEnd: Int, _ set: inout StateSet
    ) {
        set.waiting.append(state)
        while let number = set.waiting.popLast() {
            guard set.insert(number) else { continue }
            switch states[number] {
            case .fork(let one, let other):
                set.waiting.append(other)
                set.waiting.append(one)
            case .start(let next) where index == 0: set.waiting.append(next)
            case .end(let next) where index == count || index == lineEnd: set.waiting.append(next)
            case .character, .accepted, .start, .end: break
            }
        }
    }
}

/// States in the order of entry.
private struct StateSet {
    private(set) var states: [Int] = []
    /// States still to be entered.
    var waiting: [Int] = []
    private var entryIndices: [Int]

    init(_ count: Int) {
        entryIndices = Array(repeating: 0, count: count)
    }

    var isEmpty: Bool { states.isEmpty }

    func contains(_ state: Int) -> Bool {
        entryIndices[state] < states.count && states[entryIndices[state]] == state
    }

    mutating func insert(_ state: Int) -> Bool {
        guard !contains(state) else { return false }
        entryIndices[state] = states.count
        states.append(state)
        return true
    }

    mutating func removeAll() {
        states.removeAll(keepingCapacity: true)
    }
}

/// The kinds of characters, according to Foundation's engine.
private struct CharacterClasses {
    private struct Question: Hashable {
        let scalar: Unicode.Scalar
        let kind: Int
    }

    private let expressions: [NSRegularExpression?]
    private var known: [Question: Bool] = [:]
    /// The answers for ASCII, 128 for each kind; nil when not yet known.
    private var knownOfASCII: [Bool?]

    init(_ kinds: [String: Int]) {
        expressions = kinds.sorted { $0.value < $1.value }.map { pattern, _ in
            do {
                return try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
            } catch {
                // The whole expression was compiled before, so its parts are valid, too.
                return nil
            }
        }
        knownOfASCII = Array(repeating: nil, count: kinds.count * 128)
    }

    mutating func contains(_ scalar: Unicode.Scalar, ofKind kind: Int) -> Bool {
        if scalar.isASCII {
            let slot = kind * 128 + Int(scalar.value)
            if let answer = knownOfASCII[slot] { return answer }
            let answer = ask(scalar, kind)
            knownOfASCII[slot] = answer
            return answer
        }
        let question = Question(scalar: scalar, kind: kind)
        if let answer = known[question] { return answer }
        let answer = ask(scalar, kind)
        known[question] = answer
        return answer
    }

    private func ask(_ scalar: Unicode.Scalar, _ kind: Int) -> Bool {
        let text = String(Character(scalar))
        let whole = NSRange(text.startIndex..., in: text)
        return expressions[kind]?.firstMatch(in: text, range: whole) != nil
    }
}

extension [Unicode.Scalar] {
    /// The start of the line break at the end of the text; the end if there is none.
    fileprivate var lineEnd: Int {
        guard let last, last.endsLine else { return count }
        return last == "\n" && count > 1 && self[count - 2] == "\r" ? count - 2 : count - 1
    }
}

extension Unicode.Scalar {
    /// Whether `$` holds before this character at the end of a text.
    fileprivate var endsLine: Bool {
        switch value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
