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
            guard selection.conditions.isEmpty else {
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
                    try grouping.column(term.function, of: try term.path(of: entity, in: schema)))
            }
        }
        // Whatever the rows are sorted by must be the same within each group.
        grouping.close()
        for order in selection.request.order {
            let column =
                switch order.term {
                case .key(let key): try grouping.column(try key.path(of: entity, in: schema))
                case .aggregate(let term):
                    try grouping.column(term.function, of: try term.path(of: entity, in: schema))
                }
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
        case .groups(let grouping): grouping.columns.map(grouping.name)
        }
    }
}

extension GraphEntity {
    /// A column for each attribute.
    fileprivate var attributeColumns: [SelectedColumn] {
        schema.properties.filter(\.isAttribute).map { .key(.name($0.name)) }
    }
}
