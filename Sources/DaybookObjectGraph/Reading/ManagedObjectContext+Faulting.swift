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

    /// Keeps a row that was read, for the other contexts: together with those that were read with it, or on
    /// its own.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - page: The rows that were read with it, of which all objects come one after the other.
    ///   - object: The object.
    ///   - ticket: The ticket taken before the row was read.
    ///   - last: The page of the object before, which is shared already.
    func share(
        _ row: Row, _ page: RowPage?, of object: ManagedObject, _ ticket: RowCache.Ticket,
        _ last: inout RowPage?
    ) {
        guard let page else {
            if let packed = row.packed { share(packed, of: object, ticket) }
            return
        }
        object.holdRow(with: page)
        guard page !== last else { return }
        coordinator.rows.hold(page, ticket)
        last = page
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

    /// Reads the records of all faults among some objects as they are in a state.
    func realize(_ objects: some Sequence<ManagedObject>, in state: ReadState) throws {
        try readTogether(objects, in: state) { install($1, in: $0) }
    }

    /// Reads the rows of faults and keeps them until the faults fire.
    func readAhead(_ objects: some Sequence<ManagedObject>) throws {
        try readTogether(objects) { _, _ in }
    }

    /// Reads the rows of all faults at once, and hands them out when all have been read.
    private func readTogether(
        _ objects: some Sequence<ManagedObject>, in state: ReadState? = nil,
        _ body: (ManagedObject, Row) -> Void
    ) throws {
        let ticket = coordinator.rows.ticket()
        var found: [(object: ManagedObject, row: Row, page: RowPage?)] = []
        let read = {
            try self.parentStore.readTogether(objects.filter(\.isFault)) { faults, rows, _ in
                var rest = faults[...]
                try rows(faults.map(\.graphID)) { id, row, page in
                    // The rows come in the order of the objects; those without one are passed over.
                    while let object = rest.popFirst() {
                        guard object.graphID == id else { continue }
                        return found.append((object, row, page))
                    }
                }
            }
        }
        if let state { try parentStore.reading(state, read) } else { try read() }
        var last: RowPage?
        for (object, row, page) in found {
            // Others share only what is new.
            if state == nil { share(row, page, of: object, ticket, &last) }
            // A hook of one that came before may have made it real, and set something.
            if object.isFault { body(object, row) }
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
