// The room of selecting: columns of what a request finds, and groups of it, with the types that a program reads.
// It asks as the room of fetching does, and makes no object.

import DaybookObjectModel

/// Columns of the objects that a request finds, or of groups of these.
///
/// ```swift
/// let payroll = FetchRequest<Employee>()
///     .select(\.department?.name, .sum(\.salary), .count)
///     .grouped(by: \.department)
///     .having { _, _, count in count > 1 }
/// for (name, salaries, count) in try context.fetch(payroll) { … }
/// ```
///
/// The columns are key paths, through to-one relationships where they go on, and then aggregates. The rows
/// of the result are tuples with the types of the columns. The condition of the request restricts the
/// objects; its order, limit and offset are those of the rows.
///
/// - Without aggregates, and without `grouped(by:)`, there is a row for each object.
/// - With aggregates there is a row for each group: of objects with the same values at the paths of
///   `grouped(by:)`, or at those of the columns where nothing else is said. With aggregates alone there is
///   one row, even of no objects.
/// - Objects without a value are a group as well.
/// - Groups come in the order of their keys, those without a value first, unless the request has an order.
/// - Columns have names: the text of the path, such as `department.name`, `sum(salary)`, or what
///   ``Aggregate/named(_:)`` says. Predicates of `having`, orders and ``ManagedObjectContext/fetch(_:as:)`` know
///   them by these.
///
/// A selection is a value and may cross threads.
public struct Selection<Object: ManagedObject, Row>: Sendable {
    /// Which objects, in which order, and how many rows.
    public var request: FetchRequest<Object>
    let columns: [SelectedColumn]?
    private(set) var groupKeys: [RequestKey]?
    private(set) var conditions: [@Sendable (Row) throws -> Bool] = []
    private(set) var predicates: [ColumnPredicate] = []
    private(set) var isDistinct = false
    let row: @Sendable (inout SelectedCells) throws -> Row

    /// - Parameters:
    ///   - request: The request.
    ///   - columns: The columns; nil for all attributes.
    ///   - row: Makes a row of its cells.
    init(
        _ request: FetchRequest<Object>, _ columns: [SelectedColumn]?,
        _ row: @escaping @Sendable (inout SelectedCells) throws -> Row
    ) {
        self.request = request
        self.columns = columns
        self.row = row
    }

    /// Groups the objects by the values at some paths. A path to a relationship groups by the object there.
    ///
    /// A column must then have one value in each group: it is one of these paths, or goes on from one.
    public func grouped(by keyPaths: PartialKeyPath<Object>...) -> Selection {
        var other = self
        other.groupKeys =
            (groupKeys ?? []) + keyPaths.map { .keyPath(ModelKeyPath(keyPath: $0)) }
        return other
    }

    /// Groups the objects by the values of some properties, or at paths of names joined by dots.
    public func grouped(by names: String...) -> Selection {
        var other = self
        other.groupKeys = (groupKeys ?? []) + names.map { .name($0) }
        return other
    }

    /// Keeps only the groups for which the closure is true, before limit and offset.
    public func having(_ isKept: @escaping @Sendable (Row) throws -> Bool) -> Selection {
        var other = self
        other.conditions.append(isKept)
        return other
    }

    /// Keeps only the groups for which a predicate about the columns is true, before limit and offset.
    ///
    /// Columns are written as they are named: `total > 1000 AND department.name != nil`. See
    /// ``Aggregate/named(_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The predicate. It is parsed when the selection is executed.
    ///   - arguments: The value of each `%@`.
    /// - Returns: The selection with it.
    public func having(_ predicate: String, _ arguments: Any?...) -> Selection {
        var other = self
        other.predicates.append(
            ColumnPredicate(
                text: predicate, arguments: arguments.map { ConditionArgument($0) }))
        return other
    }

    /// Whether groups are kept by what their columns have.
    var hasConditions: Bool { !conditions.isEmpty || !predicates.isEmpty }

    /// Keeps only one of several rows with the same values.
    public var distinct: Selection {
        var other = self
        other.isDistinct = true
        return other
    }

    /// Sorts the rows: the first decides, the next among equals.
    public func ordered(by order: FetchOrder<Object>...) -> Selection {
        var other = self
        other.request.order = order
        return other
    }

    /// Restricts the number of rows.
    ///
    /// - Parameters:
    ///   - count: The largest number of rows.
    ///   - offset: How many rows to skip at the start.
    /// - Returns: The selection with these.
    public func limited(to count: Int, offset: Int = 0) -> Selection {
        var other = self
        other.request.limit = count
        other.request.offset = offset
        return other
    }
}

/// A predicate about columns, as a program writes it.
struct ColumnPredicate: Sendable {
    let text: String
    let arguments: [ConditionArgument]

    /// - Throws: ``QueryError`` with the first mistake.
    func filter(of grouping: Grouping, in model: GraphModel) throws(QueryError) -> Filter {
        // Two columns of one name would make two meanings of it.
        try grouping.checkNames()
        let target = QueryTarget(model: model, store: nil, stores: [])
        var values: [PredicateArgument] = []
        for (index, argument) in arguments.enumerated() {
            values.append(try argument.predicateArgument(at: index + 1, for: target))
        }
        return try Filter(
            parsing: text, forColumnsOf: grouping, in: model.schema, arguments: values)
    }
}

/// A column as a program names it.
enum SelectedColumn: Sendable {
    case key(RequestKey)
    case aggregate(AggregateTerm)

    init<Object, Value>(_ keyPath: KeyPath<Object, Value>) {
        self = .key(.keyPath(ModelKeyPath(keyPath: keyPath)))
    }

    init<Object, Result>(_ aggregate: Aggregate<Object, Result>) {
        self = .aggregate(aggregate.term)
    }
}

/// The cells of a row, taken one after the other.
struct SelectedCells {
    let names: [String]
    let values: [SelectedValue]
    /// The error for a cell that the type of its column cannot read.
    let misfit: (Int) -> QueryError
    private var next = 0

    init(_ names: [String], _ values: [SelectedValue], misfit: @escaping (Int) -> QueryError) {
        (self.names, self.values, self.misfit) = (names, values, misfit)
    }

    mutating func take<Cell: SelectableValue>(_ type: Cell.Type = Cell.self) throws -> Cell {
        guard let cell = Cell(selected: values[next]) else { throw misfit(next) }
        next += 1
        return cell
    }

    mutating func take<Object, Result>(_ aggregate: Aggregate<Object, Result>) throws -> Result {
        guard let result = aggregate.result(values[next].value) else { throw misfit(next) }
        next += 1
        return result
    }
}
