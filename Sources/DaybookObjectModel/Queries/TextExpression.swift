import Foundation

/// A regular expression for whole texts.
///
/// Foundation's engine backtracks and keeps its steps on a stack of a few megabytes. When a long
/// text needs more, it gives up and reports that; after some forty million steps, even on a short
/// text, it also gives up but reports that nothing was found. Neither counts as an answer. So the
/// steps are counted, and the engine is stopped before it gives up by itself. A ``TextAutomaton``
/// decides then, which needs no stack and reads the text once, but does not support every
/// expression.
struct TextExpression: Sendable {
    /// The answer of an expression for a text.
    enum Answer: Sendable {
        /// The expression matches the whole text.
        case matches
        /// It does not.
        case differs
        /// The engine has given up, and no automaton can decide the expression.
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
        let record = MatchRecord()
        expression.enumerateMatches(
            in: text, options: [.reportCompletion, .reportProgress], range: whole
        ) { match, flags, stop in
            if !record.take(match, flags) { stop.pointee = true }
        }
        if record.range == whole { return .matches }
        guard record.hasGivenUp else { return .differs }
        let automaton = TextAutomaton(pattern, ignoringCase: isCaseInsensitive)
        guard let matches = automaton?.matches(text) else { return .unknown }
        return matches ? .matches : .differs
    }
}

/// The result of one search by the engine.
private final class MatchRecord: @unchecked Sendable {
    // @unchecked Sendable because the engine calls back before its method returns, on the same thread.
    private(set) var range: NSRange?
    /// Whether the engine ended without an answer or was stopped.
    private(set) var hasGivenUp = false
    private var reports = 0

    /// Records a report of the engine; false when the engine is to stop.
    func take(_ match: NSTextCheckingResult?, _ flags: NSRegularExpression.MatchingFlags) -> Bool {
        if range == nil { range = match?.range }
        if flags.contains(.progress) { reports += 1 }
        if flags.contains(.internalError) || reports > Self.reportsMaximum { hasGivenUp = true }
        return reports <= Self.reportsMaximum
    }

    /// The engine reports every ten thousand steps, and gives up by itself after 3,900 reports or
    /// more.
    private static let reportsMaximum = 3_000
}
