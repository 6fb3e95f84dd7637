// Measures stores that are shared through PostgreSQL, on the servers of 'Tools/cluster'. Run by 'Tools/benchmark
// --shared', which starts them.

import Foundation

let words = Array(CommandLine.arguments.dropFirst())
do {
    // Not for users: a process of the measurement.
    if words.first == Node.word {
        try Node.run(Array(words.dropFirst()))
    } else {
        let numbers = words.compactMap(Int.init)
        guard numbers.count == words.count, numbers.count <= 2 else {
            print("usage: daybook-shared-benchmark [ROUNDS [SAVES]]")
            exit(2)
        }
        let measurements = Measurements(
            rounds: numbers.first ?? 5, saves: numbers.dropFirst().first ?? 400)
        FileHandle.standardOutput.write(
            Data(
                "| work | Daybook | peer | ratio | asked |\n| --- | ---: | ---: | ---: | ---: |\n"
                    .utf8))
        try measurements.run { line in
            let text =
                "| \(line.work) | \(line.figure) | \(line.peer) | \(line.ratio) | \(line.asked) |\n"
            FileHandle.standardOutput.write(Data(text.utf8))
        }
    }
} catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
}
