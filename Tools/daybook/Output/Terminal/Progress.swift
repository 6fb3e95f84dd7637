/// A line on the terminal that shows the progress of long work.
///
/// It appears only on a terminal, only after a second, is redrawn at most ten times a second, and
/// is removed at the end.
final class Progress {
    private let label: String
    private let total: Int?
    private let columns: Int?
    private let start = ContinuousClock.now
    private var shown: ContinuousClock.Instant?
    private var count = 0

    /// - Parameters:
    ///   - label: The activity, such as "Recording".
    ///   - total: The number of steps, if known.
    ///   - columns: The width of the terminal; nil when there is none and nothing is shown.
    init(_ label: String, of total: Int?, columns: Int?) {
        self.label = label
        self.total = total
        self.columns = columns
    }

    /// Counts finished steps.
    func advance(by steps: Int = 1) {
        count += steps
        guard columns != nil else { return }
        let now = ContinuousClock.now
        guard now - (shown ?? start) >= (shown == nil ? .seconds(1) : .milliseconds(100)) else {
            return
        }
        shown = now
        show()
    }

    /// Counts steps as finished up to a number of them.
    func reach(_ steps: Int) {
        advance(by: steps - count)
    }

    /// Removes the line.
    func finish() {
        guard shown != nil else { return }
        shown = nil
        put("\r\u{1B}[K")
    }

    private func show() {
        var text = "\(label): \(count)"
        if let total, total > 0 {
            text += " of \(total) (\(min(count, total) * 100 / total) %)"
        }
        put("\r\(DisplayText.truncated(text, to: (columns ?? 80) - 1))\u{1B}[K")
    }

    private func put(_ text: String) {
        // A failure to show progress does not affect the work.
        _ = SystemCall.write(Array(text.utf8), to: .errors)
    }
}
