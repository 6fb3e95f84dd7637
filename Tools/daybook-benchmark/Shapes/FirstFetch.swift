import Foundation

/// A question that is the first thing a process does.
///
/// The process is this program again. It opens a store, finds one object by an index, closes the store, and tells how
/// long that took from its beginning on. Loading the program, which is the same for both, does not count.
enum FirstFetch {
    /// The word that makes this program the other process.
    static let word = "--first-fetch"

    /// Has several processes do so, one after the other.
    ///
    /// - Returns: The median of the seconds, and the last answer.
    static func ask(
        _ name: String, _ number: Int, in folder: URL
    ) throws -> (seconds: Double, answer: Int) {
        guard let program = Bundle.main.executableURL else { return (.nan, 0) }
        var times: [Double] = []
        var answer = 0
        for _ in 0..<9 {
            let (child, output) = (Process(), Pipe())
            child.executableURL = program
            child.arguments = [
                word, name, folder.path, "\(number)", Stopwatch.clock.rawValue,
            ]
            child.standardOutput = output
            try child.run()
            let text = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            child.waitUntilExit()
            let parts = text.split(separator: " ")
            guard parts.count == 2, let seconds = Double(parts[0]), let found = Int(parts[1]) else {
                throw PeerFailure(word, "the process said '\(text)'")
            }
            times.append(seconds)
            answer = found
        }
        return (Report.Series.median(times), answer)
    }

    /// What the other process does.
    static func answer(_ words: [String]) throws {
        guard words.count == 4, let number = Int(words[2]) else { return }
        Stopwatch.clock = Stopwatch.Clock(rawValue: words[3]) ?? .wall
        let folder = URL(fileURLWithPath: words[1], isDirectory: true)
        var answer = 0
        let seconds = try Stopwatch.seconds {
            answer =
                words[0] == SQLiteShapes.name
                ? try SQLiteShapes.fetchParcel(number, in: folder)
                : try DaybookShapes.fetchParcel(number, in: folder)
        }
        print(seconds, answer, terminator: "")
    }
}
