import Foundation

/// Asks Daybook and SQLite the same questions about the past of the same accounts.
struct PastQuestions {
    /// The name by which sums, which are no question, are asked for.
    static let sums = "j'"

    private let sample: PastSample
    private let turns: Int
    private let questions: [PastQuestion]
    private let asksForSums: Bool
    private let contenders: [String]

    init(_ options: Options) {
        sample = PastSample(scaleName: options.scale.name)
        turns = max(options.rounds, 5)
        questions = options.asksAll ? PastQuestion.allCases : options.pastQuestions
        asksForSums = options.asksAll || options.asksForSums
        contenders = Questions.contenders(options)
    }

    /// Makes both stores, asks each question in turns, and adds the figures to a report.
    ///
    /// - Parameter report: The report.
    /// - Throws: ``WrongResult`` when the answers differ, and errors of the libraries.
    func run(addingTo report: inout Report) throws {
        guard !questions.isEmpty || asksForSums else { return }
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let contenders = try self.contenders.map { name -> any AskedAboutThePast in
            if name == SQLitePast.name { return try SQLitePast(in: folder.url, sample) }
            return try DaybookPast(in: folder.url, sample)
        }
        for question in questions {
            let title = question.title(sample)
            let samples = try inTurns(contenders, title) { contender, turn in
                var answer = 0
                let seconds = try Stopwatch.seconds {
                    answer = try contender.answer(question, turn: turn)
                }
                return (1 / seconds, answer)
            }
            add(question.rawValue, title, .perSecond, samples, to: &report)
        }
        if asksForSums { try addSums(by: contenders, to: &report) }
        for contender in contenders { try contender.close() }
    }

    /// Sums worked out of all that was ever saved, and kept right with each save.
    private func addSums(by contenders: [any AskedAboutThePast], to report: inout Report) throws {
        let title = "sums by author worked out of \(sample.changes.grouped) changes of the past"
        let whole = try inTurns(contenders, title) { contender, _ in
            try contender.forgetSums()
            let seconds = try Stopwatch.seconds { try contender.catchUp() }
            return (Double(sample.changes) / seconds, try contender.sums())
        }
        add(Self.sums, title, .perSecond, whole, to: &report)
        let other = "the same sums made right after a save of \(PastSample.saveLength) changes"
        let each = try inTurns(contenders, other) { contender, turn in
            try contender.save(sample.saves + 1 + turn)
            let seconds = try Stopwatch.seconds { try contender.catchUp() }
            return (seconds, try contender.sums())
        }
        add("j''", other, .seconds, each, to: &report)
    }

    /// What each contender's figure is in each turn but the first, after which the file is in memory.
    private func inTurns(
        _ contenders: [any AskedAboutThePast], _ title: String,
        _ body: (any AskedAboutThePast, Int) throws -> (figure: Double, answer: Int)
    ) throws -> [[Double]] {
        var samples = [[Double]](repeating: [], count: contenders.count)
        for turn in 0...turns {
            var answers: [Int] = []
            for step in contenders.indices {
                let index = (step + turn) % contenders.count
                let (figure, answer) = try body(contenders[index], turn)
                answers.append(answer)
                if turn > 0 { samples[index].append(figure) }
            }
            guard Set(answers).count == 1 else {
                throw WrongResult(
                    DaybookPast.name, title, expected: answers[1], found: answers[0])
            }
        }
        return samples
    }

    private func add(
        _ letter: String, _ title: String, _ measure: Measure, _ samples: [[Double]],
        to report: inout Report
    ) {
        report.add(letter, title, measure, nil, zip(contenders, samples).map { ($0, $1) })
    }
}
