package import DaybookSnapshotStore
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import Testing

/// A shared store without entries, of either kind.
package protocol SharedJournalPlace: Sendable {
    /// The name under which all its nodes are let in.
    var login: String { get }

    /// Its kind of journal.
    associatedtype Journal: SharedJournal

    /// A connection of a node that there was not before.
    func journal() throws -> Journal
}

/// What holds for every shared journal.
///
/// ```swift
/// @Test(arguments: SharedJournalRule.all)
/// func `a scripted journal keeps the rules`(_ rule: SharedJournalRule) async throws {
///     try await rule.check { ScriptedServer(numbers: $0) }
/// }
/// ```
package struct SharedJournalRule: Sendable, CustomStringConvertible {
    /// Makes a store whose first object number is given.
    package typealias Maker = @Sendable (_ numbers: UInt64) throws -> any SharedJournalPlace

    private let sentence: String
    private let numbers: UInt64
    private let body: @Sendable (any SharedJournalPlace) throws -> Void

    /// A rule.
    ///
    /// - Parameters:
    ///   - sentence: What holds.
    ///   - numbers: The first object number of the store that it is checked on.
    ///   - body: Checks it. It may wait.
    init(
        _ sentence: String, numbers: UInt64 = 1,
        _ body: @escaping @Sendable (any SharedJournalPlace) throws -> Void
    ) {
        self.sentence = sentence
        self.numbers = numbers
        self.body = body
    }

    /// All of them.
    package static let all = appending + reading + turns + keeping

    /// What holds.
    package var description: String { sentence }

    /// Checks the rule on a store of its own, on a thread of its own.
    ///
    /// - Parameter make: Makes the store.
    /// - Throws: What a journal must not throw.
    package func check(_ make: @escaping Maker) async throws {
        try await onThread { try body(make(numbers)) }
    }
}

/// Waits in `body` on a thread of its own: the threads that run tests are few.
package func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { done in
        Thread { done.resume(with: Result { try body() }) }.start()
    }
}

/// Runs `body` on several threads at once and waits for all.
package func onThreads<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) async throws -> [R] {
    try await withThrowingTaskGroup(of: R.self) { tasks in
        for index in 0..<count {
            tasks.addTask { try await onThread { try body(index) } }
        }
        return try await tasks.reduce(into: []) { $0.append($1) }
    }
}

/// Runs `body` on several threads at once, and waits for all on this one, which runs no other tests.
package func waitingForThreads<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) throws -> [R] {
    let results = Results<R>()
    let running = DispatchGroup()
    for index in 0..<count {
        running.enter()
        Thread {
            results.add(Result { try body(index) })
            running.leave()
        }.start()
    }
    running.wait()
    return try results.all.map { try $0.get() }
}

private final class Results<R: Sendable>: Sendable {
    private let results = Mutex<[Result<R, any Error>]>([])

    var all: [Result<R, any Error>] { results.withLock(\.self) }

    func add(_ result: Result<R, any Error>) {
        results.withLock { $0.append(result) }
    }
}
