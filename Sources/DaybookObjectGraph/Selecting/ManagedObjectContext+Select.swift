import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    /// The rows of a selection, what is pending in this context included.
    ///
    /// ```swift
    /// let names = try context.fetch(FetchRequest<Employee>().select(\.lastName, \.department?.name))
    /// ```
    ///
    /// No object is made: the store reads the fields of the columns where the rows lie, on all of the
    /// processor's cores where the rows are many. What is pending is laid over that object by object. In a
    /// child, with a transient attribute, and where the condition has to be evaluated in memory, the objects
    /// are found first and their values read one by one; what other processes save between these reads may
    /// count. ``explain(_:)-(Selection<Object,Row>)`` tells.
    ///
    /// - Parameter selection: The columns, and which objects.
    /// - Returns: The rows in order.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``; ``QueryError`` also when a column does not fit the model, when a group has
    ///   several values of one, and naming the attribute whose type cannot hold an aggregate.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)`` without a limit, and O(*g* log *g*) for *g* groups.
    public func fetch<Object, Row>(_ selection: Selection<Object, Row>) throws -> [Row] {
        try cells(of: selection).map { cells in
            var cells = cells
            return try selection.row(&cells)
        }
    }

    /// The rows of a selection as they are found, before they have a type.
    func cells<Object, Row>(of selection: Selection<Object, Row>) throws -> [SelectedCells] {
        requireQueue()
        processPendingChanges()
        let request = selection.request
        let entity = try request.entity(in: coordinator.model)
        let plan = try SelectionPlan(selection, of: entity, in: coordinator.model.schema)
        let names = plan.names
        switch plan {
        case .objects(let paths):
            let rows = try parentStore.inOneTurn { try self.rows(of: request, at: paths) }
            return rows.map { values in
                SelectedCells(names, values) { .unreadableColumn(names[$0], entity.schema) }
            }
        case .groups(let grouping):
            let filters = try selection.predicates.map {
                try $0.filter(of: grouping, in: coordinator.model)
            }
            let rows = try parentStore.inOneTurn { try groupedRows(of: request, by: grouping) }
            return try selection.kept(
                rows, in: grouping, filters, limit: request.countMaximum())
        }
    }

    /// The identifiers of the objects that meet a request, in its order.
    ///
    /// No object is made, and none of those that exist is changed.
    ///
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func identifiers<Object>(of request: FetchRequest<Object>) throws -> [ManagedObjectID] {
        let stores = storesByNumber
        return try objectIDs(request).compactMap { id in
            stores[id.store].map { identifier(of: id.object, in: $0) }
        }
    }

    /// How a selection will be carried out: as ``explain(_:)-(FetchRequest<Object>)`` of its request, and how its
    /// columns are read.
    ///
    /// - Throws: ``QueryError`` when the selection does not fit the model.
    public func explain<Object, Row>(_ selection: Selection<Object, Row>) throws -> String {
        requireQueue()
        processPendingChanges()
        var request = selection.request
        let entity = try request.entity(in: coordinator.model)
        let plan = try SelectionPlan(selection, of: entity, in: coordinator.model.schema)
        if case .groups = plan { request.order = [] }
        let isOneByOne = try reading(request, plan) == .oneByOne
        let reading =
            switch plan {
            case .objects:
                isOneByOne ? "columns are read object by object" : "columns are read from the rows"
            case .groups(let grouping):
                (isOneByOne ? "objects are grouped one by one" : "rows are grouped where they lie")
                    + (grouping.keys.isEmpty
                        ? ""
                        : ", by \(grouping.keys.map { "'\($0.text)'" }.joined(separator: ", "))")
            }
        return "\(try explain(request)); \(reading)"
    }

    // MARK: - How

    /// How the values of a selection are read.
    private enum SelectionReading {
        /// From the rows of the stores, and nothing is pending that counts.
        case rows
        /// From the rows of the stores, and what is pending is laid over them.
        case rowsUnderPending
        /// Object by object.
        case oneByOne
    }

    private func reading<Object>(
        _ request: FetchRequest<Object>, _ plan: SelectionPlan
    ) throws -> SelectionReading {
        let isInRows = plan.paths.allSatisfy { $0.steps.allSatisfy(\.isPersistent) }
        guard isInRows, parentStore.rowFinder != nil else { return .oneByOne }
        let targets = targets(try stores(for: request))
        var isAnswered = true
        for target in targets {
            guard let store = target.store,
                case .query(var query) = try self.plan(request, for: target)
            else { return .oneByOne }
            query.sortings += plan.paths.map { Sorting($0) }
            isAnswered = isAnswered && isAnsweredBelow(query, store)
        }
        let isOverlaid = request.includesPendingChanges && !journal.isAtBase
        switch plan {
        case .objects: return targets.count == 1 && !isOverlaid ? .rows : .oneByOne
        case .groups(let grouping):
            if !isOverlaid { return .rows }
            // Which object leads here may be pending on the other side.
            let isStoredHere = plan.paths.allSatisfy { $0.steps.allSatisfy { $0.slot != nil } }
            return isAnswered && isStoredHere && grouping.table.isOrderFree
                ? .rowsUnderPending : .oneByOne
        }
    }

    var storesByNumber: [UInt32: PersistentStore] {
        Dictionary(
            coordinator.persistentStores.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    }

    /// The identifier of an object that may be pending here.
    private func identifier(of object: ObjectID, in store: PersistentStore) -> ManagedObjectID {
        registry[GraphID(store: store.number, object: object)]?.objectID ?? store.objectID(object)
    }

    /// A value as a program reads it.
    private func selected(_ value: Value, in store: PersistentStore?) -> SelectedValue {
        guard let store else { return SelectedValue(value: value, objectID: nil) }
        return SelectedValue(
            value: store.attached(value),
            objectID: value.reference.map { identifier(of: $0, in: store) })
    }

    // MARK: - Objects

    private func rows<Object>(
        of request: FetchRequest<Object>, at paths: [FilterPath]
    ) throws -> [[SelectedValue]] {
        if case .rows = try reading(request, .objects(paths)), let finder = parentStore.rowFinder,
            let target = targets(try stores(for: request)).first, let store = target.store,
            case .query(let query) = try plan(request, for: target)
        {
            return try finder.values(at: paths, of: query, in: store).map { row in
                row.map { selected($0, in: store) }
            }
        }
        let stores = storesByNumber
        return try objectIDs(request).compactMap { id in
            guard let store = stores[id.store] else { return nil }
            let source = ContextSource(
                context: self, store: store, seesPending: request.includesPendingChanges)
            return try paths.map {
                selected(try Sorting($0).key(of: id.object, in: source), in: store)
            }
        }
    }

    // MARK: - Groups

    private func groupedRows<Object>(
        of request: FetchRequest<Object>, by grouping: Grouping
    ) throws -> [[SelectedValue]] {
        var request = request
        // These are about the rows of the result.
        request.order = []
        request.limit = nil
        request.offset = 0
        let targets = targets(try stores(for: request))
        // Objects of different stores may have the same number.
        let hasPrefix =
            targets.count > 1 && grouping.keys.contains { $0.steps.last?.attribute == nil }
        let reading = try reading(request, .groups(grouping))
        var table = grouping.table
        for target in targets {
            guard let store = target.store else { continue }
            var part = table.beginning
            if reading == .oneByOne {
                let found = try objectIDs(request, target).map(\.object)
                try add(found, of: request, in: store, by: grouping, to: &part)
            } else if let finder = parentStore.rowFinder,
                case .query(var query) = try plan(request, for: target)
            {
                var pending: [ObjectID] = []
                if reading == .rowsUnderPending {
                    pending = try pendingMatches(query, store)
                    let changed = changedObjects(of: query, store).map { Value.object($0) }
                    query.filter = .and([
                        .not(.membership(.object, FilterValues(changed), [])), query.filter,
                    ])
                }
                try finder.group(&part, by: grouping, query, in: store)
                try add(pending, of: request, in: store, by: grouping, to: &part)
            }
            if hasPrefix {
                try table.append(part, fromStore: .int(Int64(store.number)))
            } else {
                table.append(part)
            }
        }
        let only = targets.count == 1 ? targets[0].store : nil
        let stores = storesByNumber
        return try grouping.groups(of: table, hasPrefix: hasPrefix).map { group in
            var store = only
            if case .int(let number)? = group.prefix { store = stores[UInt32(number)] }
            return grouping.columns.map { selected(group[$0], in: store) }
        }
    }

    /// Adds objects one by one, with the values that they have here.
    private func add<Object>(
        _ objects: [ObjectID], of request: FetchRequest<Object>, in store: PersistentStore,
        by grouping: Grouping, to table: inout GroupTable
    ) throws {
        let source = ContextSource(
            context: self, store: store, seesPending: request.includesPendingChanges)
        func value(_ path: FilterPath, of object: ObjectID) throws -> Value {
            try Sorting(path).key(of: object, in: source)
                .normalized(for: path.steps.last?.attribute?.type)
        }
        for object in objects {
            var key: [UInt8] = []
            for path in grouping.keys { key += try value(path, of: object).encoded }
            let group = table.group(key.span.bytes)
            table.addObject(to: group)
            for (index, measure) in grouping.measures.enumerated() {
                guard let path = measure.path else { continue }
                table.add(try value(path, of: object), to: index, of: group)
            }
        }
    }
}

