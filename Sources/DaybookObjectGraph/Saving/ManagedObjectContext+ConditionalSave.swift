public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

// A save merges what it changes, so it notices when others have changed the same. What a decision rests on
// without changing it goes unnoticed, and so does what was not there when the decision was made. A conditional
// save names that as a question.

extension ManagedObjectContext {
    /// Saves as ``save(author:note:info:at:)`` does, but only if nothing that a request finds has changed since an
    /// entry: no object that it found then or would find now was made, changed or deleted by anybody.
    ///
    /// So two decisions that are right by themselves cannot be wrong together:
    ///
    /// ```swift
    /// let seen = try store.head()
    /// let onCall = FetchRequest<Doctor>(where: \.isOnCall == true)
    /// if try context.fetch(onCall).count > 1 {
    ///     doctor.isOnCall = false
    ///     try context.save(ifUnchanged: onCall, since: seen)
    /// }
    /// ```
    ///
    /// It is judged inside the transaction that writes, on the old and the new values of what entries have
    /// changed since, whichever program made them, this context included. An object that is again as it was
    /// then does not count. An object's own values count, and the relationships that are kept with it. The
    /// pending changes of the context do not. With nothing pending nothing is saved, and nothing judged.
    ///
    /// - Parameters:
    ///   - request: What must be unchanged. Of its settings, entity, condition, subentities and stores count.
    ///   - entry: The last entry before the first of everything that the decision rests on was read, such as
    ///     the store's ``PersistentStore/head()`` before the fetch.
    ///   - author: Who saves, as in ``save(author:note:info:at:)``.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The number of the entry; nil when nothing was left to append.
    /// - Throws: ``StoreError`` with code `conditionFailed` and
    ///   ``StoreError/obstacles`` that name the objects and the entries that last changed them; with
    ///   `noSuchEntry`; what ``save(author:note:info:at:)`` throws; ``QueryError`` for a condition that looks at
    ///   other objects through relationships, for a request or pending changes of several stores, and in a
    ///   child. Everything is then still pending.
    /// - Complexity: As of the save, and O(*e* + *c* log *n*), *e* the size of the entries since, *c* the
    ///   number of objects that they changed.
    @discardableResult
    public func save<Object>(
        ifUnchanged request: FetchRequest<Object>, since entry: SequenceNumber,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> SequenceNumber? {
        let (store, query) = try conditionQuery(request)
        let own = try landedSave(in: store)?.entry
        let condition = SaveCondition(.unchanged, query, since: entry, besides: own)
        return try terms.with(SaveTerms.JudgedCondition(store: store.number, condition: condition))
        {
            try save(author: author, note: note, info: info, at: date)
        }
    }

    /// Saves as ``save(author:note:info:at:)`` does, but only if a request finds nothing in the store.
    ///
    /// ```swift
    /// try context.save(ifNone: FetchRequest<Booking>(where: \.room == "Aula" && \.day == day))
    /// ```
    ///
    /// The store is asked as it is before this save, without what is pending in the context. Objects that
    /// this save changes or deletes count as they were; leave them out by the condition where they should
    /// not. Nobody can save between the question and the answer. With nothing pending nothing is saved.
    ///
    /// - Parameters:
    ///   - request: What there must not be. Of its settings, entity, condition, subentities and stores count.
    ///   - author: Who saves, as in ``save(author:note:info:at:)``.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The number of the entry; nil when nothing was left to append.
    /// - Throws: As ``save(ifUnchanged:since:author:note:info:at:)``. Everything is then still pending.
    /// - Complexity: As of the save and of fetching one object.
    @discardableResult
    public func save<Object>(
        ifNone request: FetchRequest<Object>, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> SequenceNumber? {
        let (store, query) = try conditionQuery(request)
        let own = try landedSave(in: store)?.objects ?? []
        let condition = try store.store.condition(noneOf: query, besides: own)
        return try terms.with(SaveTerms.JudgedCondition(store: store.number, condition: condition))
        {
            try save(author: author, note: note, info: info, at: date)
        }
    }

    /// The entry of a save in doubt that has landed, and its objects: what is there by this save, which is saved again,
    /// is not in its way.
    ///
    /// - Throws: As ``Store/settle(_:)``.
    private func landedSave(
        in store: PersistentStore
    ) throws -> (entry: SequenceNumber, objects: Set<ObjectID>)? {
        guard let doubtful = terms.doubtfulSave(in: store.number),
            let entry = try store.store.settle(doubtful.doubt)?.sequence
        else { return nil }
        return (entry, Set(doubtful.changes.map(\.object)))
    }

    /// The store that judges a condition, and its query there, whatever the limit.
    private func conditionQuery<Object>(
        _ request: FetchRequest<Object>
    ) throws -> (PersistentStore, Query) {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        guard parentStore.context == nil else {
            throw QueryError(
                "A child saves into its parent, where no store judges a condition. Save the context at "
                    + "the root on a condition.")
        }
        var (store, query) = try query(inOneStore: request, "A condition is judged by the journal")
        guard !query.filter.crossesRelationships else {
            throw QueryError(
                "The condition of the save looks at other objects through relationships, whose changes "
                    + "are not followed. Ask for the attributes and to-one relationships that are kept "
                    + "with the objects of '\(request.entityName)' themselves.")
        }
        (query.sortings, query.limit, query.offset) = ([], nil, 0)
        return (store, query)
    }
}

extension SaveTerms {
    /// Refuses to save changes on a condition that their stores do not judge.
    func refuseUnjudged(_ requests: [CoordinatedStores.StoreRequest]) throws {
        guard let judge else { return }
        let others = requests.filter { $0.store.number != judge && !$0.request.changes.isEmpty }
        guard let other = others.first else { return }
        throw QueryError(
            "The condition or cursor of the save is judged by one store, and '\(other.store.name)' would be "
                + "saved without. Save the changes of each store by themselves.")
    }
}
