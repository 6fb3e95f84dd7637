public import DaybookObjectModel

extension FetchRequest {
    /// Key paths and aggregates of any number.
    ///
    /// The columns of a closure that follows in the same statement need types.
    public func select<each Key: SelectableValue, each Result: Sendable>(
        columns keys: repeat KeyPath<Object, each Key>,
        aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (repeat each Key, repeat each Result)> {
        var columns: [SelectedColumn] = []
        for key in repeat each keys { columns.append(SelectedColumn(key)) }
        for aggregate in repeat each aggregates { columns.append(SelectedColumn(aggregate)) }
        return Selection(self, columns) { cells in
            (repeat try cells.take((each Key).self), repeat try cells.take(each aggregates))
        }
    }

    /// Each object as a dictionary of its values, by the names of properties, or by paths of names joined by
    /// dots.
    ///
    /// What is pending in the context counts, as it does for objects, unless the request leaves it out. A
    /// property without a value is in the dictionary with null. A relationship has the object that it leads
    /// to as ``Value/object(_:)``.
    ///
    /// - Parameter names: The names; all attributes when there are none, and no relationships.
    /// - Returns: The selection of dictionaries.
    public func dictionaries(
        _ names: String...
    ) -> Selection<Object, [String: Value]> {
        let columns = names.map { SelectedColumn.key(.name($0)) }
        return Selection(self, columns.isEmpty ? nil : columns) { cells in
            Dictionary(
                zip(cells.names, cells.values.map(\.value)), uniquingKeysWith: { first, _ in first }
            )
        }
    }
}
