import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Inserts objects straight into a store, as one entry and without managed objects.
    ///
    /// Pending changes of the context stay as they are. The context itself learns of the objects as of
    /// what others save: at the next fetch, by merging, or at once where it merges automatically. It
    /// cannot undo the entry until it has merged it. A child inserts into the store as well, past its
    /// parents.
    ///
    /// - Parameters:
    ///   - request: What to insert.
    ///   - author: Who inserts it; the context's ``author`` when nil.
    ///   - note: Why, in words.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The entry, how many objects were inserted and, if asked for, which.
    /// - Throws: ``StoreError`` with code `validation` and every failure, which names row (from 1) and
    ///   property; after a hundred rows that set what cannot be set, no more rows are asked for; with
    ///   `duplicate` for a value that must be unique and is taken and `conflict` for a reference to an
    ///   object that is gone, or that another holds where only one can, which name the rows, unless the
    ///   merge policy settles it; with `noSuchEntity`, `noSuchStore`, `readOnly`, `full` or
    ///   `inputOutput`; or what the request's closure throws. Nothing has been saved then.
    /// - Complexity: O(*k* log *n*), *k* the number of rows, *n* of objects in the store. All
    ///   values are in memory until the entry is saved: several entries of 100,000 rows take less memory
    ///   than one of millions.
    @discardableResult
    public func execute<Object>(
        _ request: BatchInsertRequest<Object>, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> BatchInsertResult {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        let entity = try entity(of: request)
        let store = try store(for: request, entity.schema.number)
        let (rows, refusals) = try rows(of: request, entity, in: store)
        guard !rows.isEmpty else {
            return BatchInsertResult(sequence: nil, count: 0, objectIDs: [])
        }
        guard refusals.isEmpty else {
            // Nothing will be saved, so any numbers will do to distinguish the rows.
            let batch = InsertedBatch(entity: entity.schema, first: 1, count: rows.count)
            throw StoreError.validation(
                batch.failures(in: rows, beside: refusals, of: coordinator.model.schema))
        }
        let batch = InsertedBatch(
            entity: entity.schema, first: try store.store.allocateObjectNumbers(rows.count),
            count: rows.count)
        let attribution = attribution(author, note, info)
        let header = EntryHeader(
            kind: .batch, author: attribution.author, note: attribution.note,
            info: attribution.info, context: attribution.context,
            occurredAt: date?.microseconds, base: try store.head())
        let saveRequest = SaveRequest(
            header: header, changes: batch.changes(rows), policy: mergePolicy)
        do {
            let outcome = try save(saveRequest, to: store)
            return batch.result(outcome, request.resultType, in: store)
        } catch let error as StoreError {
            throw batch.explained(error)
        }
    }

    private func entity<Object>(
        of request: BatchInsertRequest<Object>
    ) throws -> GraphEntity {
        let name = request.entityName
        guard let entity = coordinator.model.entity(named: name) else {
            throw StoreError.noSuchEntity(name)
        }
        guard !entity.schema.isAbstract else {
            throw StoreError.validation([
                ValidationFailure(
                    .invalid, "'\(name)' is abstract, so there can be no object of it.")
            ])
        }
        return entity
    }

    private func store<Object>(
        for request: BatchInsertRequest<Object>, _ entity: EntityNumber
    ) throws -> PersistentStore {
        guard let store = request.store else { return try coordinator.store(forNew: entity) }
        guard coordinator.has(store) else { throw StoreError.noSuchStore(store.name) }
        guard !store.isReadOnly else { throw StoreError.readOnlyStore(store) }
        guard store.holds(entity) else { throw StoreError.noStore(for: request.entityName) }
        return store
    }

    private func rows<Object>(
        of request: BatchInsertRequest<Object>, _ entity: GraphEntity, in store: PersistentStore
    ) throws -> (rows: [[Value]], refusals: [Int: [ValidationFailure]]) {
        var rows: [[Value]] = []
        var row = BatchInsertRow<Object>(entity, in: store)
        while row.cells.refusals.count < InsertedBatch.refusedRowsMaximum,
            try request.fill(&row) == .insert
        {
            rows.append(row.cells.values)
            row.cells.advance()
        }
        return (rows, row.cells.refusals.filter { $0.key < rows.count })
    }

    private func save(_ saveRequest: SaveRequest, to store: PersistentStore) throws -> SaveResult {
        try store.writingValues { values in
            var valued = saveRequest
            valued.userValues = values
            let outcome = try commit(valued, to: store)
            return (outcome, outcome.sequence != nil)
        }
    }
}

