import Foundation

/// Asks Daybook and SQLite the same questions about the same staff.
struct Questions {
    private let staff: Staff
    private let rounds: Int

    init(scaleName: String, rounds: Int) {
        staff = Staff(scaleName: scaleName)
        self.rounds = rounds
    }

    /// Makes both stores, asks each question in turns, and adds the rates to a report.
    ///
    /// - Parameter report: The report.
    /// - Throws: ``WrongResult`` when the answers differ, and errors of the libraries.
    func run(addingTo report: inout Report) throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let names = [DaybookStaff.name, SQLiteStaff.name]
        let contenders: [any Questioned] = [
            try DaybookStaff(in: folder.url, staff), try SQLiteStaff(in: folder.url, staff),
        ]
        for question in Question.allCases {
            var samples = [[Double]](repeating: [], count: contenders.count)
            // One turn before the others, after which the file is in memory.
            for turn in 0...max(rounds, 5) {
                var answers: [Int] = []
                for step in contenders.indices {
                    let index = (step + turn) % contenders.count
                    let contender = contenders[index]
                    var answer = 0
                    let seconds = try Stopwatch.seconds {
                        answer = try contender.answer(question, turn: turn)
                    }
                    answers.append(answer)
                    if turn > 0 { samples[index].append(1 / seconds) }
                }
                guard Set(answers).count == 1 else {
                    throw WrongResult(
                        DaybookStaff.name, question.title, expected: answers[1], found: answers[0])
                }
            }
            report.add(
                question.rawValue, "\(question.title), of \(staff.count.grouped)", .perSecond,
                question.target, zip(names, samples).map { ($0, $1) })
        }
        for contender in contenders { try contender.close() }
    }
}
