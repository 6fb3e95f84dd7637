extension Filter {
    /// Reads a predicate about the columns of a grouping, each written as it is named: `sum(salary) > 1000`.
    ///
    /// - Parameters:
    ///   - text: The predicate.
    ///   - grouping: The columns.
    ///   - schema: The model.
    ///   - arguments: The values of each `%@`.
    /// - Throws: ``QueryError`` with the position of the first mistake.
    package init(
        parsing text: String, forColumnsOf grouping: Grouping, in schema: Schema,
        arguments: [PredicateArgument] = []
    ) throws(QueryError) {
        let names = grouping.names
        try self.init(
            parsing: text, for: grouping.entity,
            naming: PredicateNames(
                in: schema,
                columns: grouping.columns.enumerated().compactMap { index, column in
                    grouping.type(of: column).map {
                        SchemaProperty(column: names[index], of: $0, at: index)
                    }
                }),
            predicateArguments: arguments)
    }

    /// Whether a row with these values in its columns meets the condition.
    package func matches(columns values: [Value]) throws -> Bool {
        // Nothing is asked about an object.
        let object = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)
        return try matches(object, in: ColumnValues(values: values))
    }
}

/// The values of a row's columns as those of an object.
private struct ColumnValues: FilterSource {
    let values: [Value]

    func value(of property: SchemaProperty, in object: ObjectID) -> Value {
        property.slot.map { values[$0] } ?? .null
    }

    func members(of property: SchemaProperty, in object: ObjectID) -> [ObjectID] { [] }
}

extension SchemaProperty {
    /// A column as an attribute of the rows.
    fileprivate convenience init(column name: String, of type: AttributeType, at index: Int) {
        self.init(
            number: PropertyNumber(rawValue: UInt32(index) + 1), name: name,
            kind: .attribute(AttributeDescription(name: name, type: type)), slot: index)
    }
}
