import DaybookObjectModel

/// What a selection asks of an entity.
enum SelectionPlan {
    /// A row for each object, with the values at these paths.
    case objects([FilterPath])
    /// A row for each group.
    case groups(Grouping)

    /// - Throws: ``QueryError`` when the selection does not fit the model.
    init<Object, Row>(
        _ selection: Selection<Object, Row>, of entity: GraphEntity, in schema: Schema
    ) throws(QueryError) {
        let columns = selection.columns ?? entity.attributeColumns
        let hasAggregates = columns.contains { if case .aggregate = $0 { true } else { false } }
        guard hasAggregates || selection.groupKeys != nil || selection.isDistinct else {
            guard !selection.hasConditions else {
                throw QueryError(
                    "'having' keeps groups, and each row is an object of '\(entity.schema.name)'. Give the "
                        + "request a condition, or group it.")
            }
            var paths: [FilterPath] = []
            for case .key(let key) in columns {
                let path = try key.path(of: entity, in: schema)
                try path.checkSingle(of: entity.schema, "asked for")
                paths.append(path)
            }
            self = .objects(paths)
            return
        }
        var grouping = Grouping(entity.schema)
        for key in selection.groupKeys ?? [] {
            try grouping.group(by: try key.path(of: entity, in: schema))
        }
        if selection.groupKeys != nil { grouping.close() }
        for column in columns {
            switch column {
            case .key(let key):
                grouping.show(try grouping.column(try key.path(of: entity, in: schema)))
            case .aggregate(let term):
                grouping.show(
                    try grouping.column(term.function, of: try term.path(of: entity, in: schema)),
                    as: term.name)
            }
        }
        // Whatever the rows are sorted by must be the same within each group.
        grouping.close()
        for order in selection.request.order {
            let column = try grouping.column(of: order.term, entity, in: schema)
            grouping.sort(by: column, isAscending: order.isAscending)
        }
        self = .groups(grouping)
    }

    /// The paths to all values that are read.
    var paths: [FilterPath] {
        switch self {
        case .objects(let paths): paths
        case .groups(let grouping): grouping.paths
        }
    }

    /// The names of the columns.
    var names: [String] {
        switch self {
        case .objects(let paths): paths.map(\.text)
        case .groups(let grouping): grouping.names
        }
    }
}

extension GraphEntity {
    /// A column for each attribute.
    fileprivate var attributeColumns: [SelectedColumn] {
        schema.properties.filter(\.isAttribute).map { .key(.name($0.name)) }
    }
}

extension Grouping {
    /// The column that rows are sorted by. A name is that of a column of the result, and else a path.
    fileprivate mutating func column(
        of term: OrderTerm, _ entity: GraphEntity, in schema: Schema
    ) throws(QueryError) -> Column {
        switch term {
        case .aggregate(let term):
            return try column(term.function, of: try term.path(of: entity, in: schema))
        case .key(let key):
            guard case .name(let name) = key else {
                return try column(try key.path(of: entity, in: schema))
            }
            do throws(QueryError) {
                if let column = try column(named: name) { return column }
            } catch {
                // Of two columns by the name, that of the path is meant, if there is one.
                guard let path = try? key.path(of: entity, in: schema) else { throw error }
                return try column(path)
            }
            return try column(try key.path(of: entity, in: schema))
        }
    }
}
