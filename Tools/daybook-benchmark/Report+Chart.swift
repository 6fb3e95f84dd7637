/// The ratios as a chart.
extension Report {
    /// One group of bars: Daybook and LMDB alone, relative to SQLite.
    private struct Group {
        let title: String
        let bars: [(contender: String, value: Double)]
        let isMet: Bool?
    }

    /// The report as an SVG picture: bars of ratios to SQLite, longer being better.
    ///
    /// Its colours follow the reader's preference for light or dark. Text is text. The scale is made
    /// for Daybook's bars; a bar of LMDB's that is longer ends at the edge and has its figure beside it.
    func chart() -> String {
        let groups = groups
        let longest = groups.compactMap { $0.bars.first?.value }.max() ?? 1
        let end = max(2, (longest * 1.2).rounded(.up))
        let step = Double(Self.barsWidth) / end
        let top = 84
        let bottom = top + groups.count * Self.groupHeight
        let height = bottom + 44
        var svg = Self.head(height, Self.summary(groups), machine.sentence)
        for mark in Self.marks(end) {
            let x = Self.barsStart + Int(mark * step)
            let style = mark == 1 ? "one" : "grid"
            svg +=
                "<line class=\"\(style)\" x1=\"\(x)\" y1=\"\(top - 6)\" x2=\"\(x)\" "
                + "y2=\"\(bottom)\"/>\n"
            svg +=
                "<text class=\"mark\" x=\"\(x)\" y=\"\(bottom + 16)\">"
                + "\(mark == 1 ? "SQLite = 1" : mark.fixed(0))</text>\n"
        }
        for (index, group) in groups.enumerated() {
            svg += Self.drawing(of: group, at: top + index * Self.groupHeight, step)
        }
        return svg + "</svg>\n"
    }

    private var groups: [Group] {
        lines.compactMap { line in
            guard line.target?.basis == .ratioToSQLite,
                let sqlite = line.series(of: SQLiteContender.name)?.median, sqlite > 0
            else { return nil }
            let bars = [DaybookContender.name, LMDBContender.name].compactMap { name in
                line.series(of: name).map { series in
                    let ratio = series.median / sqlite
                    return (name, line.measure.isMoreBetter ? ratio : 1 / ratio)
                }
            }
            guard bars.allSatisfy({ $0.1.isFinite }) else { return nil }
            let note = line.measure.isMoreBetter ? "" : " (turned round)"
            return Group(title: line.title + note, bars: bars, isMet: line.isMet)
        }
    }

    // MARK: - Drawing

    private static let width = 790
    private static let barsStart = 350
    private static let barsWidth = 370
    private static let groupHeight = 40

    /// The labels of the scale: at some whole numbers, and always at 1.
    private static func marks(_ end: Double) -> [Double] {
        let distance = max(1, (end / 6).rounded(.up))
        let marks = Array(stride(from: 0, through: end, by: distance))
        // A label too near to that of 1 is dropped.
        return [1] + marks.filter { $0 == 0 || $0 >= 1 + distance * 0.9 }
    }

    private static func drawing(of group: Group, at y: Int, _ step: Double) -> String {
        var svg =
            "<text class=\"work\" x=\"\(barsStart - 10)\" y=\"\(y + 18)\">"
            + "\(escaped(group.title))</text>\n"
        for (row, bar) in group.bars.enumerated() {
            let isOwn = row == 0
            let top = y + (isOwn ? 2 : 18)
            let isCut = bar.value * step > Double(barsWidth)
            let width = isCut ? barsWidth : max(1, Int(bar.value * step))
            svg +=
                "<rect class=\"\(isOwn ? "own" : "peer")\" x=\"\(barsStart)\" y=\"\(top)\" "
                + "width=\"\(width)\" height=\"\(isOwn ? 15 : 8)\"><title>"
                + "\(escaped(bar.contender)): \(bar.value.fixed(2))</title></rect>\n"
            guard isOwn || isCut else { continue }
            let judgement = isOwn && group.isMet == false ? ", below what is asked" : ""
            svg +=
                "<text class=\"\(isOwn ? "value" : "beyond")\" x=\"\(barsStart + width + 5)\" "
                + "y=\"\(top + (isOwn ? 12 : 8))\">\(bar.value.fixed(2))\(judgement)</text>\n"
        }
        return svg
    }

    private static func head(_ height: Int, _ summary: String, _ machine: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
        width="\(width)" height="\(height)" role="img" aria-labelledby="title desc">
        <title id="title">Daybook and LMDB compared with SQLite</title>
        <desc id="desc">\(escaped(summary)) \(escaped(machine))</desc>
        <style>
        \(String(decoding: PackageResources.chart_css.dropLast(), as: UTF8.self))
        </style>
        <rect class="paper" width="\(width)" height="\(height)"/>
        <text class="head" x="20" y="28">Times SQLite's figure, longer is better</text>
        <rect class="own" x="20" y="42" width="22" height="12"/>
        <text x="48" y="52">Daybook, through managed objects</text>
        <rect class="peer" x="290" y="44" width="22" height="8"/>
        <text x="318" y="52">LMDB by itself, the limit</text>

        """
    }

    private static func summary(_ groups: [Group]) -> String {
        groups.map { group in
            let figures = group.bars.map { "\($0.contender) \($0.value.fixed(2))" }
            return "\(group.title): \(figures.joined(separator: ", "))."
        }.joined(separator: " ")
    }

    /// Text escaped for XML.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
