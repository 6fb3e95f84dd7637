// The room of batches: inserts, updates and deletes of many objects as one entry, without managed objects. It
// works on the stores, past the objects and pending changes of the context, which learns of the entry as of
// any other.

import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Gives many objects of a store other values, as one entry and without managed objects.
    ///
    /// Pending changes of the context stay as they are. The context itself learns of the entry as of what
    /// others save: at the next fetch, by merging, or at once where it merges automatically. A child updates
    /// the store as well, past its parents.
    ///
    /// - Parameters:
    ///   - request: Which objects, and what to do to them.
    ///   - author: Who does it; the context's ``author`` when nil.
    ///   - note: Why, in words.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The entry and, if asked for, how many objects were changed, and which.
    /// - Throws: ``QueryError`` when the request does not fit the model, depends on a transient attribute, or is for
    ///   several entities or stores; ``StoreError`` with code `validation` and every value that is not valid; with `duplicate`
    ///   for values that must be unique; with `conflict` or `conditionFailed` when others have changed the
    ///   objects again and again meanwhile; with `noSuchStore`, `readOnly`, `full` or `inputOutput`.
    ///   Nothing has been saved then.
    /// - Complexity: As of fetching the objects, and O(*k* log *n*), *k* the number of changes, *n* of
    ///   objects in the store. All changes are in memory until the entry is saved.
    @discardableResult
    public func execute<Object>(
        _ request: BatchUpdateRequest<Object>, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> BatchResult {
        let attribution = attribution(author, note, info)
        guard let batch = try batch(request) else { return BatchResult.nothing(request.resultType) }
        return try carryOut(batch, request.resultType, attribution, at: date)
    }

    /// Deletes many objects of a store, as one entry and without managed objects.
    ///
    /// - Parameters:
    ///   - request: Which objects.
    ///   - author: Who does it; the context's ``author`` when nil.
    ///   - note: Why, in words.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The entry and, if asked for, how many objects were deleted or changed, and which.
    /// - Throws: As for a ``BatchUpdateRequest``; ``StoreError`` with code `validation` also for a
    ///   relationship that forbids the delete, and for one that cannot be without a deleted object.
    /// - Complexity: As of fetching the objects, and O((*k* + *r*) log *n*), *k* the number of objects,
    ///   *r* of those related to them, *n* of all in the store.
    @discardableResult
    public func execute<Object>(
        _ request: BatchDeleteRequest<Object>, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> BatchResult {
        let attribution = attribution(author, note, info)
        guard let batch = try batch(request) else { return BatchResult.nothing(request.resultType) }
        return try carryOut(batch, request.resultType, attribution, at: date)
    }

    /// What an update of many objects would do now: how many it would change, which, and what it would
    /// throw. Nothing is written.
    ///
    /// - Throws: ``QueryError`` when the request does not fit the model; ``StoreError`` when the store
    ///   cannot be read.
    /// - Complexity: As of executing the request.
    public func preview<Object>(_ request: BatchUpdateRequest<Object>) throws -> BatchPreview {
        try preview(batch(request))
    }

    /// What a delete of many objects would do now: how many it would delete, which, what follows by the
    /// delete rules, and what it would throw. Nothing is written.
    ///
    /// - Throws: ``QueryError`` when the request does not fit the model; ``StoreError`` when the store
    ///   cannot be read.
    /// - Complexity: As of executing the request.
    public func preview<Object>(_ request: BatchDeleteRequest<Object>) throws -> BatchPreview {
        try preview(batch(request))
    }

    // MARK: - From requests to tasks

    /// What is to be done to which objects of which store.
    private struct Batch {
        let store: PersistentStore
        let query: Query
        let task: BatchTask
    }

    /// - Returns: Nil when the request names no objects.
    private func batch<Object>(_ request: BatchUpdateRequest<Object>) throws -> Batch? {
        guard let target = try target(of: request.scope) else { return nil }
        let assignments = try [RowAssignment](
            request.assignments, of: target.entity, in: target.store)
        return Batch(store: target.store, query: target.query, task: .update(assignments))
    }

    private func batch<Object>(_ request: BatchDeleteRequest<Object>) throws -> Batch? {
        try target(of: request.scope).map {
            Batch(store: $0.store, query: $0.query, task: .delete)
        }
    }

    private struct Target {
        let store: PersistentStore
        let query: Query
        let entity: GraphEntity
    }

    private func target<Object>(of scope: BatchScope<Object>) throws -> Target? {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        let target: Target?
        switch scope {
        case .request(let request):
            let (store, query) = try query(inOneStore: request, "A batch is one entry")
            target = Target(
                store: store, query: query, entity: try request.entity(in: coordinator.model))
        case .objects(let ids, let name): target = try self.target(of: ids, entityName: name)
        }
        if let store = target?.store, store.isReadOnly { throw StoreError.readOnlyStore(store) }
        return target
    }

    private func target(of ids: [ManagedObjectID], entityName name: String) throws -> Target? {
        guard let entity = coordinator.model.entity(named: name) else {
            throw StoreError.noSuchEntity(name)
        }
        guard let first = ids.first else { return nil }
        let store = coordinator.persistentStores.first { $0.identifier == first.storeIdentifier }
        guard let store else { throw StoreError.noSuchStore(first.description) }
        for id in ids {
            if id.storeIdentifier != first.storeIdentifier {
                throw QueryError.inBatch(id, "is in another store than '\(first)'")
            }
            if !entity.schema.family.contains(id.object.entity) {
                throw QueryError.inBatch(id, "is no object of '\(name)'")
            }
        }
        let filter = Filter.membership(.object, FilterValues(ids.map { .object($0.object) }), [])
        return Target(store: store, query: Query(entity.schema, filter: filter), entity: entity)
    }

    /// The store that a request is for, and its query there.
    ///
    /// - Throws: ``QueryError`` when it is for several stores, when no filter stands for its condition, and when it depends
    ///   on a transient attribute.
    func query<Object>(
        inOneStore request: FetchRequest<Object>, _ reason: String
    ) throws -> (PersistentStore, Query) {
        let stores = try stores(for: request)
        guard let store = stores.first else { throw StoreError.noStore(for: request.entityName) }
        guard stores.count == 1 else {
            throw QueryError(
                "'\(request.entityName)' is in \(stores.count) stores. \(reason) of one store: set "
                    + "'affectedStores' to it.")
        }
        switch try plan(request, for: targets(stores)[0]) {
        case .query(let query):
            if let property = query.dependencies.lazy.compactMap(\.property).first(where: {
                !$0.isPersistent
            }) {
                throw QueryError(
                    "'\(property.name)' is transient and is not stored, so '\(store.name)' cannot choose "
                        + "objects by it. Ask for what is stored, or fetch the objects and name them."
                )
            }
            return (store, query)
        case .memory(let expression):
            throw QueryError(
                "No filter stands for \(expression), so only objects could be asked. Write the "
                    + "condition with key paths or as text.")
        }
    }

    // MARK: - Carrying out

    /// So often others may come between choosing the objects and changing them.
    private static let batchAttemptsMaximum = 10

    private func carryOut(
        _ batch: Batch, _ type: BatchResultType, _ attribution: Attribution, at date: Date?
    ) throws -> BatchResult {
        var attempt = 1
        while true {
            let plan = try batch.store.store.batchPlan(batch.task, of: batch.query)
            if let refusal = plan.refusal { throw refusal }
            guard !plan.changes.isEmpty else { return .nothing(type) }
            var request = SaveRequest(plan, attribution)
            request.header.occurredAt = date?.microseconds
            do {
                let result = try commit(request, toStoreOf: batch)
                return BatchResult(
                    BatchChanges(plan.changes), result.sequence, type, in: batch.store)
            } catch let error as StoreError
                where error.code == .conditionFailed || error.code == .conflict
            {
                attempt += 1
                // Where nobody has saved since, it would be the same again.
                guard attempt <= Self.batchAttemptsMaximum, try batch.store.head() > plan.base
                else { throw error }
            }
        }
    }

    private func commit(_ request: SaveRequest, toStoreOf batch: Batch) throws -> SaveResult {
        try batch.store.writingValues { values in
            var valued = request
            valued.userValues = values
            let result = try batch.store.commit(valued)
            return (result, result.sequence != nil)
        }
    }

    private func preview(_ batch: Batch?) throws -> BatchPreview {
        guard let batch else { return BatchPreview(BatchChanges([]), refusal: nil, in: nil) }
        let plan = try batch.store.store.batchPlan(batch.task, of: batch.query)
        var refusal = plan.refusal
        if refusal == nil, !plan.changes.isEmpty {
            do {
                _ = try batch.store.store.preview(SaveRequest(plan, Attribution()))
            } catch let error as StoreError where error.isRefusal {
                refusal = error
            }
        }
        return BatchPreview(BatchChanges(plan.changes), refusal: refusal, in: batch.store)
    }
}

extension SaveRequest {
    /// The request that carries out a plan.
    fileprivate init(_ plan: BatchPlan, _ attribution: Attribution) {
        let header = EntryHeader(
            kind: .batch, author: attribution.author, note: attribution.note,
            info: attribution.info,
            context: attribution.context, base: plan.base)
        self.init(header: header, changes: plan.changes, policy: .error)
        conditions = [plan.condition]
    }
}

extension BatchResult {
    /// The result when there was nothing to do.
    fileprivate static func nothing(_ type: BatchResultType) -> BatchResult {
        BatchResult(BatchChanges([]), nil, type, in: nil)
    }
}

extension QueryError {
    fileprivate static func inBatch(_ id: ManagedObjectID, _ objection: String) -> QueryError {
        QueryError("The batch names '\(id)', which \(objection).")
    }
}
