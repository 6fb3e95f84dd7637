import Foundation

/// A regular expression for whole texts.
///
/// Foundation's engine goes back over its steps and keeps them on a stack of a few megabytes. Where a long
/// text needs more it gives up and says so; after some forty million steps, be it for a short text, it
/// gives up, too, but says that nothing was found. Neither must count as an answer. So the steps are counted,
/// and the engine is stopped before it gives up by itself. A ``TextAutomaton`` decides then, which needs
/// no stack and reads the text once, but does not know every expression.
struct TextExpression: Sendable {
    /// The answer of an expression for a text.
    enum Answer: Sendable {
        /// The expression matches the whole text.
        case matches
        /// It does not.
        case differs
        /// The engine has given up, and the expression is none that can be decided otherwise.
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

    /// Whether the expression matches a whole text.
    func answer(to text: String) -> Answer {
        let whole = NSRange(text.startIndex..., in: text)
        let notes = MatchNotes()
        expression.enumerateMatches(
            in: text, options: [.reportCompletion, .reportProgress], range: whole
        ) { match, flags, stop in
            if !notes.take(match, flags) { stop.pointee = true }
        }
        if notes.range == whole { return .matches }
        guard notes.hasGivenUp else { return .differs }
        let automaton = TextAutomaton(pattern, ignoringCase: isCaseInsensitive)
        guard let matches = automaton?.matches(text) else { return .unknown }
        return matches ? .matches : .differs
    }
}

/// The engine's report of one search.
private final class MatchNotes: @unchecked Sendable {
    // @unchecked Sendable because the engine calls back before its method returns, on the same thread.
    private(set) var range: NSRange?
    /// Whether the engine has ended without an answer, or was stopped.
    private(set) var hasGivenUp = false
    private var reports = 0

    /// Takes a note; false when the engine is to stop.
    func take(_ match: NSTextCheckingResult?, _ flags: NSRegularExpression.MatchingFlags) -> Bool {
        if range == nil { range = match?.range }
        if flags.contains(.progress) { reports += 1 }
        if flags.contains(.internalError) || reports > Self.reportsMaximum { hasGivenUp = true }
        return reports <= Self.reportsMaximum
    }

    /// The engine reports every ten thousand steps, and by itself gives up after 3,900 reports and more.
    private static let reportsMaximum = 3_000
}
