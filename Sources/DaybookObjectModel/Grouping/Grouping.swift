import Foundation

/// How objects are grouped, and which columns the result has.
package struct Grouping: Sendable {
    /// Something that is worked out of each group.
    package struct Measure: Sendable, Hashable {
        /// What is worked out.
        package let function: AggregateFunction
        /// The attribute; nil for the number of objects.
        package let path: FilterPath?
    }

    /// A column of the result, or something to sort it by.
    package enum Column: Sendable, Hashable {
        case key(Int)
        case measure(Int)
    }

    /// An order of the result. Null comes first when ascending, last when descending.
    package struct Order: Sendable {
        let column: Column
        let isAscending: Bool
    }

    /// A group as a row: the values of its key and its aggregates.
    package struct Group: Sendable {
        /// What was put before the key for its store; nil for nothing.
        package let prefix: Value?
        fileprivate let keys: [Value]
        fileprivate let measures: [Value]

        /// The value of a column.
        package subscript(column: Column) -> Value {
            switch column {
            case .key(let index): keys[index]
            case .measure(let index): measures[index]
            }
        }
    }

    /// The entity of the objects.
    package let entity: SchemaEntity
    /// The paths to the values of the key.
    package private(set) var keys: [FilterPath] = []
    /// What is worked out of each group.
    package private(set) var measures: [Measure] = []
    /// The columns of the result.
    package private(set) var columns: [Column] = []
    /// The names that columns of the result have of their own, by their places.
    private var ownNames: [Int: String] = [:]
    private var orders: [Order] = []
    /// How many of the keys make the groups. What follows them is the same within a group.
    private var ownKeyCount: Int?

    /// Groups the objects of an entity, so far into a single group.
    package init(_ entity: SchemaEntity) {
        self.entity = entity
    }

    // MARK: - Making

    /// Groups by the value at the end of a path.
    package mutating func group(by path: FilterPath) throws(QueryError) {
        try path.checkSingle(of: entity, "grouped by")
        _ = index(ofKey: path)
    }

    /// From now on there are no more groups: what else is asked for must be the same within each.
    package mutating func close() {
        ownKeyCount = keys.count
    }

    /// A column with the value at the end of a path.
    ///
    /// - Throws: ``QueryError`` when a group may have several such values.
    package mutating func column(_ path: FilterPath) throws(QueryError) -> Column {
        try path.checkSingle(of: entity, "grouped by")
        guard let ownKeyCount else { return .key(index(ofKey: path)) }
        guard keys[..<ownKeyCount].contains(where: path.isDetermined(by:)) else {
            throw QueryError(
                "A group has many values of '\(path.text)' of '\(entity.name)'. Group by it as well, or "
                    + "ask for one of them, such as the minimum.")
        }
        return .key(index(ofKey: path))
    }

    /// A column with something that is worked out of each group.
    ///
    /// - Throws: ``QueryError`` when it cannot be worked out of such values.
    package mutating func column(
        _ function: AggregateFunction, of path: FilterPath?
    ) throws(QueryError) -> Column {
        let measure = Measure(function: function, path: path)
        if let path { _ = try path.attribute(for: function, of: entity) }
        if let index = measures.firstIndex(of: measure) { return .measure(index) }
        measures.append(measure)
        return .measure(measures.count - 1)
    }

    /// Adds a column to the result, perhaps with a name of its own.
    package mutating func show(_ column: Column, as name: String? = nil) {
        if let name { ownNames[columns.count] = name }
        columns.append(column)
    }

    /// Sorts by a column, after those already given.
    package mutating func sort(by column: Column, isAscending: Bool) {
        orders.append(Order(column: column, isAscending: isAscending))
    }

    private mutating func index(ofKey path: FilterPath) -> Int {
        if let index = keys.firstIndex(of: path) { return index }
        keys.append(path)
        return keys.count - 1
    }

    // MARK: - Using

    /// An empty table for the groups.
    package var table: GroupTable {
        GroupTable(
            measures.map {
                Aggregation($0.function, of: $0.path?.steps.last?.attribute?.type ?? .int64)
            }
        )
    }

    /// All paths to values.
    package var paths: [FilterPath] { keys + measures.compactMap(\.path) }

    /// The groups of a table in order: as asked for, then by their keys, null first.
    ///
    /// - Parameters:
    ///   - table: The groups.
    ///   - hasPrefix: Whether there is a value for the store before each key.
    /// - Returns: The groups; a single one where nothing is grouped by.
    /// - Throws: ``QueryError`` naming the attribute whose type cannot hold an aggregate.
    /// - Complexity: O(*g* log *g*), *g* the number of groups.
    package func groups(of table: GroupTable, hasPrefix: Bool = false) throws -> [Group] {
        var table = table
        if keys.isEmpty { _ = table.group([UInt8]().span.bytes) }
        var groups: [Group] = []
        groups.reserveCapacity(table.count)
        for index in 0..<table.count {
            let key = try table.key(of: index)
            var values: [Value] = []
            for (place, measure) in measures.enumerated() {
                guard let path = measure.path else {
                    values.append(.int(Int64(table.objectCount(of: index))))
                    continue
                }
                guard let value = table.value(of: place, in: index) else {
                    throw misfit(measure.function, path)
                }
                values.append(value)
            }
            groups.append(
                Group(
                    prefix: hasPrefix ? key.first : nil,
                    keys: Array(key.dropFirst(hasPrefix ? 1 : 0)),
                    measures: values))
        }
        return groups.sorted(by: precedes)
    }

    /// The error for an aggregate that its type cannot hold or read.
    package func misfit(_ function: AggregateFunction, _ path: FilterPath) -> QueryError {
        function.misfit(
            "'\(path.text)' of '\(entity.name)'", path.steps.last?.attribute?.type ?? .int64)
    }

    /// The names of the columns of the result: those of their own, and else a path, or `sum(salary)`.
    package var names: [String] {
        columns.enumerated().map { ownNames[$0] ?? name(of: $1) }
    }

    /// The column of the result with a name; nil when there is none.
    ///
    /// - Throws: ``QueryError`` when different columns have the name.
    package func column(named name: String) throws(QueryError) -> Column? {
        let found = Set(zip(names, columns).filter { $0.0 == name }.map(\.1))
        guard found.count < 2 else { throw QueryError.sameName(name) }
        return found.first
    }

    /// Checks that a name means one column.
    ///
    /// - Throws: ``QueryError`` with the first name that means several.
    package func checkNames() throws(QueryError) {
        for name in names { _ = try column(named: name) }
    }

    /// What a column is called where it has no name of its own: a path, or `sum(salary)`.
    package func name(of column: Column) -> String {
        switch column {
        case .key(let index): keys[index].text
        case .measure(let index):
            measures[index].function.columnName(of: measures[index].path?.text)
        }
    }

    /// The type of a column's values; nil for references to objects.
    package func type(of column: Column) -> AttributeType? {
        switch column {
        case .key(let index): return keys[index].steps.last?.attribute?.type
        case .measure(let index):
            let type = measures[index].path?.steps.last?.attribute?.type ?? .int64
            return measures[index].function.resultType(of: type)
        }
    }

    private func precedes(_ left: Group, _ right: Group) -> Bool {
        for order in orders {
            switch left[order.column].order(to: right[order.column]) {
            case .orderedSame: continue
            case .orderedAscending: return order.isAscending
            case .orderedDescending: return !order.isAscending
            }
        }
        for index in keys.indices {
            switch left.keys[index].order(to: right.keys[index]) {
            case .orderedSame: continue
            case .orderedAscending: return true
            case .orderedDescending: return false
            }
        }
        return (left.prefix ?? .null).order(to: right.prefix ?? .null) == .orderedAscending
    }
}

