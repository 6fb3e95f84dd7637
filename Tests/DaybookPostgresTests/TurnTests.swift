import DaybookJournalLog
import DaybookPQ
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookPostgres

/// Turns that end by themselves, and news.
@Suite struct TurnTests {
    @Test func `a turn that is lost is over`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let (ours, theirs) = (try store.journal(), try store.journal())
            _ = try ours.enter(after: .start, bytes: 1)
            try store.endConnections()
            let first = group(after: .start, [1])
            #expect(try theirs.retried(first) == .accepted)
            #expect(try ours.retried(group(after: .start, [2])) == .behind)
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
        let second = group(after: first.after, [2])

        _ = try await onThread { try patient.append(first) }
        let following = [
            patient.follow { tellHeard.yield($0.rawValue) },
            looking.follow { tellLooked.yield($0.rawValue) },
        ]
        // The first look says where the journal ends; from then on the channel is listened to.
        #expect(await heard.first { $0 == 1 } == 1)
        let writer = try await onThread {
            let writer = try store.journal()
            #expect(try writer.append(second) == .accepted)
            return writer
        }
        #expect(await looked.first { $0 == 2 } == 2)
        writer.announce(second.after)
        #expect(await heard.first { $0 == 2 } == 2)
        withExtendedLifetime(following) {}
    }

    @Test func `what was announced is taken in without a write, and what is behind it with one`()
        async throws
    {
        let store = try await onThread { try SharedStore() }
        var limits = PostgresTerms.Limits.patient
        limits.looking = .seconds(3600)
        let reader = PostgresJournal(
            try store.terms(limits: limits, node: Self.node), store.identity)
        let (heard, tellHeard) = AsyncStream.makeStream(of: UInt64.self)
        let first = group(after: .start, [1])
        let second = group(after: first.after, [2])
        let third = group(after: second.after, [3])
        let writer = try store.journal()

        #expect(try await onThread { try writer.append(first) } == .accepted)
        let following = reader.follow { tellHeard.yield($0.rawValue) }
        // From the first look on the channel is listened to.
        #expect(await heard.first { $0 == 1 } == 1)
        #expect(try await onThread { try writer.append(second) } == .accepted)
        writer.announce(second.after)
        #expect(await heard.first { $0 == 2 } == 2)
        try await onThread {
            // The connection is made with a write.
            _ = try reader.marks(.tag)
            let before = try Self.lastWrite(of: Self.node, in: store)
            #expect(try reader.page(after: first.after, bytes: 1).entries.count == 1)
            #expect(try Self.lastWrite(of: Self.node, in: store) == before)

            #expect(try writer.append(third) == .accepted)
            #expect(try reader.page(after: first.after, bytes: 9).entries.count == 2)
            #expect(try Self.lastWrite(of: Self.node, in: store) > before)
        }
        // Another digest is another entry.
        writer.announce(SharedHead(SequenceNumber(3), first.after.digest))
        #expect(await heard.first { $0 == 3 } == 3)
        try await onThread {
            let before = try Self.lastWrite(of: Self.node, in: store)
            #expect(try reader.page(after: first.after, bytes: 9).entries.count == 2)
            #expect(try Self.lastWrite(of: Self.node, in: store) > before)
        }
        withExtendedLifetime(following) {}
    }

    @Test func `news of what a node has are none to it`() async throws {
        let store = try await onThread { try SharedStore() }
        var limits = PostgresTerms.Limits.patient
        limits.looking = .seconds(3600)
        let reader = PostgresJournal(try store.terms(limits: limits), store.identity)
        let (heard, tellHeard) = AsyncStream.makeStream(of: UInt64.self)
        let first = group(after: .start, [1])
        let second = group(after: first.after, [2])
        let third = group(after: second.after, [3])

        let writer = try await onThread {
            let writer = try store.journal()
            #expect(try writer.append(first) == .accepted)
            return writer
        }
        let following = reader.follow { tellHeard.yield($0.rawValue) }
        var news = heard.makeAsyncIterator()
        // From the first look on the channel is listened to.
        #expect(await news.next() == 1)
        try await onThread {
            let announcing = try store.server.connection(as: "postgres")
            func announce(_ head: SharedHead) throws {
                let news = "\(head.sequence) \(head.digest.hexadecimal)"
                let script = try "NOTIFY daybook_\(store.number), '\(news)'"
                try announcing.run(script: script, until: limit)
            }
            #expect(try writer.append(second) == .accepted)
            // Its file has the second, too.
            let page = try reader.page(after: second.after, bytes: 1)
            #expect(page.entries.isEmpty)
            try announce(second.after)
            #expect(try writer.append(third) == .accepted)
            try announce(third.after)
        }

        #expect(await news.next() == 3)
        tellHeard.finish()
        #expect(await news.next() == nil)
        withExtendedLifetime(following) {}
    }

    private static let node = UUID()

    /// When a node has last proved that its writes are confirmed, in microseconds.
    private static func lastWrite(of node: UUID, in store: SharedStore) throws -> Int64 {
        try store.number(
            """
            SELECT (extract(epoch FROM max(connected)) * 1000000)::bigint FROM daybook.writer
            WHERE node = '\(node)' AND store = \(store.number)
            """)
    }

    /// Otherwise the thread would go on while the process ends.
    @Test func `a listener that was stopped at once has told what there was to tell`() async throws
    {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let listening = try store.server.connection(as: "postgres")
            try listening.run(script: "LISTEN daybook_\(store.number)", until: limit)
            for number in 1...8 as ClosedRange<UInt64> {
                let listener = PostgresListener(
                    try store.terms(), ServerClock(own: microseconds))
                listener.announce(SharedHead(SequenceNumber(number), .zero))
                listener.stop()
                // What was notified before comes with the answer.
                try listening.run(script: "SELECT", until: limit)
                #expect(
                    try listening.waitForNotifications(orFor: nil, until: .now) == [
                        "\(number) \(Digest.zero.hexadecimal)"
                    ])
            }
        }
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
