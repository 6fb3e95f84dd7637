import DaybookObjectModel
import DaybookSnapshotStore

/// A request, made ready to be asked of one object at a time.
///
/// It is that of a context with the stores which the coordinator had when it was made.
struct WatchedRequest {
    /// One of the stores that are searched.
    private struct Target {
        let store: PersistentStore
        let query: Query
    }

    /// The order of the objects. With sections, theirs comes first.
    let order: ResultOrder
    /// Whether the first key of an object is that of its section.
    let hasSections: Bool
    /// How many objects to leave out at the beginning, and how many there are at most.
    let offset: Int
    let limit: Int?
    /// Whether pending changes count.
    let seesPending: Bool
    /// Whether no filter stands for the condition, so that nobody knows on which objects it depends.
    let isInMemory: Bool
    /// How often stores had come and gone.
    let attachments: UInt64
    private let targets: [UInt32: Target]
    /// A value of each object that is kept beside those by which it is sorted.
    private let kept: Sorting?
    /// What the list reads of objects that relationships lead to.
    private let dependencies: [QueryDependency]
    private let owner: SchemaEntity
    private let find: (ManagedObjectContext) throws -> [GraphID]

    /// Makes a request ready.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - section: By what the objects are divided into sections; nil for no sections.
    ///   - value: What else is kept of each object; nil for nothing.
    ///   - context: Where it is asked.
    /// - Throws: ``QueryError`` when it does not fit the model, and where it depends on a transient
    ///   attribute.
    init<Object>(
        _ request: FetchRequest<Object>, section: RequestKey?, value: RequestKey? = nil,
        in context: ManagedObjectContext
    ) throws {
        let model = context.coordinator.model
        let entity = try request.entity(in: model)
        var whole = request
        whole.limit = nil
        whole.offset = 0
        if let section {
            let sorting = try FetchOrder<Object>(term: .key(section), isAscending: true)
                .sorting(of: entity, in: model.schema)
            let first = try request.order.first?.sorting(of: entity, in: model.schema)
            if first?.path != sorting.path {
                whole.order.insert(FetchOrder(term: .key(section), isAscending: true), at: 0)
            }
        }
        let query = try whole.queryForAll(in: model)
        kept = try value.map {
            try FetchOrder<Object>(term: .key($0), isAscending: true).sorting(
                of: entity, in: model.schema)
        }
        attachments = context.coordinator.attachmentCount
        let all = context.targets(try context.stores(for: request))
        var targets: [UInt32: Target] = [:]
        var isInMemory = false
        var dependencies: Set<QueryDependency> = []
        for target in all {
            guard let store = target.store else { continue }
            var asked = query
            switch try context.plan(whole, for: target) {
            case .query(let lowered):
                guard !lowered.filter.asksForPast else {
                    throw QueryError(
                        "A list of '\(entity.schema.name)' cannot be kept right by its past, which grows with "
                            + "each entry. Fetch when it is asked for.")
                }
                asked.filter = lowered.filter
            case .memory: isInMemory = true
            }
            targets[store.number] = Target(store: store, query: asked)
            var depending = asked
            if let kept { depending.sortings.append(kept) }
            dependencies.formUnion(depending.dependencies)
        }
        for dependency in dependencies {
            guard let property = dependency.property, !property.isPersistent else { continue }
            throw QueryError(
                "A list of '\(entity.schema.name)' cannot be kept right by '\(property.name)', which is "
                    + "transient and may change without being told. Keep the value in an attribute."
            )
        }
        order = ResultOrder(
            sortings: query.sortings,
            ranks: Dictionary(
                all.compactMap(\.store).enumerated().map { ($1.number, $0) },
                uniquingKeysWith: { first, _ in first }))
        hasSections = section != nil
        offset = max(0, request.offset)
        limit = try request.countMaximum()
        seesPending = request.includesPendingChanges
        self.isInMemory = isInMemory
        self.targets = targets
        self.dependencies = dependencies.filter { !$0.path.steps.isEmpty }
        owner = entity.schema
        let asked = whole
        find = { context in try all.flatMap { try context.objectIDs(asked, $0) } }
    }

    // MARK: - All objects

    /// All objects that meet the condition, in order.
    ///
    /// - Complexity: As of a fetch, and O(*n*) reads for each sorting.
    func entries(in context: ManagedObjectContext) throws -> [ResultEntry] {
        context.processPendingChanges()
        return try context.parentStore.inOneTurn {
            var entries: [ResultEntry] = []
            for id in try find(context) {
                guard let keys = try keys(of: id, in: context) else { continue }
                entries.append(ResultEntry(id: id, keys: keys))
            }
            // Others may have saved between the reads, and each store has sorted only its own.
            let isSorted = zip(entries, entries.dropFirst()).allSatisfy(order.precedes)
            return isSorted ? entries : entries.sorted(by: order.precedes)
        }
    }

    // MARK: - One object

