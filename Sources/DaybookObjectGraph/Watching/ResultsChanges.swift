import Synchronization

/// What has become of an observed list or value, one element for each change, until the task is cancelled.
///
/// ```swift
/// for await difference in observer.differences { print(difference.changes) }
/// ```
///
/// A loop that is slow costs nobody anything: what happens while it is busy is merged into one element, which
/// comes next. The sequence begins where it was made, so nothing is lost before the loop begins. It is for one
/// loop; make another for another one. The loop ends when its task is cancelled, and nothing is kept of it.
public struct ResultsChanges<Element: Sendable>: AsyncSequence, Sendable {
    /// Nothing: what cannot be read is reported to the context.
    public typealias Failure = Never

    private let mailbox: ResultsMailbox<Element>
    /// What puts changes in, kept as long as somebody may read them.
    private let source: any Sendable & AnyObject

    init(_ mailbox: ResultsMailbox<Element>, from source: any Sendable & AnyObject) {
        self.mailbox = mailbox
        self.source = source
    }

    /// Waits for the changes, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let mailbox: ResultsMailbox<Element>
        let source: any Sendable & AnyObject

        /// What has changed since this was last called, as soon as anything has; nil when the task is
        /// cancelled.
        public mutating func next() async -> Element? { await mailbox.next() }

        /// As ``next()``, on an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await mailbox.next()
        }
    }

    /// What has changed since this was last read, without waiting; nil for nothing.
    ///
    /// For programs that look when they draw, and do not run a loop for it.
    public func takeWaiting() -> Element? { mailbox.takeWaiting() }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(mailbox: mailbox, source: source)
    }
}

/// Where changes wait until they are read, at most one element.
///
/// Whoever puts something in never waits for a reader.
final class ResultsMailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: Element?
        var reader: CheckedContinuation<Element?, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let merge: @Sendable (Element, Element) -> Element

    /// Makes an empty mailbox.
    ///
    /// - Parameter merge: Makes one element of two that follow each other.
    init(_ merge: @escaping @Sendable (Element, Element) -> Element) {
        self.merge = merge
    }

    /// Puts an element in.
    func put(_ element: Element) {
        let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            guard !state.isCancelled else { return nil }
            if let reader = state.reader.take() { return reader }
            state.waiting = state.waiting.map { merge($0, element) } ?? element
            return nil
        }
        reader?.resume(returning: element)
    }

    /// Takes out the element that waits; nil for none.
    func takeWaiting() -> Element? { state.withLock { $0.waiting.take() } }

    /// Takes the element out, waiting for one; nil when the task is cancelled.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Element?? in
                    if state.isCancelled { return .some(nil) }
                    if let element = state.waiting.take() { return element }
                    // Two loops over one sequence: the earlier one is over.
                    let earlier = state.reader
                    state.reader = continuation
                    earlier?.resume(returning: nil)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.isCancelled = true
                state.waiting = nil
                return state.reader.take()
            }
            reader?.resume(returning: nil)
        }
    }
}

/// The mailboxes that somebody reads.
struct ResultsMailboxes<Element: Sendable> {
    private struct Box {
        weak var mailbox: ResultsMailbox<Element>?
    }

    private var boxes: [Box] = []

    /// Whether nobody reads.
    var isEmpty: Bool { boxes.allSatisfy { $0.mailbox == nil } }

    /// Adds one, which is not kept alive here.
    mutating func append(_ mailbox: ResultsMailbox<Element>) {
        boxes.removeAll { $0.mailbox == nil }
        boxes.append(Box(mailbox: mailbox))
    }

    /// Puts an element into each.
    func put(_ element: Element) {
        for box in boxes { box.mailbox?.put(element) }
    }
}
