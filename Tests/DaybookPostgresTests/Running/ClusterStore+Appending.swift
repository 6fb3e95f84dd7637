import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

extension PostgresJournal {
    /// The page after a place, read again while no server can be reached.
    func retriedPage(after head: SharedHead) throws -> SharedPage {
        while true {
            do {
                return try page(after: head, bytes: SharedPage.bytesUsual)
            } catch {
                guard error.code == .unreachable else { throw error }
            }
        }
    }

    /// The payloads of all entries, in order, read again while no server can be reached.
    func payloads() throws -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var head = SharedHead.start
        while true {
            let page = try retriedPage(after: head)
            payloads += page.entries.map(\.payload)
            head = page.after(head)
            if page.isLast { return payloads }
        }
    }

    /// Appends payloads of its own, one after the other, as nodes do, until the tally has ended.
    ///
    /// - Parameters:
    ///   - index: Which of the nodes this is.
    ///   - tally: Counts what was acknowledged.
    /// - Returns: What was acknowledged.
    /// - Throws: When something was refused, or the journal has lost what this node has of it.
    func appendMany(as index: Int, _ tally: Tally) throws -> [[UInt8]] {
        var head = SharedHead.start
        var acknowledged: [[UInt8]] = []
        while !tally.hasEnded {
            let payload = Array("\(index)/\(acknowledged.count)".utf8)
            while true {
                let next = group(after: head, payload)
                if try retried(next) == .accepted {
                    head = next.after
                    break
                }
                // Somebody else was first: what is missing begins with theirs.
                while true {
                    let page = try retriedPage(after: head)
                    head = page.after(head)
                    if page.isLast { break }
                }
            }
            acknowledged.append(payload)
            tally.add()
        }
        return acknowledged
    }
}

/// Counts what several threads do, and lets another one wait for it.
final class Tally: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var counted = 0
    private nonisolated(unsafe) var isOver = false

    /// How much was counted so far.
    var count: Int { condition.withLock { counted } }

    /// Whether nothing more is wanted.
    var hasEnded: Bool { condition.withLock { isOver } }

    /// Counts one more.
    func add() {
        condition.withLock {
            counted += 1
            condition.broadcast()
        }
    }

    /// Waits for a count, or for the end.
    func wait(for count: Int) {
        condition.withLock {
            while counted < count && !isOver { condition.wait() }
        }
    }

    /// Nothing more is wanted.
    func end() {
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }
}
