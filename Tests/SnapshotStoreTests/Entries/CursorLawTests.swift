import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Synchronization
import Testing

@testable import DaybookSnapshotStore

/// A consumer that keeps its own cursor: the number of the last entry it has processed.
///
/// The cursor is saved apart from the consumer's work, and not always in time: a crash in between
/// makes it read some entries again.
private struct Consumer {
    /// The last saved cursor.
    var kept = SequenceNumber.zero
    /// Every delivery, in order.
    var delivered: [SequenceNumber] = []

    /// Reads new entries, saves the cursor occasionally, and perhaps crashes meanwhile.
    mutating func run(on store: Store, _ random: inout SeededGenerator) throws {
        let crashesAfter = Int.random(in: 0...12, using: &random)
        var count = 0
        var delivered: [SequenceNumber] = []
        var kept = kept
        try store.entries(from: kept.next) { entry in
            guard count < crashesAfter else { return .stop }
            count += 1
            delivered.append(entry.sequence)
            if count.isMultiple(of: 3) { kept = entry.sequence }
            return .proceed
        }
        self.delivered += delivered
        self.kept = kept
    }
}

@Suite struct CursorLawTests {
    @Test(arguments: 1...12)
    func `J8 a cursor delivers every entry at least once and skips none`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var history = try RandomHistory(seed: UInt64(seed), entries: 0)
        var consumer = Consumer()

        for _ in 0..<60 {
            if Bool.random(using: &random) { try history.step() }
            if Bool.random(using: &random) { try consumer.run(on: history.store, &random) }
        }
        // Finally it catches up.
        let head = try history.store.head()
        while consumer.delivered.max() ?? .zero < head {
            try consumer.run(on: history.store, &random)
        }

        var reached = SequenceNumber.zero
        for sequence in consumer.delivered {
            #expect(sequence <= reached.next, "seed \(seed): skipped to \(sequence)")
            reached = max(reached, sequence)
        }
        #expect(reached == head, "seed \(seed)")
        #expect(Set(consumer.delivered).count == Int(head.rawValue), "seed \(seed)")
    }

    @Test func `reading at a cursor beyond the head reports that and delivers nothing`() throws {
        let history = try RandomHistory(seed: 5, entries: 4)
        let beyond = SequenceNumber(try history.store.head().rawValue + 3)
        var delivered = 0

        try history.store.entries(from: beyond) { _ in
            delivered += 1
            return .proceed
        }

        #expect(delivered == 0)
        let error = #expect(throws: StoreError.self) { try history.store.entry(beyond) }
        #expect(error?.code == .noSuchEntry)
    }

    @Test func `a listener is told about every entry once it can be read`() throws {
        var history = try RandomHistory(seed: 6, entries: 0)
        let told = Told()
        let store = history.store
        let subscription = store.subscribe { sequence in told.append(sequence) }

        for _ in 0..<20 { try history.step() }

        let head = try store.head()
        #expect(told.sequences.last == head)
        #expect(told.sequences == told.sequences.sorted())
        subscription.cancel()
        try history.step()
        #expect(told.sequences.last == head)
    }
}

/// The calls of a listener, from any thread.
private final class Told: Sendable {
    private let told = Mutex<[SequenceNumber]>([])

    var sequences: [SequenceNumber] { told.withLock { $0 } }

    func append(_ sequence: SequenceNumber) {
        told.withLock { $0.append(sequence) }
    }
}
