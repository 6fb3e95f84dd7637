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

    init(_ console: Console) {
        self.console = console
    }

    /// Prints one record.
    mutating func append(
        _ record: @autoclosure () throws -> JSONText, text: () throws -> Void
    ) throws {
        switch console.format {
        case .text: try text()
        case .jsonl: try console.print(try record())
        case .json:
            try console.write((count == 0 ? "[\n  " : ",\n  ").utf8)
            try console.write(try record().indented(depth: 1))
        }
        count += 1
    }

    /// Ends the list.
    func close() throws {
        guard console.format == .json else { return }
        try console.write((count == 0 ? "[]\n" : "\n]\n").utf8)
    }
}
