import Foundation

/// A question about objects unlike those of ``Question``, or asked of a store that is not at hand.
enum Shape: String, CaseIterable {
    case cold = "c0"
    case firstFetch = "g''"
    case newProcess = "g'''"
    case wideRange = "q12"
    case wideScan = "q13"
    case longTexts = "q14"
    case members = "q15"

    func title(_ sample: ShapeSample) -> String {
        switch self {
        case .cold:
            "\(ShapeSample.coldReads) faults of \(sample.parcels.grouped) by ID, in no cache"
        case .firstFetch:
            "open \(sample.parcels.grouped), find one by an index, close; in one process"
        case .newProcess: "the same as the first thing that a process does"
        case .wideRange:
            "1,000 of \(sample.wides.grouped) rows of 50 attributes by an index, two read"
        case .wideScan: "1 % of those found by two terms without an index"
        case .longTexts: "1 % of \(sample.articles.grouped) texts of 4 KB found by a text within"
        case .members: "members of 100 of \(sample.boxes.grouped) objects that have 20 each"
        }
    }

    var measure: Measure {
        self == .firstFetch || self == .newProcess ? .seconds : .perSecond
    }

    /// What is asked of the same questions about people.
    var target: Target {
        switch self {
        case .cold: .toSQLite(1, aim: 2)
        case .firstFetch, .newProcess: .toSQLite(1, aim: 0.5)
        case .wideRange: .toSQLite(0.8, aim: 1.5)
        case .wideScan, .longTexts: .toSQLite(1, aim: 2)
        case .members: .toSQLite(0.7, aim: 1)
        }
    }

    /// The figure that follows from the time of an answer.
    func figure(_ seconds: Double) -> Double {
        switch self {
        case .cold: Double(ShapeSample.coldReads) / seconds
        case .firstFetch, .newProcess: seconds
        case .wideRange, .wideScan, .longTexts, .members: 1 / seconds
        }
    }
}

/// A system that is asked about these shapes.
protocol Shaped: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Makes the stores in a folder.
    init(in folder: URL, _ sample: ShapeSample) throws
    /// Answers a question.
    ///
    /// - Parameters:
    ///   - shape: The question.
    ///   - turn: How often it has been asked; the values asked for differ.
    /// - Returns: The seconds that took, and a number that follows from everything found.
    /// - Throws: Errors of the library.
    func answer(_ shape: Shape, turn: Int) throws -> (seconds: Double, answer: Int)
    /// Closes the stores.
    func close() throws
}

extension Shaped {
    /// Does the same several times.
    ///
    /// - Returns: The median of the seconds, and the last answer.
    func repeated(_ body: () throws -> Int) rethrows -> (seconds: Double, answer: Int) {
        var answer = 0
        var times: [Double] = []
        for _ in 0..<9 { times.append(try Stopwatch.seconds { answer = try body() }) }
        return (Report.Series.median(times), answer)
    }
}

/// The data: parcels of five attributes, wide rows, articles of long texts, and items in boxes, the same
/// for every contender.
struct ShapeSample: Sendable {
    let parcels: Int
    let wides: Int
    let articles: Int
    let boxes: Int
    /// The indexes of the parcels that are read, for each turn.
    let coldOrder: [[Int]]

    static let coldReads = 100
    static let itemsOfBox = 20
    static let boxesRead = 100
    /// The columns of a wide row besides its number.
    static let wideColumns: [(name: String, kind: Kind)] =
        (1...20).map { ("count\($0)", .count) } + (1...20).map { ("text\($0)", .text) }
        + (1...9).map { ("value\($0)", .value) }

    enum Kind {
        case count
        case text
        case value
    }

    init(scaleName: String, turns: Int) {
        switch scaleName {
        case "tiny": (parcels, wides, articles, boxes) = (2_000, 2_000, 200, 200)
        case "full": (parcels, wides, articles, boxes) = (1_000_000, 20_000, 10_000, 5_000)
        default: (parcels, wides, articles, boxes) = (200_000, 10_000, 2_000, 2_000)
        }
        var generator = ReadingOrder(seed: 22)
        let parcels = parcels
        coldOrder = (0..<turns).map { _ in
            (0..<Self.coldReads).map { _ in Int.random(in: 0..<parcels, using: &generator) }
        }
    }

    func name(_ index: Int) -> String { "Parcel number \(index)" }
    func street(_ index: Int) -> String { "Long Street near the Old Harbour \(index % 1_000)" }
    func grams(_ index: Int) -> Int { (index * 7_919) % 50_000 }
    func price(_ index: Int) -> Double { Double(index % 10_000) / 4 }

    /// One in fifty has the same; see ``wideValue(_:_:)``.
    func wideCount(_ column: Int, _ index: Int) -> Int { (index * 7_919 + column) % 50 }
    func wideText(_ column: Int, _ index: Int) -> String { "column \(column) of \(index)" }
    /// Half of those have at least an eighth of the number of rows.
    func wideValue(_ column: Int, _ index: Int) -> Double {
        Double((index * 104_729 + column) % wides) / 4
    }

    /// A text of 4,096 bytes; one in a hundred has the word that is looked for, each elsewhere.
    func body(_ index: Int) -> String {
        let word = (index * 31) % 100 == 7 ? "amber" : "olive"
        let start = (index * 613) % (Self.filler.utf8.count - word.utf8.count)
        let rest = Self.filler.utf8.count - start - word.utf8.count
        return "\(Self.filler.prefix(start))\(word)\(Self.filler.suffix(rest))"
    }

    private static let filler = String(
        String(repeating: "wears a hat of green felt, reads a map, and ", count: 100).prefix(4_096))

    func weight(ofItem item: Int) -> Int { (item * 7_919) % 1_000 }
    /// Those of a box are scattered over all items.
    func box(ofItem item: Int) -> Int { (item * 13) % boxes }
    func firstBox(_ turn: Int) -> Int { (turn * 37) % (boxes - Self.boxesRead + 1) }
}
