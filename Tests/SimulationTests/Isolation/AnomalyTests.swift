import DaybookTestSupport
import Testing

/// What is looked for in histories is found in those that have it. A search that finds nothing in the histories of a
/// store proves something only then.
struct AnomalyTests {
    private typealias Transaction = TransactionHistory.Transaction

    /// A history of transactions that each begin when the one before has ended, each in a session of its own.
    private static func anomalies(
        _ transactions: [(steps: [TransactionHistory.Step], outcome: TransactionHistory.Outcome)],
        sessions: [Int]? = nil, order: TransactionHistory.Order = .none
    ) -> Set<Anomaly> {
        let history = TransactionHistory(
            transactions.enumerated().map { index, transaction in
                Transaction(
                    session: sessions?[index] ?? index, steps: transaction.steps,
                    outcome: transaction.outcome, began: UInt64(10 * index),
                    ended: UInt64(10 * index + 5))
            })
        return Set(history.anomalies(by: order).map(\.anomaly))
    }

    @Test func `transactions one after the other have none`() {
        let found = Self.anomalies(
            [
                ([.read(1, []), .append(1, 1)], .committed),
                ([.read(1, [1]), .append(1, 2), .read(1, [1, 2])], .committed),
                ([.load(7, nil), .store(7, 5)], .committed),
                ([.load(7, 5), .store(7, 6), .load(7, 6)], .committed),
                ([.read(1, [1, 2]), .load(7, 6)], .committed),
            ], order: .clock)

        #expect(found == [])
    }

    @Test func `a transaction that does not see its own change`() {
        #expect(
            Self.anomalies([([.read(1, []), .append(1, 1), .read(1, [])], .committed)])
                == [.internalInconsistency])
        #expect(
            Self.anomalies([([.load(1, nil), .store(1, 3), .load(1, nil)], .committed)])
                .contains(.internalInconsistency))
    }

    @Test func `what was aborted and read, what was in between, what nobody wrote`() {
        #expect(
            Self.anomalies([
                ([.append(1, 1)], .aborted), ([.read(1, [1])], .committed),
            ]) == [.abortedRead])
        #expect(
            Self.anomalies([
                ([.append(1, 1), .append(1, 2)], .committed), ([.read(1, [1])], .committed),
                ([.read(1, [1, 2])], .committed),
            ]).contains(.intermediateRead))
        #expect(Self.anomalies([([.read(1, [9])], .committed)]) == [.incompatibleOrder])
    }

    @Test func `lists that contradict each other, and an item that is there twice`() {
        let writers: [(steps: [TransactionHistory.Step], outcome: TransactionHistory.Outcome)] = [
            ([.append(1, 1)], .committed), ([.append(1, 2)], .committed),
        ]
        #expect(
            Self.anomalies(
                writers + [([.read(1, [1, 2])], .committed), ([.read(1, [2, 1])], .committed)]
            ).contains(.incompatibleOrder))
        #expect(
            Self.anomalies(writers + [([.read(1, [1, 2, 1])], .committed)])
                .contains(.incompatibleOrder))
    }

    @Test func `two that write the same version, and an acknowledged item that is gone`() {
        #expect(
            Self.anomalies([
                ([.read(1, []), .append(1, 1)], .committed),
                ([.read(1, []), .append(1, 2)], .committed),
            ]).contains(.lostUpdate))
        #expect(
            Self.anomalies([
                ([.load(1, nil), .store(1, 1)], .committed),
                ([.load(1, nil), .store(1, 2)], .committed),
            ]).contains(.lostUpdate))
        #expect(
            Self.anomalies([
                ([.append(1, 1)], .committed), ([.read(1, [])], .committed),
            ]) == [.lostUpdate])
    }

    @Test func `an unknown outcome counts as committed once somebody has read it`() {
        #expect(
            Self.anomalies([
                ([.append(1, 1)], .unknown), ([.read(1, [1])], .committed),
                ([.append(1, 2)], .unknown), ([.read(1, [1])], .committed),
            ]) == [])
    }

    @Test func `circles of writes, of writes and reads`() {
        #expect(
            Self.anomalies([
                ([.append(1, 1), .append(2, 2)], .committed),
                ([.append(1, 2), .append(2, 1)], .committed),
                ([.read(1, [1, 2]), .read(2, [1, 2])], .committed),
            ]).contains(.writeCycle))
        let found = Self.anomalies([
            ([.append(1, 1), .read(2, [1])], .committed),
            ([.append(2, 1), .read(1, [1])], .committed),
        ])
        #expect(found == [.informationCycle])
    }

    @Test func `skew of reads and of writes`() {
        // The reader sees the second save of one list, and not the first of the other.
        #expect(
            Self.anomalies([
                ([.append(1, 1), .append(2, 1)], .committed),
                ([.read(1, [1]), .read(2, [])], .committed),
                ([.read(2, [1])], .committed),
            ]) == [.readSkew])
        // Each has read what the other one then overwrote.
        #expect(
            Self.anomalies([
                ([.load(1, nil), .load(2, nil), .store(1, 1)], .committed),
                ([.load(1, nil), .load(2, nil), .store(2, 1)], .committed),
            ]) == [.writeSkew])
        #expect(
            Self.anomalies([
                ([.read(1, []), .read(2, []), .append(1, 1)], .committed),
                ([.read(1, []), .read(2, []), .append(2, 1)], .committed),
                ([.read(1, [1]), .read(2, [1])], .committed),
            ]) == [.writeSkew])
    }

    @Test
    func `a read that is older than what its session has seen, or than what others have ended`() {
        let steps: [(steps: [TransactionHistory.Step], outcome: TransactionHistory.Outcome)] = [
            ([.load(1, nil), .store(1, 1)], .committed), ([.load(1, nil)], .committed),
        ]

        #expect(Self.anomalies(steps) == [])
        #expect(Self.anomalies(steps, order: .sessions) == [])
        #expect(Self.anomalies(steps, sessions: [0, 0], order: .sessions) == [.readSkew])
        #expect(Self.anomalies(steps, order: .clock) == [.readSkew])
    }

    @Test func `a circle of a hundred thousand is found, and none in as many in a row`() {
        let count = 100_000
        let row = (0..<count).map { index in
            (
                steps: [
                    TransactionHistory.Step.load(index, index == 0 ? nil : 1),
                    .store(index + 1, 1),
                ], outcome: TransactionHistory.Outcome.committed
            )
        }
        #expect(Self.anomalies(row, order: .clock) == [])
        var circle = row
        circle[0].steps = [.load(count, 1), .store(1, 1)]
        #expect(Self.anomalies(circle) == [.informationCycle])
    }
}
