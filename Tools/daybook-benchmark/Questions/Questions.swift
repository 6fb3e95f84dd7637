import Daybook
import Foundation

/// Asks Daybook and SQLite the same questions about the same staff.
struct Questions {
    private let staff: Staff
    private let rounds: Int
    private let questions: [Question]
    private let contenders: [String]

    init(_ options: Options) {
        staff = Staff(scaleName: options.scale.name)
        rounds = options.rounds
        questions = options.asksAll ? Question.allCases : options.questions
        contenders = Self.contenders(options)
    }

    /// The names of those who are asked.
    static func contenders(_ options: Options) -> [String] {
        let names = [DaybookStaff.name, SQLiteStaff.name]
        return options.peers.isEmpty ? names : names.filter(options.peers.contains)
    }

    /// Makes both stores, asks each question in turns, and adds the rates to a report.
    ///
    /// - Parameter report: The report.
    /// - Throws: ``WrongResult`` when the answers differ, and errors of the libraries.
    func run(addingTo report: inout Report) throws {
        guard !questions.isEmpty else { return }
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let contenders = try self.contenders.map { name -> any Questioned in
            if name == SQLiteStaff.name { return try SQLiteStaff(in: folder.url, staff) }
            return try DaybookStaff(in: folder.url, staff)
        }
        for question in questions {
            var samples = [[Double]](repeating: [], count: contenders.count)
            // How often it is asked for one sample: a clock says little of a few microseconds.
            var times = 1
            // One turn before the others, after which the file is in memory.
            for turn in 0...max(rounds, 5) {
                var answers: [Int] = []
                var longest = 0.0
                for step in contenders.indices {
                    let index = (step + turn) % contenders.count
                    let contender = contenders[index]
                    var answer = 0
                    let seconds = try Stopwatch.seconds {
                        for time in 0..<times {
                            answer += try contender.answer(question, turn: turn * times + time)
                        }
                    }
                    longest = max(longest, seconds)
                    answers.append(answer)
                    if turn > 0 { samples[index].append(Double(times) / seconds) }
                }
                if turn == 0 { times = max(1, min(50, Int(0.005 / longest))) }
                guard Set(answers).count == 1 else {
                    throw WrongResult(
                        DaybookStaff.name, question.title, expected: answers[1], found: answers[0])
                }
            }
            report.add(
                question.rawValue, "\(question.title), of \(staff.count.grouped)", .perSecond,
                question.target, zip(self.contenders, samples).map { ($0, $1) })
        }
        if questions.count == Question.allCases.count, let daybook = contenders[0] as? DaybookStaff
        {
            try addSaves(into: daybook, to: &report)
            try addPending(over: daybook, to: &report)
            try addThePast(of: daybook, to: &report)
        }
        for contender in contenders { try contender.close() }
    }

    /// Asks Daybook right after a save, when nothing of the new state has been checked yet.
    private func addSaves(into store: DaybookStaff, to report: inout Report) throws {
        var times: (first: [Double], later: [Double]) = ([], [])
        for turn in 0...max(rounds, 5) {
            try store.changeRemark(turn)
            let first = try Stopwatch.seconds { _ = try store.answer(.count, turn: turn) }
            let later = try Stopwatch.seconds { _ = try store.answer(.count, turn: turn) }
            guard turn > 0 else { continue }
            times.first.append(first)
            times.later.append(later)
        }
        report.add(
            "s", "(q10) as the first question after a save, against the next one", .times, nil,
            [Report.Series.median(times.first) / Report.Series.median(times.later)])
    }

    /// Asks Daybook in contexts with pending changes, and in children of those.
    private func addPending(over store: DaybookStaff, to report: inout Report) throws {
        let questions: [(letter: String, Question)] = [
            ("u", .indexedRange), ("u'", .firstInIndexOrder), ("u''", .count),
        ]
        for (letter, question) in questions {
            var clean: [Double] = []
            var pending: [Double] = []
            var child: [Double] = []
            for turn in 0...max(rounds, 5) {
                let without = try store.answerOverPending(question, turn: turn, changes: 0)
                let with = try store.answerOverPending(question, turn: turn, changes: 10)
                guard turn > 0 else { continue }
                clean.append(without.context)
                pending.append(with.context)
                child.append(with.child)
            }
            let one = Report.Series.median(clean)
            report.add(
                letter, "(\(question.rawValue)) with 10 pending changes, against none", .times, nil,
                [Report.Series.median(pending) / one])
            report.add(
                letter + "c", "the same in a child of that context", .times, nil,
                [Report.Series.median(child) / one])
        }
    }

    /// Asks Daybook the same before a tenth of the rows was changed, as of the moment before, and as of
    /// moments in between that nobody has asked about.
    private func addThePast(of store: DaybookStaff, to report: inout Report) throws {
        let moment = try store.head()
        let turns = max(rounds, 5)
        var expected: [Int] = []
        let question = Question.indexedEquality
        for turn in 0...turns { expected.append(try store.answer(question, turn: turn)) }
        try store.changeBadges()
        let head = try store.head()
        var times: (now: [Double], then: [Double], first: [Double]) = ([], [], [])
        for turn in 0...turns {
            var answer = 0
            func askNow() throws -> Double {
                try Stopwatch.seconds { _ = try store.answer(question, turn: turn) }
            }
            func askThen() throws -> Double {
                try Stopwatch.seconds {
                    answer = try store.answer(question, turn: turn, at: moment)
                }
            }
            // Whoever comes second finds the same rows in the processor's cache.
            let isFirst = turn % 2 == 0
            let early = isFirst ? try askNow() : 0
            let then = try askThen()
            let now = isFirst ? early : try askNow()
            let passed = UInt64(10 + turn % 10)
            let recent = SequenceNumber(
                max(moment.rawValue + passed, head.rawValue) - passed)
            let first = try Stopwatch.seconds {
                _ = try store.answer(question, turn: turn, at: recent)
            }
            guard answer == expected[turn] else {
                throw WrongResult(
                    DaybookStaff.name, question.title, expected: expected[turn], found: answer)
            }
            // The first time the changes since are gathered.
            guard turn > 0 else { continue }
            times.now.append(now)
            times.then.append(then)
            times.first.append(first)
        }
        let now = Report.Series.median(times.now)
        report.add(
            "z", "as-of indexed fetch, a tenth changed since, against current fetch", .times,
            .figure(3, aim: 1.5), [Report.Series.median(times.then) / now])
        report.add(
            "z'", "the first one as of a moment, a thousand or two changed since", .times, nil,
            [Report.Series.median(times.first) / now])
    }
}
