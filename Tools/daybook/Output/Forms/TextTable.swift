/// Rows in aligned columns.
///
/// Columns are as wide as their widest cell *looks*: `Türkiye`, `日本` and flags line up. On a
/// terminal the last column is cut to fit; in a file nothing is cut. A cell that is much wider than
/// a line overflows in its own row and does not widen the column, or one long text would fill every
/// row with spaces.
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

    /// The lines of the table, titles first, cut to a width unless that is nil.
    func lines(fitting limit: Int?, _ palette: Palette) -> [String] {
        let titles = columns.map { Cell($0.title, .heading) }
        return ([titles] + rows).map { line(of: $0, fitting: limit, palette) }
    }

    private func line(of cells: [Cell], fitting limit: Int?, _ palette: Palette) -> String {
        var line = ""
        var column = 0
        for (index, cell) in cells.enumerated() {
            let isLast = index == cells.count - 1
            var text = cell.text
            if isLast, let limit, limit - column >= 8 {
                text = DisplayText.truncated(text, to: limit - column)
            }
            let width = DisplayText.width(of: text)
            let gap = String(repeating: " ", count: max(widths[index] - width, 0))
            switch columns[index].alignment {
            case .trailing: line += gap + palette(text, cell.style)
            case .leading: line += palette(text, cell.style) + (isLast ? "" : gap)
            }
            if !isLast { line += "  " }
            column += max(widths[index], width) + 2
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
