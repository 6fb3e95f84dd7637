import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    // MARK: - One fault

    /// Reads a fault's record; when there is none, the object counts as deleted and reads as empty
    /// unless the program wants it otherwise. When the store cannot be read, it reads as empty this
    /// time and stays a fault.
    ///
    /// - Returns: Why the record could not be read; nil when it was.
    func failure(
        firing object: ManagedObject, from origin: ReadSource = .anywhere
    ) -> (any Error)? {
        do {
            try realize(object, from: origin)
            return nil
        } catch {
            object.values = object.binding.schema.defaults.map { _ in .null }
            if isGone(error), countsAsDeleted(object, error) {
                object.undergo(.read)
                object.undergo(.foundGone)
                object.letGoOfRow()
                changed.note(object, as: .deleted)
            } else {
                changed.note(object, as: .invalidated)
            }
            inaccessibleFaultHandler?(object.objectID, error)
            return error
        }
    }

    private func isGone(_ error: any Error) -> Bool {
        let code = (error as? StoreError)?.code
        return code == .objectDeleted || code == .noSuchObject
    }

    private func countsAsDeleted(_ object: ManagedObject, _ error: any Error) -> Bool {
        shouldHandleInaccessibleFault?(object, error) ?? shouldDeleteInaccessibleFaults
    }

    /// Lets an object that was found gone be read again where it is there after all: somebody has
    /// brought it back, and what a save comes to depends on it.
    func lookAgain(for id: GraphID) {
        guard let object = identityMap[id], object.status.isGone, isBack(id) else {
            return
        }
        object.relations = [:]
        object.becomeFault(.anew)
        changed.note(object, as: .refreshed)
    }

    /// Whether an object that was found gone is there again: what cannot be read stays gone, and of
    /// a row that another context still holds nothing follows.
    private func isBack(_ id: GraphID) -> Bool {
        do {
            return try parent == nil ? storedRow(of: id) != nil : underlyingRow(of: id) != nil
        } catch {
            mergeFailureHandler?(error)
            return false
        }
    }

    /// The row to make an object of, shared with other contexts.
    func sharedRow(
        for object: ManagedObject, _ rows: RowCache, from origin: ReadSource
    ) throws -> EncodedRow? {
        let id = object.graphID
        let isNewHolder = !object.status.holdsRow && object.rowPage == nil
        if origin == .anywhere,
            let row = rows.row(id, within: stalenessInterval, isHeld: isNewHolder)
        {
            if isNewHolder { object.holdRow() }
            return row
        }
        let ticket = rows.ticket()
        guard let row = try storedRow(of: id) else { return nil }
        rows.hold(row, of: id, ticket, isNewHolder: !object.status.holdsRow)
        object.holdRow()
        return row
    }

    /// Keeps a row that was read for the other contexts.
    func share(_ row: EncodedRow, of object: ManagedObject, _ ticket: RowCache.Ticket) {
        guard queryGeneration == nil, let rows = object.binding.rows else { return }
        rows.hold(row, of: object.graphID, ticket, isNewHolder: !object.status.holdsRow)
        object.holdRow()
    }

    // MARK: - Many faults

    /// Reads the records of all faults among some objects, in one read of each store.
    ///
    /// Firing faults one by one costs a read each. Objects whose record has been deleted stay faults:
    /// they say so when a property is asked for.
    ///
    /// - Throws: ``StoreError`` when a store cannot be read; all objects are then as they were.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of faults and *n* of objects.
    public func realize(_ objects: some Sequence<ManagedObject>) throws {
        requireQueue()
        try readTogether(objects) { install($1, in: $0) }
    }

    /// Reads the rows of faults and keeps them for the moment in which the faults fire.
    func readAhead(_ objects: some Sequence<ManagedObject>) throws {
        try readTogether(objects) { _, _ in }
    }

    /// Reads the rows of all faults in one go, and hands them out when all have been read.
    private func readTogether(
        _ objects: some Sequence<ManagedObject>, _ body: (ManagedObject, Row) -> Void
    ) throws {
        let faults = objects.filter(\.isFault)
        if let parent {
            let rows = try parent.performForChild {
                try faults.map { try parent.currentRow(of: $0.graphID) }
            }
            for (object, row) in zip(faults, rows) {
                if let row { body(object, row) }
            }
            return
        }
        for (number, faults) in Dictionary(grouping: faults, by: \.graphID.store) {
            guard let first = faults.first, number == first.graphID.store else { continue }
            let store = try store(of: first.graphID)
            let ticket = coordinator.rows.ticket()
            let rows = try store.read(at: position(toRead: store)) { snapshot in
                try faults.map { try snapshot.row($0.graphID.object) }
            }
            for (object, row) in zip(faults, rows) {
                guard let row else { continue }
                if let packed = row.packed { share(packed, of: object, ticket) }
                body(object, row)
            }
        }
    }

    // MARK: - Batches

    /// Notes that faults were fetched in batches.
    func noteBatches(of objects: [ManagedObject], size: Int) {
        faultBatches.sweep { identityMap[$0]?.isFault == true }
        faultBatches.add(objects.filter(\.isFault).map(\.graphID), size: size)
    }

    /// Reads the whole batch that a fault is in.
    ///
    /// - Returns: Whether the object is no fault any more.
    func fireBatch(of object: ManagedObject) throws -> Bool {
        guard let batch = faultBatches.take(object.graphID) else { return false }
        try realize(batch.compactMap { identityMap[$0] })
        return !object.isFault
    }
}