/// The objects of a batch: one for each row, numbered in their order.
private struct InsertedBatch {
    let entity: SchemaEntity
    let first: UInt64
    let count: Int

    /// A mistake in so many rows is probably in most, and need not be reported for all.
    static let refusedRowsMaximum = 100

    private func object(ofRow index: Int) -> ObjectID {
        ObjectID(entity: entity.number, number: first + UInt64(index))
    }

    private func row(of object: ObjectID?) -> Int? {
        guard let object, object.entity == entity.number, object.number >= first,
            object.number - first < UInt64(count)
        else { return nil }
        return Int(object.number - first) + 1
    }

    func changes(_ rows: [[Value]]) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(rows.count)
        for index in rows.indices {
            changes.append(
                Change(
                    object: object(ofRow: index), kind: .insert(values: rows[index], members: [])))
        }
        return changes
    }

    /// Everything that is wrong with the rows when some set what cannot be set, row by row.
    func failures(
        in rows: [[Value]], beside refusals: [Int: [ValidationFailure]], of schema: Schema
    ) -> [ValidationFailure] {
        rows.indices.flatMap { index in
            let refused = refusals[index] ?? []
            let misfits = zip(entity.slots, rows[index]).compactMap {
                property, value -> ValidationFailure? in
                // A value that could not be set is not reported as missing as well.
                guard !refused.contains(where: { $0.property == property.name }),
                    let misfit = property.misfit(of: value)
                else { return nil }
                return explained(
                    ValidationFailure(misfit, of: property, in: object(ofRow: index), schema))
            }
            return refused + misfits
        }
    }

    func result(
        _ outcome: SaveResult, _ type: BatchInsertResultType, in store: PersistentStore
    ) -> BatchInsertResult {
        var identifiers: [ManagedObjectID] = []
        if type == .objectIDs {
            // A policy of the program's own may have dropped rows.
            let inserted = Set(outcome.changes.lazy.filter(\.isInsert).map(\.object))
            identifiers = (0..<count).compactMap { index in
                let object = object(ofRow: index)
                let kept = outcome.replaced[object] ?? (inserted.contains(object) ? object : nil)
                return kept.map(store.objectID)
            }
        }
        return BatchInsertResult(
            sequence: outcome.sequence, count: outcome.changes.count(where: \.isInsert),
            objectIDs: identifiers)
    }

    /// The same error, with rows instead of objects that have never existed.
    func explained(_ error: StoreError) -> StoreError {
        switch error.code {
        case .validation:
            return .validation(error.failures.map(explained))
        case .duplicate:
            let lines = error.constraintConflicts.map(line)
            return StoreError(
                .duplicate,
                lines.count == 1
                    ? "Nothing was saved: \(lines[0])"
                    : "Nothing was saved: \(lines.count) values are taken.",
                constraintConflicts: error.constraintConflicts,
                details: lines.count == 1 ? [] : lines)
        case .conflict:
            let lines = zip(error.conflicts, error.details).map { line($0, told: $1) }
            return StoreError(
                .conflict,
                lines.count == 1
                    ? "Nothing was saved: \(lines[0])"
                    : "Nothing was saved: \(lines.count) conflicts with changes saved meanwhile.",
                conflicts: error.conflicts, details: lines.count == 1 ? [] : lines)
        default: return error
        }
    }

    /// A conflict, which can only be that a row leads to an object that others have deleted, or that
    /// another object holds where only one can.
    private func line(_ conflict: MergeConflict, told detail: String) -> String {
        guard let row = row(of: conflict.object) else { return detail }
        let name = conflict.propertyName.map { "'\($0)'" } ?? "it"
        let property = conflict.propertyName.flatMap { entity.property(named: $0) }
        let isForOne = property?.isExclusive ?? false
        return "Row \(row) of the batch: \(name) leads to an object that is gone"
            + (isForOne ? " or that another holds." : ".")
    }

    private func explained(_ failure: ValidationFailure) -> ValidationFailure {
        guard let row = row(of: failure.object) else { return failure }
        return ValidationFailure(
            failure.reason, property: failure.property,
            "Row \(row) of the batch: \(failure.message)", cause: failure.cause)
    }

    private func line(_ conflict: ConstraintConflict) -> String {
        let rows = conflict.objects.compactMap(row).map(String.init).joined(separator: ", ")
        let names = conflict.properties.map { "'\($0)'" }.joined(separator: " and ")
        let owner = conflict.owner.map { ", and object \($0.number) of the store has it" } ?? ""
        return "Row \(rows) of the batch: \(names) must be unique\(owner)."
    }
}
