import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    // MARK: - One fault

    /// Reads a fault's record. Without a record, the object counts as deleted and reads as empty unless
    /// the program wants it otherwise. When the store cannot be read, the object reads as empty this
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
                news.record(object, as: .deleted)
            } else {
                news.record(object, as: .invalidated)
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

    /// Lets an object that was found deleted be read again if it exists after all: somebody has brought
    /// it back, and the outcome of a save depends on it.
    func lookAgain(for id: GraphID) {
        guard let object = registry[id], object.status.isGone, isBack(id) else {
            return
        }
        object.relations = [:]
        object.becomeFault(.anew)
        news.record(object, as: .refreshed)
    }

    /// Whether an object that was found deleted exists again. What cannot be read stays deleted, and a
    /// row that another context still holds proves nothing.
    func isBack(_ id: GraphID) -> Bool {
        do {
            return try parentStore.exists(id)
        } catch {
            mergeFailureHandler?(error)
            return false
        }
    }

    /// Keeps a row that was read, for the other contexts.
    func share(_ row: EncodedRow, of object: ManagedObject, _ ticket: RowCache.Ticket) {
        guard !parentStore.isHeld, let rows = object.binding.rows else { return }
        rows.hold(row, of: object.graphID, ticket, isNewHolder: !object.status.holdsRow)
        object.holdRow()
    }

    // MARK: - Many faults

    /// Reads the records of all faults among some objects, in one read of each store.
    ///
    /// Firing faults one by one costs a read each. Objects whose record has been deleted stay faults
    /// until a property is read.
    ///
    /// - Throws: ``StoreError`` when a store cannot be read; the objects are unchanged then.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of faults and *n* of objects.
    public func realize(_ objects: some Sequence<ManagedObject>) throws {
        requireQueue()
        try readTogether(objects) { install($1, in: $0) }
    }

    /// Reads the rows of faults and keeps them until the faults fire.
    func readAhead(_ objects: some Sequence<ManagedObject>) throws {
        try readTogether(objects) { _, _ in }
    }

    /// Reads the rows of all faults at once, and hands them out when all have been read.
    private func readTogether(
        _ objects: some Sequence<ManagedObject>, _ body: (ManagedObject, Row) -> Void
    ) throws {
        let ticket = coordinator.rows.ticket()
        var found: [(ManagedObject, Row)] = []
        try parentStore.readTogether(objects.filter(\.isFault)) { faults, row, _ in
            for object in faults {
                if let row = try row(object.graphID) { found.append((object, row)) }
            }
        }
        for (object, row) in found {
            if let packed = row.packed { share(packed, of: object, ticket) }
            body(object, row)
        }
    }

    // MARK: - Batches

    /// Reads the whole batch that a fault is in.
    ///
    /// - Returns: Whether the object is no longer a fault.
    func fireBatch(of object: ManagedObject) throws -> Bool {
        guard let batch = registry.takeBatch(of: object) else { return false }
        try realize(batch)
        return !object.isFault
    }
}