extension Selection {
    /// The rows that are asked for, of all groups in order.
    fileprivate func kept(
        _ groups: [[SelectedValue]], in grouping: Grouping, _ filters: [Filter], limit: Int?
    ) throws -> [SelectedCells] {
        let names = grouping.names
        let end = limit.map { $0.addingReportingOverflow(max(0, request.offset)) }
        let last = end.map { $0.overflow ? .max : $0.partialValue } ?? .max
        var seen: Set<[Value]> = []
        var rows: [SelectedCells] = []
        var passed = 0
        for values in groups where passed < last {
            let cells = SelectedCells(names, values) { index in
                grouping.unreadable(grouping.columns[index])
            }
            let columns = values.map(\.value)
            guard try filters.allSatisfy({ try $0.matches(columns: columns) }),
                try isKept(cells)
            else { continue }
            if isDistinct, !seen.insert(columns).inserted { continue }
            passed += 1
            if passed > request.offset { rows.append(cells) }
        }
        return rows
    }

    /// Whether the closures of `having` keep a row.
    private func isKept(_ cells: SelectedCells) throws -> Bool {
        if conditions.isEmpty { return true }
        var cells = cells
        let row = try self.row(&cells)
        return try conditions.allSatisfy { try $0(row) }
    }
}

extension Grouping {
    /// The error for a value that the type of its column cannot read.
    fileprivate func unreadable(_ column: Column) -> QueryError {
        if case .measure(let index) = column, let path = measures[index].path {
            return misfit(measures[index].function, path)
        }
        return .unreadableColumn(name(of: column), entity)
    }
}

extension QueryError {
    fileprivate static func unreadableColumn(_ name: String, _ entity: SchemaEntity) -> QueryError {
        QueryError(
            "A value of '\(name)' of '\(entity.name)' cannot be read as the type of its column. Make the "
                + "column optional where there may be no value, or give its type an 'unknownValue'."
        )
    }
}
