/// One row of an answer, copied out of libpq's memory.
///
/// The fields are in PostgreSQL's binary form. A field of another type or length than the one that is
/// asked for is an error of the answer and not of the program: servers are not trusted.
package struct PostgresRow: Sendable, Hashable {
    /// The bytes of all fields.
    private let bytes: [UInt8]
    /// Where each field stands; nil for no value.
    private let fields: [Range<Int>?]

    init(bytes: [UInt8], fields: [Range<Int>?]) {
        self.bytes = bytes
        self.fields = fields
    }

    /// How many fields it has.
    package var count: Int { fields.count }

    /// Whether a field has no value.
    ///
    /// - Parameter column: From 0.
    /// - Returns: True also when there is no such field.
    package func isNull(_ column: Int) -> Bool {
        !fields.indices.contains(column) || fields[column] == nil
    }

    /// The bytes of a field.
    ///
    /// - Parameter column: From 0.
    /// - Returns: The bytes.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unexpected`` when it has no value.
    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8] {
        Array(bytes[try range(column)])
    }

    /// A field that is a text.
    ///
    /// - Parameter column: From 0.
    /// - Returns: The text.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unexpected`` when it has no value, or is not
    ///   UTF-8.
    package func text(_ column: Int) throws(PostgresError) -> String {
        guard let text = String(validating: bytes[try range(column)], as: UTF8.self) else {
            throw Self.unexpected
        }
        return text
    }

    /// A field that is an integer of eight, four or two bytes.
    ///
    /// - Parameter column: From 0.
    /// - Returns: The number.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unexpected`` when it has no value, or is no
    ///   such integer.
    package func integer(_ column: Int) throws(PostgresError) -> Int64 {
        let range = try range(column)
        guard [2, 4, 8].contains(range.count) else { throw Self.unexpected }
        let isNegative = bytes[range.lowerBound] >= 0x80
        return bytes[range].reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    /// A field that is a truth value.
    ///
    /// - Parameter column: From 0.
    /// - Returns: The value.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unexpected`` when it has no value, or is none.
    package func boolean(_ column: Int) throws(PostgresError) -> Bool {
        let range = try range(column)
        guard range.count == 1, bytes[range.lowerBound] <= 1 else { throw Self.unexpected }
        return bytes[range.lowerBound] == 1
    }

    private func range(_ column: Int) throws(PostgresError) -> Range<Int> {
        guard fields.indices.contains(column), let range = fields[column] else {
            throw Self.unexpected
        }
        return range
    }

    static let unexpected = PostgresError(
        .unexpected,
        "The server's answer is not what was asked for: is the schema another version's?")
}
