/// Rows in aligned columns.
///
/// Columns are as wide as their widest cell *looks*: `Türkiye`, `日本` and flags line up. A cell that is much wider than
/// a line overflows in its own row and does not widen the column, or one long text would fill every row with spaces.
///
/// In a file nothing is cut. On a terminal that is too narrow the widest columns of text become narrower, and what does
/// not fit in them ends with `…`; numbers are never cut. Where even that is too wide each row becomes a paragraph, with a
/// property in each line.
struct TextTable {
    /// A cell wider than this does not widen its column.
    private static let alignedWidth = 120

    /// The alignment of a cell in its column.
    enum Alignment: Sendable {
        case leading
        case trailing
    }

    /// One column: its title and the alignment of its cells.
    struct Column: Sendable {
        let title: String
        let alignment: Alignment

        init(_ title: String, _ alignment: Alignment = .leading) {
            self.title = title
            self.alignment = alignment
        }
    }

    /// One cell: any text, with control characters written out, in a style.
    struct Cell: ExpressibleByStringLiteral, Sendable {
        let text: String
        let style: Style

        init(_ text: String, _ style: Style = .plain) {
            self.text = DisplayText.escaped(text)
            self.style = style
        }

        init(stringLiteral value: String) {
            self.init(value)
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []
    private var widths: [Int]

    init(_ columns: [Column]) {
        self.columns = columns
        widths = columns.map { DisplayText.width(of: $0.title) }
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row.
    ///
    /// - Precondition: there is one cell for every column.
    mutating func append(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "A row has one cell for every column.")
        for (index, cell) in cells.enumerated() {
            let width = DisplayText.width(of: cell.text)
            if width <= Self.alignedWidth { widths[index] = max(widths[index], width) }
        }
        rows.append(cells)
    }

    /// The lines of the table, titles first, made to fit a width unless that is nil.
    func lines(fitting limit: Int?, _ palette: Palette) -> [String] {
        guard let limit, columns.count > 1 else { return lines(widths, fitting: limit, palette) }
        guard let fitted = Fitting(widths, columns).widths(within: limit) else {
            return paragraphs(fitting: limit, palette)
        }
        return lines(fitted, fitting: limit, palette)
    }

    private func lines(_ widths: [Int], fitting limit: Int?, _ palette: Palette) -> [String] {
        let titles = columns.map { Cell($0.title, .heading) }
        return ([titles] + rows).map { line(of: $0, widths, fitting: limit, palette) }
    }

    private func line(
        of cells: [Cell], _ widths: [Int], fitting limit: Int?, _ palette: Palette
    ) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let isLast = index == cells.count - 1
            let text =
                limit == nil ? cell.text : DisplayText.truncated(cell.text, to: widths[index])
            let width = DisplayText.width(of: text)
            let gap = String(repeating: " ", count: max(widths[index] - width, 0))
            switch columns[index].alignment {
            case .trailing: line += gap + palette(text, cell.style)
            case .leading: line += palette(text, cell.style) + (isLast ? "" : gap)
            }
            if !isLast { line += "  " }
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    /// For each row a line with its first cell, and one for each other cell with its title.
    private func paragraphs(fitting limit: Int, _ palette: Palette) -> [String] {
        let titles = columns.dropFirst().map(\.title)
        let width = titles.map { DisplayText.width(of: $0) }.max() ?? 0
        return rows.flatMap { cells in
            let head = palette(DisplayText.truncated(cells[0].text, to: limit), .heading)
            return [head]
                + zip(titles, cells.dropFirst()).filter { !$1.text.isEmpty }.map { title, cell in
                    let gap = String(
                        repeating: " ", count: width - DisplayText.width(of: title) + 2)
                    let room = max(limit - width - 4, 8)
                    return "  " + palette(title, .faint) + gap
                        + palette(DisplayText.truncated(cell.text, to: room), cell.style)
                }
        }
    }
}

extension TextTable {
    /// Finds widths with which a table fits.
    private struct Fitting {
        /// A column of text is not made narrower than this.
        private static let narrowest = 10
        private static let gap = 2

        private let natural: [Int]
        private let columns: [Column]

        init(_ natural: [Int], _ columns: [Column]) {
            (self.natural, self.columns) = (natural, columns)
        }

        /// The widths; nil when the table cannot be made so narrow.
        ///
        /// The widest columns give way first, until they are as wide as the next ones. The first column names the row,
        /// and keeps its width.
        func widths(within limit: Int) -> [Int]? {
            var widths = natural
            let room = limit - Self.gap * (columns.count - 1)
            let flexible = widths.indices.filter { index in
                index > 0 && columns[index].alignment == .leading && natural[index] > Self.narrowest
            }
            while widths.reduce(0, +) > room {
                guard let widest = flexible.max(by: { widths[$0] < widths[$1] }),
                    widths[widest] > Self.narrowest
                else { return nil }
                let next = flexible.map { widths[$0] }.filter { $0 < widths[widest] }.max()
                let excess = widths.reduce(0, +) - room
                widths[widest] -= max(
                    1, min(excess, widths[widest] - max(next ?? 0, Self.narrowest)))
            }
            return widths
        }
    }
}
