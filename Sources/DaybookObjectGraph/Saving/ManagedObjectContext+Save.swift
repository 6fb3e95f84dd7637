public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Saves everything that has changed since the last save.
    ///
    /// A context that works with stores appends one entry to the journal of each store in which
    /// something has changed, store after store. A child puts its changes into its parent, as
    /// one step of undo there; nothing reaches a store before the context at the root is saved.
    ///
    /// Where the save takes back exactly what one saved entry, or several in a row, had changed, as
    /// after an undo across a save, the new entry says that it undoes them.
    ///
    /// - Parameters:
    ///   - author: Who saves; the context's ``author`` when nil, and when that is nil as well, the
    ///     authors of what children have saved into the context.
    ///   - note: Why, in words; when nil, the notes of what children have saved into the context.
    ///   - date: When it happened, if not now. The store keeps its own recording time beside it.
    /// - Returns: The number of the entry, the last one where several stores were saved; nil when
    ///   nothing was left to append, and for a child.
    /// - Throws: ``StoreError`` with code `validation` and every failure, `duplicate`, `conflict` with
    ///   every ``MergeConflict``, also of those that an automatic merge has met and nobody was told of,
    ///   `crossStoreRelationship`, `readOnly`, `noSuchStore`, `full` or `io`;
    ///   with `undoBlocked`, once, when an undo or redo was blocked and there is no
    ///   ``undoFailureHandler``. Everything is then still pending, except in stores that were saved
    ///   before the one that refused: mend it and save again.
    /// - Complexity: O(*k* log *n*), *k* the number of changes, *n* of objects in the store.
    @discardableResult
    public func save(
        author: String? = nil, note: String? = nil, at date: Date? = nil
    ) throws -> SequenceNumber? {
        try save(author: author, note: note, occurredAt: date?.microseconds)
    }

    /// Saves as ``save(author:note:at:)`` does, with a time in microseconds since 1970: a `Date` that
    /// is centuries away counts in larger steps.
    @discardableResult
    package func save(
        author: String?, note: String?, occurredAt time: Int64?
    ) throws -> SequenceNumber? {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        if let error = undoFailure {
            undoFailure = nil
            throw error
        }
        mergedValues = []
        try prepareToSave()
        try refuseUntoldConflicts()
        try refuseReferences()
        guard !journal.isAtBase else {
            if parent == nil { try writeKeptValues() }
            finishMergedDeletes()
            return nil
        }
        try refuseUnsavable()
        emptyReferencesToDeleted()
        try validate()
        guard !journal.isAtBase else { return nil }
        let attribution = Attribution(author: author ?? self.author, note: note, context: name)
        let items = journal.net
        let summary = ChangeSummary(items.map(\.object))
        var entries: [(store: UInt32, sequence: SequenceNumber)] = []
        if let parent {
            try save(
                items, into: parent, attribution.completed(from: attributions.counting(in: journal))
            )
            entriesMade += 1
        } else {
            entries = try saveToStores(items, header(attribution, time))
            followOwnSave()
        }
        attributions.removeAll()
        mergedDeletes.removeAll()
        let told = items.span
        for index in told.indices where !told[index].isAnnihilated { told[index].object.didSave() }
        let saved = SavedChanges(items)
        postDidSave(summary, saved, entries)
        if !followers.isEmpty { tellFollowers(saved.changes) }
        return entries.last?.sequence
    }

    /// Forgets what was pending, now that it is saved.
    ///
    /// - Parameter saves: In which entry of each store, and what it changed.
    func finishPending(savedAs saves: [UInt32: UndoneEntries] = [:]) {
        journal.markSaved(as: saves)
        watched.removeAll()
        untoldConflicts.removeAll()
    }

    /// Refuses a save of new objects that no store had a number for.
    func refuseUnsavable() throws {
        if let insertFailure, journal.net.contains(where: \.isUnsavable) { throw insertFailure }
    }

    func header(_ attribution: Attribution, _ time: Int64?) -> EntryHeader {
        let attribution = attribution.completed(from: attributions.counting(in: journal))
        return EntryHeader(
            kind: .save, author: attribution.author, note: attribution.note,
            context: attribution.context,
            occurredAt: time)
    }

    // MARK: - To stores

    /// What a save to one store has come to.
    private struct StoreSave {
        let store: PersistentStore
        let items: [NetChange]
        let result: SaveResult?
    }

    /// Appends an entry to each store that the changes concern.
    ///
    /// - Returns: The entries, in the order of the stores.
    private func saveToStores(
        _ items: [NetChange], _ header: EntryHeader
    ) throws -> [(store: UInt32, sequence: SequenceNumber)] {
        let requests = try requests(of: items, header)
        var saves: [StoreSave] = []
        do {
            for request in requests { saves.append(try save(request)) }
            try writeKeptValues()
        } catch {
            finish(saves)
            throw error
        }
        let entries = saves.compactMap { save in
            save.result?.sequence.map { (store: save.store.number, sequence: $0) }
        }
        var origins: [UInt32: UndoneEntries] = [:]
        for save in saves {
            guard let result = save.result, let sequence = result.sequence else { continue }
            origins[save.store.number] = UndoneEntries(
                entries: sequence...sequence, saved: result.changes)
        }
        finishPending(savedAs: origins)
        for save in saves {
            mergedValues += save.result?.merged ?? []
            settle(save)
        }
        return entries
    }

    /// What is to be saved to each store.
    func requests(
        of items: [NetChange], _ header: EntryHeader
    ) throws -> [StoreRequest] {
        try groups(of: items).compactMap {
            try request(of: $0.value, toStore: $0.key, header)
        }
    }

    private func groups(
        of items: [NetChange]
    ) -> [(key: UInt32, value: [NetChange])] {
        guard let store = items.first?.object.graphID.store else { return [] }
        let isOneStore = items.indices.allSatisfy { items[$0].object.graphID.store == store }
        guard !isOneStore else { return [(store, items)] }
        return Dictionary(grouping: items, by: \.object.graphID.store).sorted { $0.key < $1.key }
    }

    /// What is to be saved to one store.
    struct StoreRequest {
        let store: PersistentStore
        let items: [NetChange]
        let request: SaveRequest
    }

    /// Gathers what is to be saved to a store, before anything is saved to any.
    ///
    /// - Returns: Nil when nothing is to be saved and there is no such store.
    /// - Throws: ``StoreError`` with code `noSuchStore` for a store that was removed, with `readOnly`.
    private func request(
        of items: [NetChange], toStore number: UInt32, _ header: EntryHeader
    ) throws -> StoreRequest? {
        guard let store = coordinator.store(number) else {
            guard items.contains(where: { $0.kind != .nothing }) else { return nil }
            throw StoreError.noSuchStore(coordinator.storeName(number))
        }
        var header = header
        header.base = position(in: store).base
        var request = request(of: items, header, store.number)
        if let undone = try undoneEntries(by: request.changes, of: items, in: store) {
            request.header.kind = .undo
            request.header.undoes = undone
        }
        guard !store.isReadOnly || request.changes.isEmpty else {
            throw StoreError.readOnlyStore(store)
        }
        return StoreRequest(store: store, items: items, request: request)
    }

    private func save(_ request: StoreRequest) throws -> StoreSave {
        let store = request.store
        let result: SaveResult? = try store.writingValues { values in
            guard !request.request.changes.isEmpty else { return (nil, false) }
            var valued = request.request
            valued.userValues = values
            let result = try commit(valued, to: store)
            return (result, result.sequence != nil)
        }
        if result?.sequence != nil { entriesMade += 1 }
        return StoreSave(store: store, items: request.items, result: result)
    }

    /// Writes what is kept about stores that have no part in this save.
    private func writeKeptValues() throws {
        for store in coordinator.persistentStores { try store.writeKeptValues() }
    }

    /// Where a later store has refused: what the earlier ones have taken is no longer pending.
    private func finish(_ saves: [StoreSave]) {
        guard !saves.isEmpty else { return }
        for save in saves {
            for item in save.items { journal.clear(item.object) }
            mergedValues += save.result?.merged ?? []
            settle(save)
        }
        updateAllLists()
    }

    private func request(
        of items: [NetChange], _ header: EntryHeader, _ store: UInt32
    ) -> SaveRequest {
        var changes: [Change] = []
        var seen: [ObjectID: [Value]] = [:]
        var seenSince: [ObjectID: SequenceNumber] = [:]
        let needsValues =
            mergePolicy == .overwrite || mergePolicy == .mergeByPropertyObjectTrump
            || customMergePolicy != nil
        let needsSince = conflictGranularity == .row || customMergePolicy != nil
        changes.reserveCapacity(items.count)
        // Taken as in an entry, they need not be turned round.
        let isReversed = items.areReversed
        let items = items.span
        // Asked for where the entity changes: the object may be far from where the change is.
        var schema: SchemaEntity?
        for place in items.indices {
            let index = isReversed ? items.count - 1 - place : place
            guard let net = items[index].change else { continue }
            if schema?.number != net.object.entity {
                schema = items[index].object.binding.schema
            }
            guard let schema,
                let change = schema.hasTransientSlots ? net.persistent(of: schema) : net
            else { continue }
            if needsSince {
                seenSince[change.object] = SequenceNumber(rawValue: items[index].object.since)
            }
            if needsValues, case .update = change.kind {
                seen[change.object] = Array(items[index].valuesSeen.prefix(schema.storedSlotCount))
            }
            changes.append(change)
        }
        changes.sortAsInEntry()
        return SaveRequest(
            header: header, changes: changes, seen: seen, seenSince: seenSince,
            watched: watched(in: store), policy: mergePolicy,
            detection: conflictGranularity == .row ? .perRow : .perProperty)
    }

    /// Makes the context agree with what a store has made of its changes.
    private func settle(_ save: StoreSave) {
        let items = save.items
        let result = save.result
        let sequence = result?.sequence
        let hasForeign =
            sequence.map { position(in: save.store).hasForeignEntries(before: $0) } ?? false
        lazy var saved = Set((result?.changes ?? []).map(\.object))
        let isAsSent = result?.isAsSent != false && !hasForeign
        let isUntouched = result?.isUntouched == true
        if !isAsSent { noteRevision() }
        // What is read again has to be what was saved.
        if let sequence { positions[save.store.number]?.notePinned(sequence) }
        if let result {
            followNullifiedReferences(result.changes, inStore: save.store.number)
        }
        let replaced = result?.replaced ?? [:]
        // A reference without inverse to a deleted object is taken back by the store alone.
        var sentCount = 0
        var sought: Set<GraphID> = []
        journal.gatheringRebases {
            for index in items.indices {
                if items[index].kind != .nothing { sentCount += 1 }
                let object = items[index].object
                guard !items[index].isAnnihilated else { continue }
                guard replaced.isEmpty || replaced[object.graphID.object] == nil else {
                    journal.forget(object)
                    detach(object)
                    continue
                }
                let wasSaved =
                    (isAsSent || isUntouched) && items[index].isWhollyPersistent
                    || saved.contains(object.graphID.object)
                // Nobody else can have changed what was not there before.
                let isAsStored = isAsSent || isUntouched && items[index].kind == .insert
                settleSaved(items, index, wasSaved: wasSaved, sequence, isAsStored, &sought)
            }
        }
        if let result, !isAsSent || result.changes.count > sentCount {
            mergeAdditions(of: result.changes, to: items, save.store, &sought)
        }
        if !replaced.isEmpty {
            journal.dropReferences(to: Set(replaced.keys), inStore: save.store.number)
        }
        if let sequence { positions[save.store.number]?.noteSave(sequence) }
    }

    /// Makes the object of an item agree with what the store has made of its change. What has been
    /// looked for already for this save, in case it is back, is not looked for again.
    func settleSaved(
        _ items: [NetChange], _ index: Int, wasSaved: Bool,
        _ sequence: SequenceNumber?, _ isAsSent: Bool, _ sought: inout Set<GraphID>
    ) {
        let object = items[index].object
        let kind = items[index].kind
        if kind == .delete, wasSaved || isAsSent {
            detach(object)
            return
        }
        if !storedValues.isEmpty, case .update(let edits, _)? = items[index].change?.kind {
            settleStoredValues(of: object, edits)
        }
        object.status.subtract([.inserted, .updated, .deleted, .temporary])
        // The row that was read is not the object's any more, so others of its batch need not be kept
        // for it.
        if kind != .nothing { object.rowPage = nil }
        if let sequence, wasSaved { object.since = sequence.rawValue }
        guard !isAsSent, kind != .nothing else { return }
        readAgain(object, &sought)
        // Others have deleted it as well.
        if kind == .delete, object.status.contains(.gone) { detach(object) }
    }

    /// Takes the values that others have saved or that a policy has settled.
    private func readAgain(_ object: ManagedObject, _ sought: inout Set<GraphID>) {
        let schema = object.binding.schema
        let mine = object.values
        object.status.insert(.fault)
        object.relations = [:]
        guard fire(object, from: .store) else {
            object.values = mine
            return
        }
        for property in schema.slots {
            guard let slot = property.slot, mine[slot] != object.value(inSlot: slot) else {
                continue
            }
            if slot < schema.storedSlotCount {
                journal.rebase(
                    object, property.number, inSlot: slot, onto: object.value(inSlot: slot))
            } else {
                object.values[slot] = mine[slot]
            }
        }
        for property in schema.referenceSlots {
            guard let target = property.slot.flatMap({ object.value(inSlot: $0).reference })
            else { continue }
            let id = GraphID(store: object.graphID.store, object: target)
            if sought.insert(id).inserted { lookAgain(for: id) }
        }
        if mine != object.values { awake(object, .mergePolicy) }
    }

    /// Makes the rest of the context follow where the store has saved something else than was sent.
    private func mergeAdditions(
        of saved: [Change], to items: [NetChange], _ store: PersistentStore,
        _ sought: inout Set<GraphID>
    ) {
        let sent = Set(items.map(\.object.graphID))
        for item in items {
            if let change = item.change { forgetLists(touchedBy: change, item.object.graphID) }
        }
        for change in saved {
            let id = GraphID(store: store.number, object: change.object)
            forgetLists(touchedBy: change, id)
            // A reference to a deleted object that the store has emptied.
            guard !sent.contains(id), let object = identityMap[id], !object.isFault else {
                continue
            }
            readAgain(object, &sought)
        }
    }
}

