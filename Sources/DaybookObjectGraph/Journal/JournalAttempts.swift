/// The lists to which the running attempts of updates go back, outermost first.
struct JournalAttempts {
    /// Mostly an attempt has only added steps, and the end of the list is enough: a copy would cost as
    /// much as all steps there are, for each attempt.
    private enum Start {
        case end(StepList.End)
        case list(StepList)
    }

    private var starts: [Start] = []

    /// Whether no attempt is running.
    var isEmpty: Bool { starts.isEmpty }

    /// The list to which the innermost attempt goes back.
    ///
    /// - Precondition: ``hold(_:)`` was called before.
    var list: StepList? {
        guard case .list(let list)? = starts.last else { return nil }
        return list
    }

    /// Begins an attempt.
    mutating func begin(at list: StepList) { starts.append(Self.start(at: list)) }

    /// Ends the innermost attempt.
    mutating func end() { starts.removeLast() }

    /// Lets the innermost attempt begin again.
    mutating func beginAgain(at list: StepList) { starts[starts.count - 1] = Self.start(at: list) }

    /// Lets all attempts begin again.
    mutating func beginAllAgain(at list: StepList) {
        for attempt in starts.indices { starts[attempt] = Self.start(at: list) }
    }

    /// Keeps the lists with which the attempts began, before any of their steps is changed.
    mutating func hold(_ list: StepList) {
        for attempt in starts.indices {
            guard case .end(let end) = starts[attempt] else { continue }
            starts[attempt] = .list(list.cut(to: end))
        }
    }

    /// Changes the lists that are kept.
    mutating func change(_ body: (inout StepList) -> Void) {
        for attempt in starts.indices {
            guard case .list(var list) = starts[attempt] else { continue }
            body(&list)
            starts[attempt] = .list(list)
        }
    }

    private static func start(at list: StepList) -> Start {
        list.end.map { .end($0) } ?? .list(list)
    }
}
