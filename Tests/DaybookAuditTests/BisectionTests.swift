import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Looking for the entry at which an answer turns.
@Suite struct BisectionTests {
    private func places(_ answers: [Bisection.Answer]) -> ClosedRange<SequenceNumber> {
        SequenceNumber(0)...SequenceNumber(UInt64(answers.count - 1))
    }

    private func run(
        _ answers: [Bisection.Answer]
    ) throws -> (outcome: Bisection.Outcome, count: Int) {
        var bisection = Bisection { answers[Int($0.rawValue)] }
        let places = places(answers)
        let outcome = try bisection.run(from: places.lowerBound, to: places.upperBound)
        return (outcome, bisection.count)
    }

    @Test(arguments: 2...70)
    func `the only turn is found, by few questions`(length: Int) throws {
        let limit = 3 + (Int.bitWidth - length.leadingZeroBitCount)
        for turn in 1..<length {
            for end in [Bisection.Answer.yes, .no] {
                let beginning: Bisection.Answer = end == .yes ? .no : .yes
                let answers = (0..<length).map { $0 < turn ? beginning : end }

                let (outcome, count) = try run(answers)

                #expect(outcome == .turn(SequenceNumber(UInt64(turn)), to: end))
                #expect(count <= limit, "\(count) questions for \(length) states")
            }
        }
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `of several turns one is found, whatever cannot be judged`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let length = Int.random(in: 1...40, using: &random)
        let share = Int.random(in: 0...4, using: &random)
        let answers = (0..<length).map { _ -> Bisection.Answer in
            if Int.random(in: 0...9, using: &random) < share { return .unknown }
            return Bool.random(using: &random) ? .yes : .no
        }
        let about: Comment = "seed \(seed)"

        let (outcome, count) = try run(answers)

        #expect(count <= length, about)
        switch outcome {
        case .noTurn(let answer):
            #expect(answers.first == answer && answers.last == answer, about)
        case .unknownEnd(let place):
            #expect(answers[Int(place.rawValue)] == .unknown, about)
            #expect([0, length - 1].contains(Int(place.rawValue)), about)
        case .turn(let place, let answer):
            let turn = Int(place.rawValue)
            #expect(answers[turn] == answer && answers.last == answer, about)
            #expect(answers[turn - 1] == answers[0] && answers[0] != answer, about)
        case .turnWithin(let range, let answer):
            let (first, last) = (
                Int(range.lowerBound.rawValue), Int(range.upperBound.rawValue)
            )
            #expect(answers[last] == answer && answers.last == answer, about)
            #expect(answers[first - 1] == answers[0] && answers[0] != answer, about)
            #expect(answers[first..<last].allSatisfy { $0 == .unknown }, about)
            #expect(first < last, about)
        }
    }

    @Test(arguments: 31...38 as ClosedRange<UInt64>)
    func `in a random history it is where a walk through all states finds it`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 40)
        let store = history.store
        let head = try store.head()
        /// The number of objects ever made, which never decreases.
        func hasSeen(_ count: Int, at place: SequenceNumber) throws -> Bool {
            var seen: Set<ObjectID> = []
            try store.entries(through: place) { entry in
                seen.formUnion(entry.changes.map(\.object))
                return .proceed
            }
            return seen.count >= count
        }
        for wanted in stride(from: 1, through: 40, by: 7) {
            let walked = try (1...head.rawValue).first { try hasSeen(wanted, at: .init($0)) }
            var bisection = Bisection { try hasSeen(wanted, at: $0) ? .yes : .no }

            let outcome = try bisection.run(from: SequenceNumber(1), to: head)

            let expected = walked.map { Bisection.Outcome.turn(SequenceNumber($0), to: .yes) }
            #expect(outcome == expected ?? .noTurn(.no), "seed \(seed), \(wanted) objects")
        }
    }

    @Test func `a way backwards is a mistake of the caller`() async {
        await #expect(processExitsWith: .failure) {
            var bisection = Bisection { _ in .yes }
            _ = try bisection.run(from: SequenceNumber(2), to: SequenceNumber(1))
        }
    }
}