    /// The entry of an object; nil when it does not meet the condition.
    ///
    /// - Complexity: O(*s*) reads, *s* the number of sortings and comparisons.
    func entry(of id: GraphID, in context: ManagedObjectContext) throws -> ResultEntry? {
        guard let target = targets[id.store], try isThere(id, in: context) else { return nil }
        let source = ContextSource(context: context, store: target.store, seesPending: seesPending)
        guard try target.query.matches(id.object, in: source),
            let keys = try keys(of: id, in: context)
        else { return nil }
        return ResultEntry(id: id, keys: keys)
    }

    private func keys(of id: GraphID, in context: ManagedObjectContext) throws -> [Value]? {
        guard let target = targets[id.store] else { return nil }
        let source = ContextSource(context: context, store: target.store, seesPending: seesPending)
        var keys: [Value] = []
        keys.reserveCapacity(order.sortings.count + (kept == nil ? 0 : 1))
        for sorting in order.sortings { keys.append(try sorting.key(of: id.object, in: source)) }
        if let kept { keys.append(try kept.key(of: id.object, in: source)) }
        return keys
    }

    private func isThere(_ id: GraphID, in context: ManagedObjectContext) throws -> Bool {
        seesPending ? try context.isFound(id) : try context.parentStore.isFound(id)
    }

    /// Whether an object can be in the list.
    func concerns(_ id: GraphID) -> Bool {
        targets[id.store]?.query.entities.contains(id.object.entity) == true
    }

    // MARK: - Related objects

    /// The objects whose place in the list may depend on changed ones that relationships lead to, each with
    /// one of those.
    ///
    /// The relationships are walked back from what has changed; nothing else is read.
    ///
    /// - Complexity: O(*a* log *n*) reads, *a* the number of objects on the way back.
    func dependents(
        of notices: ListNotices, in context: ManagedObjectContext
    ) throws -> [GraphID: GraphID] {
        var found: [GraphID: GraphID] = [:]
        for dependency in dependencies {
            let changed = notices.objects.filter { id, notice in
                targets[id.store] != nil && isAbout(dependency, id.object.entity, context)
                    && (notice.properties.map { known in
                        dependency.property.map { known.contains($0.number) } ?? false
                    } ?? true)
            }
            guard !changed.isEmpty else { continue }
            var reached = Dictionary(uniqueKeysWithValues: changed.keys.map { ($0, $0) })
            for index in dependency.path.steps.indices.reversed() {
                reached = try owners(of: reached, over: index, of: dependency.path, in: context)
            }
            found.merge(reached) { first, _ in first }
        }
        return found
    }

    private func isAbout(
        _ dependency: QueryDependency, _ entity: EntityNumber, _ context: ManagedObjectContext
    ) -> Bool {
        guard let end = dependency.path.steps.last?.end else { return false }
        return context.coordinator.model.schema.entity(end.destination)?.family.contains(entity)
            == true
    }

    /// The objects from which a step leads to some others.
    private func owners(
        of reached: [GraphID: GraphID], over index: Int, of path: FilterPath,
        in context: ManagedObjectContext
    ) throws -> [GraphID: GraphID] {
        let step = path.steps[index]
        var owners: [GraphID: GraphID] = [:]
        for (id, origin) in reached {
            for owner in try ownersOfOne(id, over: step, at: index, of: path, in: context) {
                owners[GraphID(store: id.store, object: owner)] = origin
            }
        }
        return owners
    }

    private func ownersOfOne(
        _ id: GraphID, over step: SchemaProperty, at index: Int, of path: FilterPath,
        in context: ManagedObjectContext
    ) throws -> [ObjectID] {
        guard let number = step.end?.inverse else {
            return try context.holders(
                of: id, over: step, of: self.entity(at: index, of: path, context),
                in: targets[id.store]?.store, seesPending: seesPending)
        }
        guard let back = context.binding(id.object.entity).schema.property(number) else {
            return []
        }
        if back.slot != nil {
            let value =
                seesPending
                ? try context.currentValue(of: back, in: id)
                : try context.parentStore.value(of: back, in: id)
            return value.reference.map { [$0] } ?? []
        }
        let members =
            seesPending
            ? try context.freshMembers(of: back, in: id)
            : try context.parentStore.freshMembers(of: back, in: id)
        return members.sorted
    }

    /// The entity of the objects from which a step of a path starts.
    private func entity(
        at index: Int, of path: FilterPath, _ context: ManagedObjectContext
    ) -> SchemaEntity? {
        guard index > 0 else { return owner }
        return path.steps[index - 1].end.flatMap {
            context.coordinator.model.schema.entity($0.destination)
        }
    }
}

extension ManagedObjectContext {
    /// The objects that refer to one over a relationship of which that one knows nothing.
    fileprivate func holders(
        of id: GraphID, over property: SchemaProperty, of entity: SchemaEntity?,
        in store: PersistentStore?, seesPending: Bool
    ) throws -> [ObjectID] {
        guard let entity, let store else { return [] }
        let isIt = Filter.comparison(
            FilterComparison(
                property.slot == nil ? .object : .path(FilterPath([property])), .equal,
                .constant(.object(id.object))))
        let query = Query(
            entity,
            filter: property.slot == nil ? .quantified(.any, FilterPath([property]), isIt) : isIt)
        return seesPending && !journal.isAtBase
            ? try fetchOverPending(query, store) : try parentStore.find(query, in: store)
    }
}
