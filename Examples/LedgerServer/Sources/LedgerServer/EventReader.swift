import Foundation
import Synchronization

/// The events of one client, each read when the one before has been sent: a slow client makes nothing pile up.
final class EventReader: @unchecked Sendable {
    // @unchecked Sendable because only the thread of its connection calls it, and while a task is out for the next
    // event, that task alone has the iterator.

    /// How long nothing is said. A client that has gone is noticed when it is told something.
    private static let pause = DispatchTimeInterval.seconds(15)

    private var iterator: any AsyncIteratorProtocol<String, any Error>
    private var coming: Awaited<String?>?
    private var task: Task<Void, Never>?
    private var rest: ArraySlice<UInt8> = []

    init(_ events: any AsyncSequence<String, any Error> & Sendable) {
        iterator = events.makeAsyncIterator()
    }

    /// The next bytes; empty at the end.
    func next(atMost count: Int) -> [UInt8] {
        if rest.isEmpty { rest = ArraySlice(nextEvent().utf8) }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// The client has gone, or has got all.
    func end() {
        task?.cancel()
    }

    /// The next event, or a comment when there is none for a while; empty at the end.
    private func nextEvent() -> String {
        let event = coming ?? Awaited()
        if coming == nil {
            coming = event
            task = event.begin { [self] in await read() }
        }
        guard let read = event.wait(until: .now() + Self.pause) else { return ": nothing new\n\n" }
        coming = nil
        return read ?? ""
    }

    private func read() async -> String? {
        do {
            return try await iterator.next(isolation: nil)
        } catch {
            report(error)
            return nil
        }
    }
}

/// What a task works out, for a thread that may wait.
final class Awaited<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    /// Begins to work it out.
    @discardableResult
    func begin(_ work: @escaping @Sendable () async -> Value) -> Task<Void, Never> {
        Task {
            let result = await work()
            value.withLock { $0 = result }
            isThere.signal()
        }
    }

    /// Takes it, as soon as it is there; nil when it is not by then.
    func wait(until time: DispatchTime) -> Value? {
        guard isThere.wait(timeout: time) == .success else { return nil }
        return value.withLock { $0.take() }
    }
}
