// The room of forms: the same records as text, as one JSON document or as a stream of JSON.

/// A sequence of records in the form of `--output`.
///
/// Text is printed by the closure; `jsonl` gives a line for each record; `json` gives one array
/// that is complete only after ``close()``. Nothing is kept in memory.
///
/// ```swift
/// var listing = Listing(console)
/// for entry in entries {
///     try listing.append(entry.json) { try console.print(entry.line) }
/// }
/// try listing.close()
/// ```
struct Listing {
    private let console: Console
    private(set) var count = 0
    /// Whether the records are a page: with `json` a member of one object beside the cursor.
    private let isPage: Bool

    init(_ console: Console, isPage: Bool = false) {
        self.console = console
        self.isPage = isPage
    }

    /// Prints one record.
    mutating func append(
        _ record: @autoclosure () throws -> JSONText, text: () throws -> Void
    ) throws {
        switch console.format {
        case .text: try text()
        case .jsonl: try console.print(try record())
        case .json:
            let start = isPage ? "{\n  \"objects\": [\n    " : "[\n  "
            try console.write((count == 0 ? start : isPage ? ",\n    " : ",\n  ").utf8)
            try console.write(try record().indented(depth: isPage ? 2 : 1))
        }
        count += 1
    }

    /// Ends a page.
    ///
    /// - Parameter next: The cursor to the next page; nil when there is none.
    /// - Throws: When the output cannot be written.
    func close(next: String?) throws {
        let member = "\"next\": \(next.map { "\"\($0)\"" } ?? "null")"
        switch console.format {
        case .text: break
        case .jsonl: try console.write("{\(member.replacing(": ", with: ":"))}\n".utf8)
        case .json:
            let end = count == 0 ? "{\n  \"objects\": []" : "\n  ]"
            try console.write("\(end),\n  \(member)\n}\n".utf8)
        }
    }

    /// Ends the list.
    func close() throws {
        guard console.format == .json else { return }
        try console.write((count == 0 ? "[]\n" : "\n]\n").utf8)
    }
}
