import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation
import Testing

/// Several nodes that append to one store, and what is shared beside entries.
@Suite struct TurnTests {
    @Test func `sixteen writers lose nothing, double nothing, and leave no gap`() async throws {
        let store = try await onThread { try SharedStore() }
        let (writers, each) = (16, 12)

        let appended = try await onThreads(writers) { writer in
            let journal = try store.journal()
            var head = SharedHead.start
            return try (0..<each).map { number in
                let payload = Array("\(writer) \(number)".utf8)
                // One try, and then a turn: those who only try again would starve.
                let first = group(after: head, payload)
                if try journal.append(first) == .accepted {
                    head = first.after
                    return payload
                }
                head = try journal.enter(after: head, bytes: 8 << 20).after(head)
                let second = group(after: head, payload)
                try #require(try journal.append(second) == .accepted)
                head = second.after
                return payload
            }
        }.flatMap(\.self)
        let page = try await onThread { try store.journal().page(after: .start, bytes: 1 << 30) }

        #expect(page.entries.map(\.sequence.rawValue) == Array(1...UInt64(writers * each)))
        #expect(Set(page.entries.map(\.payload)) == Set(appended))
        #expect(page.entries.count == appended.count)
        #expect(
            zip(page.entries, page.entries.dropFirst()).allSatisfy {
                $0.recordedAt <= $1.recordedAt
            })
    }

    @Test func `nobody appends past a turn, until it is left or lost`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let (ours, theirs) = (try store.journal(), try store.journal())
            _ = try ours.enter(after: .start, bytes: 1)
            #expect(try theirs.append(group(after: .start, [1])) == .behind)
            ours.leave()
            let first = group(after: .start, [1])
            #expect(try theirs.append(first) == .accepted)

            let page = try ours.enter(after: .start, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1]])
            try store.endConnections()
            let second = group(after: first.after, [2])
            #expect(try theirs.retried(second) == .accepted)
            #expect(try ours.retried(group(after: first.after, [3])) == .behind)
        }
    }

    @Test func `numbers taken during a turn stay taken when it is left`() async throws {
        let store = try await onThread { try SharedStore(numbers: 7) }

        let ranges = try await onThread {
            let journal = try store.journal()
            let first = try journal.takeNumbers(3)
            _ = try journal.enter(after: .start, bytes: 1)
            let second = try journal.takeNumbers(5)
            journal.leave()
            return [first, second, try store.journal().takeNumbers(1)]
        }

        #expect(ranges == [7..<10, 10..<15, 15..<16])
    }

    @Test func `numbers of many nodes never meet`() async throws {
        let store = try await onThread { try SharedStore() }

        let ranges = try await onThreads(8) { _ in
            let journal = try store.journal()
            return try (1...10).map { try journal.takeNumbers(UInt64($0)) }
        }.flatMap(\.self)

        #expect(Set(ranges.flatMap(\.self)) == Set(1...UInt64(8 * 55)))
        #expect(ranges.reduce(0) { $0 + $1.count } == 8 * 55)
    }

    @Test func `numbers that have run out are refused`() async throws {
        let store = try await onThread { try SharedStore(numbers: 1 << 62) }

        let error = try await onThread {
            #expect(throws: SharedJournalError.self) { try store.journal().takeNumbers(1) }
        }

        #expect(error?.code == .refused)
        #expect(error?.message.contains("DB011") == true)
    }

    @Test func `a mark is set by who has read its version, and removed ones come back newer`()
        async throws
    {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.set(SharedMark(.tag, "v2", [2], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.tag, "v1", [1], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.cursor, "v1", [9], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 0)) == nil)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 1)) == 2)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 1)) == 2)
            #expect(
                try journal.marks(.tag) == [
                    SharedMark(.tag, "v1", [3], version: 2),
                    SharedMark(.tag, "v2", [2], version: 1),
                ])
            #expect(try journal.set(SharedMark(.tag, "v1", nil, version: 2)) == 3)
            #expect(try journal.marks(.tag).map(\.name) == ["v2"])
            // Another node has never seen it: for that one it is not there.
            let other = try store.journal()
            #expect(try other.set(SharedMark(.tag, "v1", [4], version: 0)) == 4)
            #expect(try other.set(SharedMark(.tag, "v1", [4], version: 0)) == 4)
            #expect(try other.set(SharedMark(.tag, "v1", [5], version: 0)) == nil)
            #expect(try journal.set(SharedMark(.tag, "v1", [4], version: 3)) == 4)
            #expect(try journal.set(SharedMark(.tag, "v1", nil, version: 4)) == 5)
            #expect(try journal.set(SharedMark(.tag, "v1", [6], version: 5)) == 6)
            #expect(
                try store.journal().marks(.cursor) == [SharedMark(.cursor, "v1", [9], version: 1)])
            #expect(try journal.marks(.value) == [])
        }
    }

    @Test func `news arrive after an append, also without an announcement`() async throws {
        let store = try await onThread { try SharedStore() }
        var limits = PostgresTerms.Limits()
        limits.looking = .seconds(3600)
        let patient = PostgresJournal(try store.terms(limits: limits), store.identity)
        limits.looking = .milliseconds(20)
        let looking = PostgresJournal(try store.terms(limits: limits), store.identity)
        let (heard, tellHeard) = AsyncStream.makeStream(of: UInt64.self)
        let (looked, tellLooked) = AsyncStream.makeStream(of: UInt64.self)
        let first = group(after: .start, [1])

        _ = try await onThread { try patient.append(first) }
        let following = [
            patient.follow { tellHeard.yield($0.rawValue) },
            looking.follow { tellLooked.yield($0.rawValue) },
        ]
        // The first look says where the journal ends; from then on the channel is listened to.
        #expect(await heard.first { $0 == 1 } == 1)
        let writer = try await onThread {
            let writer = try store.journal()
            #expect(try writer.append(group(after: first.after, [2])) == .accepted)
            return writer
        }
        #expect(await looked.first { $0 == 2 } == 2)
        writer.announce(SequenceNumber(2))
        #expect(await heard.first { $0 == 2 } == 2)
        withExtendedLifetime(following) {}
    }
}

extension SharedStore {
    /// Ends all connections of its writer.
    func endConnections() throws {
        try server.administer(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '\(name)'"
        )
    }
}

extension PostgresJournal {
    /// Appends a group as nodes do: again with the same token while the outcome is not known.
    func retried(_ group: SharedGroup) throws -> SharedAnswer {
        while true {
            do {
                return try append(group)
            } catch {
                guard error.code == .inDoubt || error.code == .unreachable else { throw error }
            }
        }
    }
}
