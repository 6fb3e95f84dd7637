import DaybookAudit
import DaybookObjectModel

/// Reads the records of a table as rows of an entity.
struct RowReader {
    /// The values of one record.
    struct Row {
        /// The line that the record begins on.
        let line: Int
        /// The values in slot order; references are null.
        var values: [Value]
        /// The keys of the destinations, in the order of the columns that have them.
        var keys: [Value]
    }

    let mapping: ColumnMapping
    /// What stands for no value; nil if an empty field does.
    let null: String?
    /// The places that no column fills and that must have a value.
    private let missing: [SchemaProperty]
    private let newRow: [Value]

    init(_ mapping: ColumnMapping, null: String?) {
        self.mapping = mapping
        self.null = null
        let stored = mapping.entity.storedSlotCount
        newRow = Array(mapping.entity.defaults.prefix(stored))
        let filled = Set(mapping.columns.map(\.slot))
        missing = zip(mapping.entity.slots.prefix(stored), newRow).enumerated().compactMap {
            slot, place in
            filled.contains(slot) || place.0.misfit(of: place.1) == nil ? nil : place.0
        }
    }

    /// The objection to every row: a property without column, default and permission to be empty.
    var objection: String? {
        guard let first = missing.first else { return nil }
        let names = missing.map { "'\($0.name)'" }.joined(separator: ", ")
        return missing.count == 1
            ? "No column leads to '\(first.name)', and every '\(mapping.entity.name)' has one."
            : "No columns lead to \(names), and every '\(mapping.entity.name)' has them."
    }

    /// The row of a record.
    ///
    /// - Parameters:
    ///   - record: The fields.
    ///   - refuse: Called with each mistake.
    /// - Returns: The row; nil if there was a mistake.
    func row(of record: CSVRecord, refuse: (RowRefusal) throws -> Void) rethrows -> Row? {
        guard record.count == mapping.width else {
            let fields = record.count == 1 ? "1 field" : "\(record.count) fields"
            try refuse(
                RowRefusal(
                    line: record.line, column: nil,
                    reason: "The row has \(fields), the header \(mapping.width)."))
            return nil
        }
        var row = Row(line: record.line, values: newRow, keys: [])
        var isFit = true
        let columns = mapping.columns.span
        for index in columns.indices {
            switch read(record, columns[index]) {
            case .success(let value) where columns[index].key != nil: row.keys.append(value)
            case .success(let value): row.values[columns[index].slot] = value
            case .failure(let mistake):
                isFit = false
                try refuse(
                    RowRefusal(
                        line: record.line, column: columns[index].name,
                        reason: mistake.sentence))
            }
        }
        return isFit ? row : nil
    }

    private struct Mistake: Error {
        let sentence: String
    }

    private func read(
        _ record: CSVRecord, _ column: borrowing ColumnMapping.Column
    ) -> Result<Value, Mistake> {
        if let (flaw, field) = record.flaw, field == column.index {
            return .failure(Mistake(sentence: flaw.sentence))
        }
        guard let text = String(validating: record[column.index], as: UTF8.self) else {
            return .failure(Mistake(sentence: "The field is not UTF-8 text."))
        }
        let value: Value
        do {
            value = try self.value(text, for: column)
        } catch {
            return .failure(Mistake(sentence: error.message))
        }
        // A reference is checked when its destination is known, a missing one here.
        guard column.key == nil || value.isNull else { return .success(value) }
        guard let misfit = column.property.misfit(of: value) else { return .success(value) }
        return .failure(Mistake(sentence: "'\(column.property.name)' \(misfit.objection)."))
    }

    // MARK: - Values

    private func value(
        _ text: String, for column: borrowing ColumnMapping.Column
    ) throws(JSONError) -> Value {
        if let null, text == null { return .null }
        if text.isEmpty {
            let isText = column.type == .string && column.key == nil
            return isText && (null != nil || !column.isOptional) ? .string("") : .null
        }
        switch column.type {
        case .string: return .string(text)
        case .bool: return try truth(text, column)
        case .int16, .int32, .int64, .float, .double, .decimal:
            return try number(text, column)
        case .date, .uuid, .url, .data: return try column.value(.string(text))
        case .codable: return try column.value(try JSONValue(parsing: text))
        }
    }

    private func truth(
        _ text: String, _ column: borrowing ColumnMapping.Column
    ) throws(JSONError) -> Value {
        switch text {
        case "true", "True", "TRUE", "1": .bool(true)
        case "false", "False", "FALSE", "0": .bool(false)
        default: try column.value(.string(text))
        }
    }

    private func number(
        _ text: String, _ column: borrowing ColumnMapping.Column
    ) throws(JSONError) -> Value {
        guard text.isNumber else { return try column.value(.string(text)) }
        switch column.type {
        case .int64: if let number = Int64(text) { return .int(number) }
        case .double: if let number = Double(text), number.isFinite { return .double(number) }
        default: break
        }
        return try column.value(.number(text))
    }
}

extension ColumnMapping.Column {
    /// Reads a value of the column as the JSON that it would be.
    fileprivate func value(_ json: JSONValue) throws(JSONError) -> Value {
        try Value(json, for: type, isConfidential: isConfidential)
    }
}

extension String {
    /// Whether these are only characters of numbers, and the first is a digit or a minus sign.
    var isNumber: Bool {
        guard let first = utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first)
        else { return false }
        return utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                || byte | 0x20 == UInt8(ascii: "e")
        }
    }
}
