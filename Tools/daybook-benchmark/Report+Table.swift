/// The report in tables: one for a terminal, one in Markdown.
extension Report {
    private var peers: [String] { contenders.filter { $0 != DaybookContender.name } }

    /// The report as a table for people.
    func table() -> String {
        let hasRatios = contenders.contains(DaybookContender.name)
        let judged = hasRatios ? peers.map { "to \($0)" } + ["asked", "met"] : []
        var rows: [[String]] = [["work"] + contenders + judged]
        for line in lines {
            var row = ["(\(line.workload)) \(line.title)"]
            row += contenders.map { spread(line, $0) }
            if hasRatios {
                row += peers.map { peer in line.ratios[peer].map { $0.fixed(2) } ?? "-" }
                row += [bound(line), line.isMet.map { $0 ? "yes" : "NO" } ?? ""]
            }
            rows.append(row)
        }
        let times = rounds == 1 ? "1 round" : "\(rounds) rounds"
        let duration = seconds.map { "The run took \(Int($0)) s.\n" } ?? ""
        return """
            Scale '\(scale)', \(times), \(clock.rawValue): median (least to greatest).
            Rates are in things a second, where a ratio above 1 means that Daybook does more; for
            bytes and times a ratio above 1 means that it needs more. What is asked is a ratio to
            SQLite, or where it has a unit, Daybook's own figure.
            \(machine.sentence)

            \(Self.aligned(rows))
            \(duration)
            """
    }

    /// All tables of the report for people.
    func wholeTable() -> String {
        [table(), scaling?.table(), merging?.table()].compactMap { $0 }.joined(separator: "\n")
    }

    /// The report as a table in Markdown: medians, ratios and goals.
    func markdown() -> String {
        let head = ["work"] + contenders + peers.map { "to \($0)" } + ["asked", "met"]
        var rows = [head, head.indices.map { $0 == 0 ? "---" : "---:" }]
        for line in lines {
            var row = ["(\(line.workload)) \(line.title)"]
            row += contenders.map { contender in
                line.series(of: contender).map { text($0.median, line.measure) } ?? ""
            }
            row += peers.map { peer in line.ratios[peer].map { $0.fixed(2) } ?? "" }
            row += [bound(line), line.isMet.map { $0 ? "yes" : "**no**" } ?? ""]
            rows.append(row)
        }
        let table = rows.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
        return
            "Measured on \(machine.date.prefix(10)), \(rounds) rounds, \(clock.rawValue): \(machine.sentence)\n\n"
            + table + "\n"
    }

    private func spread(_ line: Line, _ contender: String) -> String {
        guard let series = line.series(of: contender), !series.samples.isEmpty else { return "-" }
        let median = text(series.median, line.measure)
        let least = number(series.minimum, line.measure)
        return "\(median) (\(least) to \(number(series.maximum, line.measure)))"
    }

    private func bound(_ line: Line) -> String {
        guard let target = line.target else { return "" }
        let sign = line.measure.isMoreBetter ? "≥" : "≤"
        return target.basis == .ratioToSQLite
            ? "\(sign) \(target.bound.fixed(2))" : "\(sign) \(text(target.bound, line.measure))"
    }

    private func text(_ figure: Double, _ measure: Measure) -> String {
        number(figure, measure) + Self.unit(of: measure)
    }

    private func number(_ figure: Double, _ measure: Measure) -> String {
        guard figure.isFinite else { return "-" }
        return switch measure {
        case .perSecond: Int(figure).grouped
        case .bytes: (figure / 1e6).fixed(1)
        case .seconds: (figure * 1e3).fixed(2)
        case .bytesEach: Int(figure.rounded()).grouped
        case .times: figure.fixed(2)
        }
    }

    private static func unit(of measure: Measure) -> String {
        switch measure {
        case .perSecond: "/s"
        case .bytes: " MB"
        case .seconds: " ms"
        case .bytesEach: " bytes"
        case .times: " times"
        }
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
