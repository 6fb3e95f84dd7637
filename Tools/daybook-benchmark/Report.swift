import Foundation

/// The figures of a run, and their two forms: a table and JSON.
struct Report: Encodable {
    /// The figures of one contender at one workload.
    struct Series: Encodable {
        let contender: String
        var samples: [Double] = []

        var median: Double { Self.median(samples) }
        var minimum: Double { samples.min() ?? .nan }
        var maximum: Double { samples.max() ?? .nan }

        private enum Key: String, CodingKey {
            case contender, samples, median, minimum, maximum
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(contender, forKey: .contender)
            try container.encode(samples, forKey: .samples)
            try container.encode(median, forKey: .median)
            try container.encode(minimum, forKey: .minimum)
            try container.encode(maximum, forKey: .maximum)
        }

        static func median(_ samples: [Double]) -> Double {
            guard !samples.isEmpty else { return .nan }
            let sorted = samples.sorted()
            let middle = sorted.count / 2
            return sorted.count % 2 == 1
                ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        }
    }

    /// One line of the table.
    struct Line: Encodable {
        let workload: String
        let title: String
        let measure: Measure
        var series: [Series]
        /// Daybook's median divided by the peer's, by the peer's name.
        var ratios: [String: Double] = [:]
    }

    let scale: String
    let rounds: Int
    private(set) var lines: [Line] = []
    private let contenders: [String]

    private enum CodingKeys: String, CodingKey {
        case scale, rounds, lines, contenders
    }

    init(options: Options, contenders: [String]) {
        scale = options.scale.name
        rounds = options.rounds
        self.contenders = contenders
    }

    // MARK: - Gathering

    mutating func add(_ workload: any Workload) {
        lines.append(
            Line(
                workload: workload.letter, title: workload.title, measure: workload.measure,
                series: contenders.map { Series(contender: $0) }))
    }

    mutating func note(_ figure: Double, of workload: any Workload, by place: Int) {
        guard let line = lines.firstIndex(where: { $0.workload == workload.letter }) else {
            return
        }
        lines[line].series[place].samples.append(figure)
        lines[line].ratios = ratios(lines[line])
    }

    private func ratios(_ line: Line) -> [String: Double] {
        guard let own = line.series.first(where: { $0.contender == DaybookContender.name }),
            !own.samples.isEmpty
        else { return [:] }
        var ratios: [String: Double] = [:]
        for peer in line.series where peer.contender != own.contender && !peer.samples.isEmpty {
            ratios[peer.contender] = own.median / peer.median
        }
        return ratios
    }

    // MARK: - Printing

    /// The report as JSON, keys sorted.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The report as a table for people.
    func table() -> String {
        let peers = contenders.filter { $0 != DaybookContender.name }
        let hasRatios = contenders.contains(DaybookContender.name)
        var rows: [[String]] = [
            ["work"] + contenders + (hasRatios ? peers.map { "to \($0)" } : [])
        ]
        for line in lines {
            var row = ["(\(line.workload)) \(line.title)"]
            row += line.series.map { text($0, line.measure) }
            if hasRatios {
                row += peers.map { peer in line.ratios[peer].map { $0.fixed(2) } ?? "-" }
            }
            rows.append(row)
        }
        let times = rounds == 1 ? "1 round" : "\(rounds) rounds"
        return """
            Scale '\(scale)', \(times): median (least to greatest).
            Rates are in things a second, where a ratio above 1 means that Daybook does more; for
            bytes and times a ratio above 1 means that it needs more.

            \(Self.aligned(rows))

            """
    }

    private func text(_ series: Series, _ measure: Measure) -> String {
        let figures = [series.median, series.minimum, series.maximum]
            .map { figure in
                switch measure {
                case .perSecond: Int(figure).grouped
                case .bytes: (figure / 1e6).fixed(1)
                case .seconds: (figure * 1e3).fixed(2)
                }
            }
        let unit =
            switch measure {
            case .perSecond: "/s"
            case .bytes: " MB"
            case .seconds: " ms"
            }
        return "\(figures[0])\(unit) (\(figures[1]) to \(figures[2]))"
    }

    /// Rows in columns of equal width, the first column to the left and the others to the right.
    static func aligned(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + padding : padding + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension Int {
    /// With commas between groups of three digits.
    var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}

extension Double {
    /// With a fixed number of decimals.
    func fixed(_ decimals: Int) -> String {
        String(format: "%.\(decimals)f", self)
    }
}
