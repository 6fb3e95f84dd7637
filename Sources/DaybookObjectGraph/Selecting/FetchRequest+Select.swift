public import DaybookObjectModel

extension FetchRequest {
    /// The values of one or several aggregates of all objects.
    ///
    /// ```swift
    /// let totals = FetchRequest<Employee>().select(.sum(\.salary), .count)
    /// ```
    public func select<each Result: Sendable>(
        _ aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (repeat each Result)> {
        var columns: [SelectedColumn] = []
        for aggregate in repeat each aggregates { columns.append(.aggregate(aggregate.term)) }
        return Selection(self, columns) { cells in
            (repeat try cells.take(each aggregates))
        }
    }

    /// A column, and aggregates.
    public func select<K1: SelectableValue, each Result: Sendable>(
        _ key1: KeyPath<Object, K1>,
        _ aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (K1, repeat each Result)> {
        var columns: [SelectedColumn] = [SelectedColumn(key1)]
        for aggregate in repeat each aggregates { columns.append(.aggregate(aggregate.term)) }
        return Selection(self, columns) { cells in
            (try cells.take(K1.self), repeat try cells.take(each aggregates))
        }
    }

    /// Two columns, and aggregates.
    public func select<K1: SelectableValue, K2: SelectableValue, each Result: Sendable>(
        _ key1: KeyPath<Object, K1>, _ key2: KeyPath<Object, K2>,
        _ aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (K1, K2, repeat each Result)> {
        var columns: [SelectedColumn] = [SelectedColumn(key1), SelectedColumn(key2)]
        for aggregate in repeat each aggregates { columns.append(.aggregate(aggregate.term)) }
        return Selection(self, columns) { cells in
            (try cells.take(K1.self), try cells.take(K2.self), repeat try cells.take(each aggregates))
        }
    }

    /// Three columns, and aggregates.
    public func select<K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, each Result: Sendable>(
        _ key1: KeyPath<Object, K1>, _ key2: KeyPath<Object, K2>, _ key3: KeyPath<Object, K3>,
        _ aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (K1, K2, K3, repeat each Result)> {
        var columns: [SelectedColumn] = [SelectedColumn(key1), SelectedColumn(key2), SelectedColumn(key3)]
        for aggregate in repeat each aggregates { columns.append(.aggregate(aggregate.term)) }
        return Selection(self, columns) { cells in
            (try cells.take(K1.self), try cells.take(K2.self), try cells.take(K3.self), repeat try cells.take(each aggregates))
        }
    }

    /// Four columns, and aggregates.
    public func select<K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue, each Result: Sendable>(
        _ key1: KeyPath<Object, K1>, _ key2: KeyPath<Object, K2>, _ key3: KeyPath<Object, K3>, _ key4: KeyPath<Object, K4>,
        _ aggregates: repeat Aggregate<Object, each Result>
    ) -> Selection<Object, (K1, K2, K3, K4, repeat each Result)> {
        var columns: [SelectedColumn] = [SelectedColumn(key1), SelectedColumn(key2), SelectedColumn(key3), SelectedColumn(key4)]
        for aggregate in repeat each aggregates { columns.append(.aggregate(aggregate.term)) }
        return Selection(self, columns) { cells in
            (try cells.take(K1.self), try cells.take(K2.self), try cells.take(K3.self), try cells.take(K4.self), repeat try cells.take(each aggregates))
        }
    }

    /// Several columns, of any number.
    public func select<each Key: SelectableValue>(
        columns keys: repeat KeyPath<Object, each Key>
    ) -> Selection<Object, (repeat each Key)> {
        var columns: [SelectedColumn] = []
        for key in repeat each keys { columns.append(SelectedColumn(key)) }
        return Selection(self, columns) { cells in
            (repeat try cells.take((each Key).self))
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
    public func dictionaries(
        _ names: String...
    ) -> Selection<Object, [String: Value]> {
        let columns = names.map { SelectedColumn.key(.name($0)) }
        return Selection(self, columns.isEmpty ? nil : columns) { cells in
            Dictionary(
                zip(cells.names, cells.values.map(\.value)), uniquingKeysWith: { first, _ in first })
        }
    }
}
