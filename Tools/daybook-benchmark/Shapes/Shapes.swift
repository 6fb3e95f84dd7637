import Foundation

/// Asks Daybook and SQLite the same questions about stores of other shapes.
struct Shapes {
    private let sample: ShapeSample
    private let turns: Int
    private let shapes: [Shape]
    private let contenders: [String]

    init(_ options: Options) {
        // One turn before the others, after which the file is in memory.
        turns = max(options.rounds, 5) + 1
        sample = ShapeSample(scaleName: options.scale.name, turns: turns)
        shapes = options.asksAll ? Shape.allCases : options.shapes
        contenders = Questions.contenders(options)
    }

    /// Makes all stores, asks each question in turns, and adds the figures to a report.
    ///
    /// - Parameter report: The report.
    /// - Throws: ``WrongResult`` when the answers differ, and errors of the libraries.
    func run(addingTo report: inout Report) throws {
        guard !shapes.isEmpty else { return }
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let contenders = try self.contenders.map { name -> any Shaped in
            if name == SQLiteShapes.name { return try SQLiteShapes(in: folder.url, sample) }
            return try DaybookShapes(in: folder.url, sample)
        }
        for shape in shapes {
            let samples = try ask(shape, contenders)
            report.add(
                shape.rawValue, shape.title(sample), shape.measure, shape.target,
                zip(self.contenders, samples).map { ($0, $1) })
        }
        for contender in contenders { try contender.close() }
    }

    private func ask(_ shape: Shape, _ contenders: [any Shaped]) throws -> [[Double]] {
        var samples = [[Double]](repeating: [], count: contenders.count)
        for turn in 0..<turns {
            var answers: [Int] = []
            for step in contenders.indices {
                let index = (step + turn) % contenders.count
                let (seconds, answer) = try contenders[index].answer(shape, turn: turn)
                answers.append(answer)
                if turn > 0 { samples[index].append(shape.figure(seconds)) }
            }
            guard Set(answers).count == 1 else {
                throw WrongResult(
                    DaybookShapes.name, shape.title(sample), expected: answers[1],
                    found: answers[0])
            }
        }
        return samples
    }
}
