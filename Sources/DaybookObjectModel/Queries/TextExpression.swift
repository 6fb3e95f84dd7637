import Foundation

/// A regular expression that describes whole texts.
///
/// Foundation's engine goes back over its steps and keeps them on a stack of a few megabytes. Where a long
/// text needs more it gives up and says so; where it takes long, be it for a short text, it gives up after
/// about a second and says that nothing was found. Neither must count as an answer. So a
/// ``TextAutomaton`` decides then, which needs no stack and reads the text once, but does not know every
/// expression.
struct TextExpression: Sendable {
    /// What an expression says of a text.
    enum Answer: Sendable {
        /// The expression describes the whole text.
        case matches
        /// It does not.
        case differs
        /// The text is too long to tell.
        case unknown
    }

    private let pattern: String
    private let isCaseInsensitive: Bool
    private let expression: NSRegularExpression

    /// Compiles an expression; nil when it is none.
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

    /// What takes longer may have been given up. Well below where the engine gives up, and longer than
    /// any text takes for which it finds its way.
    private static let patience = Duration.milliseconds(20)

    /// Whether the expression describes a whole text.
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
        // That it took long does not show that it was given up.
        return notes.hasFailed ? .unknown : .differs
    }
}

/// What the engine reports of one search.
private final class MatchNotes: @unchecked Sendable {
    // @unchecked Sendable because the engine calls back before its method returns, on the same thread.
    private(set) var range: NSRange?
    private(set) var hasFailed = false

    func take(_ match: NSTextCheckingResult?, _ flags: NSRegularExpression.MatchingFlags) {
        if range == nil { range = match?.range }
        if flags.contains(.internalError) { hasFailed = true }
    }
}
