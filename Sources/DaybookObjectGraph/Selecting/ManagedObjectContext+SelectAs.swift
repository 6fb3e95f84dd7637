import DaybookObjectModel

extension ManagedObjectContext {
    /// The rows of a selection as values of a `Decodable` type, whose properties are named as the columns.
    ///
    /// ```swift
    /// struct Payroll: Decodable {
    ///     let department: String?
    ///     let total: Decimal
    ///     enum CodingKeys: String, CodingKey { case department = "department.name", total }
    /// }
    /// let payroll = FetchRequest<Employee>().select(\.department?.name, .sum(\.salary).named("total"))
    /// for row in try context.fetch(payroll, as: Payroll.self) { … }
    /// ```
    ///
    /// A column is named by the text of its path, `department.name`, by its aggregate, `sum(salary)` or `count`, or
    /// as ``Aggregate/named(_:)`` says.
    ///
    /// - A property needs its column, also where it is optional. More columns than properties may be there.
    /// - Null is read by an optional only.
    /// - Numbers keep what they are: a decimal is read by a `Decimal`, and whole numbers by every type of
    ///   numbers that holds them exactly. A number that does not fit is an error, never rounded.
    /// - Types of attributes, enumerations with a raw value, and ``ManagedObjectID`` for what a relationship
    ///   leads to are read from one column. A selection of one column may be read as such a type itself.
    ///
    /// - Parameters:
    ///   - selection: The columns, and which objects.
    ///   - type: The type of a row.
    /// - Returns: The rows in order.
    /// - Throws: As ``fetch(_:)-(Selection<Object,Row>)``; ``QueryError`` also when a row cannot be read as the
    ///   type, naming the row, the column and the reason, and when two columns of rows have the same name.
    /// - Complexity: As ``fetch(_:)-(Selection<Object,Row>)``.
    public func fetch<Object, Columns, Row: Decodable>(
        _ selection: Selection<Object, Columns>, as type: Row.Type
    ) throws -> [Row] {
        let rows = try cells(of: selection)
        guard let first = rows.first else { return [] }
        let names = try ColumnNames(first.names)
        var found: [Row] = []
        found.reserveCapacity(rows.count)
        for (index, cells) in rows.enumerated() {
            do {
                found.append(try RowDecoder(names, cells.values).read(as: type))
            } catch let error as DecodingError {
                throw QueryError(
                    "Row \(index + 1) cannot be read as '\(type)': \(error.reason)")
            }
        }
        return found
    }
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.debugDescription
        @unknown default: "\(self)"
        }
    }
}