extension QueryError {
    fileprivate static func sameName(_ name: String) -> QueryError {
        QueryError("Two columns are named '\(name)'. Give one of them another name with 'named'.")
    }
}

extension FilterPath {
    /// The names of the steps with dots between them; `SELF` for the object itself.
    package var text: String {
        steps.isEmpty ? "SELF" : steps.map(\.name).joined(separator: ".")
    }

    /// Whether objects with the same value at the end of another path have the same at the end of this one.
    fileprivate func isDetermined(by other: FilterPath) -> Bool {
        other.steps.count <= steps.count
            && zip(steps, other.steps).allSatisfy { $0.number == $1.number }
    }

    /// Checks that the path ends at one value.
    ///
    /// - Throws: ``QueryError`` naming the step that leads to many objects.
    package func checkSingle(of entity: SchemaEntity, _ purpose: String) throws(QueryError) {
        guard let step = steps.first(where: { $0.relationship?.isToMany == true }) else { return }
        throw QueryError(
            "'\(entity.name)' cannot be \(purpose) '\(text)': '\(step.name)' leads to many objects. Ask "
                + "about these objects, or declare a derived attribute.")
    }

    /// The attribute that an aggregate is worked out of.
    ///
    /// - Throws: ``QueryError`` when the path does not lead to one, or not to one of numbers that it needs.
    package func attribute(
        for function: AggregateFunction, of entity: SchemaEntity
    ) throws(QueryError) -> AttributeDescription {
        guard let attribute = steps.last?.attribute else {
            throw QueryError(
                "An aggregate of '\(entity.name)' needs an attribute. Name one, as in "
                    + "'.sum(\\Employee.salary)'.")
        }
        if let step = steps.first(where: { $0.relationship?.isToMany == true }) {
            throw QueryError(
                "An aggregate of '\(entity.name)' cannot go through '\(step.name)', which leads to "
                    + "many objects. Fetch these objects, or declare a derived attribute.")
        }
        guard !function.isOfNumbers || attribute.type.isNumeric else {
            throw QueryError(
                "There is no \(function.rawValue) of '\(text)' of '\(entity.name)', which is of type "
                    + "'\(attribute.type.rawValue)'. Name an attribute of numbers, or ask for the count, "
                    + "the minimum or the maximum.")
        }
        return attribute
    }
}
