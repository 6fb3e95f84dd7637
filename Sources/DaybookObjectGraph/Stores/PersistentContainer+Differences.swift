public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension PersistentContainer {
    /// What differs between two moments, object by object.
    ///
    /// A value that was changed in between and changed back is not a difference, nor is an object that
    /// was inserted and deleted. With several stores, each is compared with itself.
    ///
    /// - Parameters:
    ///   - older: One moment.
    ///   - newer: The other. When it is the earlier one, the differences lead back: what was inserted in
    ///     between is deleted, and values are taken back.
    /// - Returns: A difference for each object that is not the same, by store, entity and number.
    /// - Throws: As ``context(at:)``.
    /// - Complexity: O(*c* log *n*) page reads, *c* the number of changes in between.
    public func differences(from older: Moment, to newer: Moment) throws -> [ObjectDifference] {
        let coordinator = persistentStoreCoordinator
        let from = try coordinator.sequences(at: older)
        let to = try coordinator.sequences(at: newer)
        return try coordinator.persistentStores.flatMap { store in
            try store.differences(
                from: from[store.number] ?? .zero, to: to[store.number] ?? .zero)
        }
    }

    /// The entry that first made a condition true, found by binary search.
    ///
    /// ```swift
    /// let entry = try container.firstEntry { past in
    ///     try past.count(FetchRequest<Country>(where: \Country.name == "Türkiye")) > 0
    /// }
    /// ```
    ///
    /// If the condition changes more than once in between, the result is one of the entries at which it
    /// began to hold. With several stores, the entries are those of the first one, and the others are
    /// seen as they were then.
    ///
    /// - Parameters:
    ///   - start: Where to begin; the empty store before the first entry by default.
    ///   - end: Where to stop; the head by default.
    ///   - condition: Examines a read-only context of the past, on its queue.
    /// - Returns: An entry after which the condition holds and before which it does not; the number of
    ///   `start` when it holds there already; nil when it does not hold at `end`, or `end` is the
    ///   earlier one.
    /// - Throws: As ``context(at:)``; what `condition` throws.
    /// - Complexity: O(log *n*) evaluations of the condition, *n* the number of entries.
    public func firstEntry(
        from start: Moment = .sequence(.zero), to end: Moment = .head,
        where condition: (ManagedObjectContext) throws -> Bool
    ) throws -> SequenceNumber? {
        func holds(at sequence: SequenceNumber) throws -> Bool {
            let past = try context(at: .sequence(sequence))
            return try past.performAndWait { try condition(past) }
        }
        var (failing, holding) = (try sequence(at: start), try sequence(at: end))
        guard failing <= holding, try holds(at: holding) else { return nil }
        if try holds(at: failing) { return failing }
        while failing.next < holding {
            let middle = SequenceNumber(
                failing.rawValue + (holding.rawValue - failing.rawValue) / 2)
            if try holds(at: middle) { holding = middle } else { failing = middle }
        }
        return holding
    }

    /// The entry of the first store that a moment means.
    private func sequence(at moment: Moment) throws -> SequenceNumber {
        let coordinator = persistentStoreCoordinator
        let sequences = try coordinator.sequences(at: moment)
        return coordinator.persistentStores.first.flatMap { sequences[$0.number] } ?? .zero
    }
}

extension PersistentStore {
    fileprivate func differences(
        from: SequenceNumber, to: SequenceNumber
    ) throws -> [ObjectDifference] {
        var touched: Set<ObjectID> = []
        let (first, last) = (min(from, to).next, max(from, to))
        try store.entries(from: first, through: last) { entry in
            for change in entry.changes { touched.insert(change.object) }
            return .proceed
        }
        return try touched.sorted().compactMap { object in
            let before = try store.read(at: from) { try $0.state(of: object) }
            let after = try store.read(at: to) { try $0.state(of: object) }
            guard before != after, let kind = ObjectChangeKind(from: before, to: after) else {
                return nil
            }
            return ObjectDifference(
                objectID: objectID(object), kind: kind,
                changes: propertyChanges(of: object, from: before, to: after))
        }
    }
}