extension NetChange {
    /// Whether the object was made when the store had no number to give.
    fileprivate var isUnsavable: Bool {
        kind != .nothing && object.graphID.isProvisional
    }

    /// Whether there is a change of which all is sent to the store.
    fileprivate var isWhollyPersistent: Bool {
        kind != .nothing && !object.binding.schema.hasTransientSlots
    }

    /// All values as they were before what is pending.
    var valuesSeen: [Value] {
        let schema = object.binding.schema
        var values = object.values
        switch change?.kind {
        case .update(let edits, _):
            for edit in edits {
                if let slot = schema.property(edit.property)?.slot, slot < values.count {
                    values[slot] = edit.old
                }
            }
        case .delete(let deleted, _): values = deleted
        case .insert, nil: break
        }
        return values
    }
}

extension Change {
    /// This change without the transient properties that the entity has; nil when nothing is left.
    fileprivate func persistent(of entity: SchemaEntity) -> Change? {
        var change = self
        switch kind {
        case .insert(let values, let members):
            change.kind = .insert(
                values: Array(values.prefix(entity.storedSlotCount)), members: members)
        case .update(let edits, let members):
            let kept = edits.filter { entity.property($0.property)?.isPersistent == true }
            change.kind = .update(edits: kept, members: members)
        case .delete(let values, let members):
            change.kind = .delete(
                values: Array(values.prefix(entity.storedSlotCount)), members: members)
        }
        return change.isEmpty ? nil : change
    }
}

extension SchemaEntity {
    /// Whether there are attributes that never reach a store.
    fileprivate var hasTransientSlots: Bool { slots.count > storedSlotCount }
}
