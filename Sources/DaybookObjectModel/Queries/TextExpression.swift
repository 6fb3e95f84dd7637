import Foundation

/// A regular expression for whole texts.
///
/// Foundation's engine backtracks and keeps its steps on a stack of a few megabytes. If a long text
/// needs more, it gives up with an error; if the search takes long, even for a short text, it gives
/// up after about a second and reports that nothing was found. Neither may count as an answer. In
/// these cases a ``TextAutomaton`` decides, which needs no stack and reads the text once, but does
/// not support every expression.
struct TextExpression: Sendable {
    /// The answer of an expression for a text.
    enum Answer: Sendable {
        /// The expression matches the whole text.
        case matches
        /// It does not.
        case differs
        /// The text is too long to tell.
        case unknown
    }

    private let pattern: String
    private let isCaseInsensitive: Bool
    private let expression: NSRegularExpression

    /// Compiles an expression; nil when it is invalid.
    init?(_ pattern: String, ignoringCase isCaseInsensitive: Bool = false) {
        self.pattern = pattern
        self.isCaseInsensitive = isCaseInsensitive
        do {
            expression = try NSRegularExpression(
                pattern: "\\A(?:\(pattern))\\z",
                options: isCaseInsensitive ? .caseInsensitive : [])
        } catch {
            return nil
        }
    }

    /// A longer search may have been given up. This is well below the engine's limit, and longer
    /// than any search without much backtracking.
    private static let patience = Duration.milliseconds(20)

    /// Whether the expression matches a whole text.
    func answer(to text: String) -> Answer {
        let whole = NSRange(text.startIndex..., in: text)
        let notes = MatchNotes()
        let start = ContinuousClock.now
        expression.enumerateMatches(in: text, options: .reportCompletion, range: whole) {
            match, flags, _ in notes.take(match, flags)
        }
        if notes.range == whole { return .matches }
        guard notes.hasFailed || ContinuousClock.now - start > Self.patience else {
            return .differs
        }
        let automaton = TextAutomaton(pattern, ignoringCase: isCaseInsensitive)
        if let matches = automaton?.matches(text) { return matches ? .matches : .differs }
        // A long search was not necessarily given up.
        return notes.hasFailed ? .unknown : .differs
    }
}

/// The engine's report of one search.
private final class MatchNotes: @unchecked Sendable {
    // @unchecked Sendable because the engine calls back before its method returns, on the same thread.
    private(set) var range: NSRange?
    private(set) var hasFailed = false

    func take(_ match: NSTextCheckingResult?, _ flags: NSRegularExpression.MatchingFlags) {
        if range == nil { range = match?.range }
        if flags.contains(.internalError) { hasFailed = true }
    }
}
