/// Why a row of a table cannot be saved.
struct RowRefusal {
    /// The line that the row begins on.
    let line: Int
    /// The name of the column at fault; nil when it is the row as a whole.
    let column: String?
    /// One sentence.
    let reason: String

    var sentence: String {
        "line \(line)" + (column.map { ", column '\($0)'" } ?? "") + ": \(reason)"
    }

    var json: JSONText {
        ["line": .integer(Int64(line)), "column": .optional(column), "reason": .string(reason)]
    }
}
