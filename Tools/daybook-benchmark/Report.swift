import Foundation

/// The figures of a run, for output as a table, as JSON, as Markdown and as a chart.
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
            guard !samples.isEmpty else { return }
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
        /// What is asked of Daybook, if anything is.
        let target: Target?
        var series: [Series]
        /// Daybook's median divided by the peer's, by the peer's name.
        var ratios: [String: Double] = [:]
        /// Whether Daybook meets its goal; nil without a goal, or when it was not measured.
        var isMet: Bool?

        /// The figures of a contender; nil when it does not support the workload or was not chosen.
        func series(of contender: String) -> Series? {
            series.first { $0.contender == contender }
        }

        mutating func compare() {
            guard let own = series(of: DaybookContender.name), !own.samples.isEmpty else { return }
            for peer in series where peer.contender != own.contender && !peer.samples.isEmpty {
                ratios[peer.contender] = own.median / peer.median
            }
            guard let target else { return }
            let value =
                target.basis == .figure ? own.median : ratios[SQLiteContender.name]
            isMet = value.map { target.isMet(by: $0, measure) }
        }
    }

    let scale: String
    let rounds: Int
    /// The kind of time measured.
    let clock: Stopwatch.Clock
    let machine: Machine
    let contenders: [String]
    private(set) var lines: [Line] = []
    /// The growth of times with the length of a store.
    var scaling: ScalingReport?
    /// The times of merges in contexts of increasing size.
    var merging: MergingReport?
    /// The memory of objects, and other counts.
    var counts: Counts?
    /// The duration of the whole run.
    var seconds: Double?

    init(options: Options, contenders: [String]) {
        scale = options.scale.name
        rounds = options.rounds
        clock = options.clock
        machine = Machine(compiler: options.compiler)
        self.contenders = contenders
    }

    // MARK: - Gathering

    mutating func add(_ workload: any Workload, by contenders: [any Contender.Type]) {
        lines.append(
            Line(
                workload: workload.letter, title: workload.title, measure: workload.measure,
                target: workload.target,
                series: contenders.filter(workload.concerns).map { Series(contender: $0.name) }))
    }

    /// Adds the figures of Daybook alone.
    mutating func add(
        _ letter: String, _ title: String, _ measure: Measure, _ target: Target?,
        _ samples: [Double]
    ) {
        add(letter, title, measure, target, [(DaybookContender.name, samples)])
    }

    /// Adds the figures of several contenders.
    mutating func add(
        _ letter: String, _ title: String, _ measure: Measure, _ target: Target?,
        _ samples: [(contender: String, figures: [Double])]
    ) {
        var line = Line(
            workload: letter, title: title, measure: measure, target: target,
            series: samples.map { Series(contender: $0.contender, samples: $0.figures) })
        line.compare()
        lines.append(line)
    }

    mutating func record(_ figure: Double, of workload: any Workload, by contender: String) {
        guard let line = lines.firstIndex(where: { $0.workload == workload.letter }),
            let series = lines[line].series.firstIndex(where: { $0.contender == contender })
        else { return }
        lines[line].series[series].samples.append(figure)
        lines[line].compare()
    }

    // MARK: - Output

    /// The report as JSON, keys sorted.
    func json() throws -> String {
        try Self.text(of: self)
    }

    /// Something as JSON, keys sorted.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension Int {
    /// With commas between groups of three digits.
    var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
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
