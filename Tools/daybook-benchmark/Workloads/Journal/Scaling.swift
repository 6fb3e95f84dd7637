import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// The times of single queries in stores of increasing length.
///
/// Every store has the same shape: many objects, some of them updated occasionally, and ten that
/// every entry updates. So a store of a million changes has ten objects of ten thousand versions
/// each, whose label has not changed since the beginning. Ten million changes come in as many
/// entries as one million, each ten times as large, or they would take too long to make.
struct Scaling {
    /// The queries, in the order of the table.
    enum Question: String, CaseIterable, Encodable {
        case pointRead = "read an object as it is"
        case pastRead = "read an object as of an entry"
        case blame = "blame a property of an object updated by every entry"
        case proof = "prove that an entry is in the journal"
        case checkpoint = "take a checkpoint"
        case opening = "open the store"
    }

    /// The numbers of changes of the stores.
    let sizes: [Int]

    init(scaleName: String) {
        switch scaleName {
        case "tiny": sizes = [1_000, 10_000]
        case "full": sizes = [10_000, 100_000, 1_000_000, 10_000_000]
        default: sizes = [10_000, 100_000, 1_000_000]
        }
    }

    /// Builds the stores in turn and queries each.
    func run() throws -> ScalingReport {
        var report = ScalingReport(sizes: sizes)
        for size in sizes {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let path = folder.url.appendingPathComponent("scaling.daybook").path
            let builder = try ScalingStore(at: path, changes: size)
            let store = builder.store
            report.buildSeconds.append(builder.seconds)
            try store.close()
            for question in Question.allCases {
                report.record(try builder.times(of: question, at: path), of: question)
            }
        }
        return report
    }
}

/// The figures of all stores: medians in microseconds.
struct ScalingReport: Encodable {
    struct Line: Encodable {
        let question: String
        var microseconds: [Double] = []
        /// Each median divided by the one of the smallest store.
        var ratios: [Double] { microseconds.map { $0 / (microseconds.first ?? .nan) } }

        private enum Key: String, CodingKey {
            case question, microseconds, ratios
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(question, forKey: .question)
            try container.encode(microseconds, forKey: .microseconds)
            try container.encode(ratios, forKey: .ratios)
        }
    }

    let sizes: [Int]
    var buildSeconds: [Double] = []
    private var samplesOfLargest: [Scaling.Question: [Double]] = [:]
    private(set) var lines = Scaling.Question.allCases.map { Line(question: $0.rawValue) }

    private enum CodingKeys: String, CodingKey {
        case sizes, buildSeconds, lines
    }

    init(sizes: [Int]) {
        self.sizes = sizes
    }

    mutating func record(_ microseconds: [Double], of question: Scaling.Question) {
        guard let line = lines.firstIndex(where: { $0.question == question.rawValue }) else {
            return
        }
        lines[line].microseconds.append(Report.Series.median(microseconds))
        samplesOfLargest[question] = microseconds
    }

    /// The times of single queries in the largest store, in microseconds.
    func samples(of question: Scaling.Question) -> [Double] {
        samplesOfLargest[question] ?? []
    }

    /// The report as JSON, keys sorted.
    func json() throws -> String {
        try Report.text(of: self)
    }

    /// The report as a table for people.
    func table() -> String {
        var rows = [["median, and ratio to the smallest"] + sizes.map { "\($0.grouped) changes" }]
        for line in lines {
            rows.append(
                [line.question]
                    + zip(line.microseconds, line.ratios).map {
                        "\($0.fixed(1)) µs (\($1.fixed(2)))"
                    })
        }
        rows.append(["made in"] + buildSeconds.map { "\($0.fixed(1)) s" })
        return Report.aligned(rows) + "\n"
    }
}
