// The room of saving: how pending changes become entries of stores or go into a parent context, and the
// terms of a save. It may ask every part of the context. It is the only room that changes a store, and
// does so by requests.

public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Saves everything that has changed since the last save.
    ///
    /// A context that works with stores appends one entry to the journal of each store with changes, one
    /// store after the other. A child puts its changes into its parent, as one step of undo there;
    /// nothing reaches a store before the context at the root is saved.
    ///
    /// If the save takes back exactly what one saved entry, or several in a row, had changed, as after
    /// an undo across a save, the new entry says that it undoes them.
    ///
    /// - Parameters:
    ///   - author: Who saves; the context's ``author`` when nil, and when that is nil as well, the
    ///     authors of what children have saved into the context.
    ///   - note: Why, in words; when nil, the notes of what children have saved into the context.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now. The store also keeps its own recording time.
    /// - Returns: The number of the entry, the last one where several stores were saved; nil when
    ///   nothing was left to append, and for a child.
    /// - Throws: ``StoreError`` with code `validation` and every failure, `duplicate`, `conflict` with
    ///   every ``MergeConflict``, including those that an automatic merge has met and that have not been
    ///   reported, `unsettled`, `crossStoreRelationship`, `readOnly`, `noSuchStore`, `modelSuperseded`,
    ///   `busy`, `replaced`, `full` or `inputOutput`; with `undoBlocked`, once, when an undo or redo was
    ///   blocked and there is no ``undoFailureHandler``; and, once, why a record could not be read when its object
    ///   was to be changed or deleted.
    ///   Everything is then still pending, except in stores that were saved before the one that refused:
    ///   fix the problem and save again.
    /// - Complexity: O(*k* log *n*), *k* the number of changes, *n* of objects in the store.
    @discardableResult
    public func save(
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        at date: Date? = nil
    ) throws -> SequenceNumber? {
        try save(author: author, note: note, info: info, occurredAt: date?.microseconds)
    }

    /// Saves as ``save(author:note:info:at:)`` does, with a time in microseconds since 1970: a `Date` that
    /// is centuries away counts in larger steps; the entry says that it undoes `undone`.
    @discardableResult
    package func save(
        author: String?, note: String?, info: [String: String], occurredAt time: Int64?,
        undoing undone: ClosedRange<SequenceNumber>? = nil
    ) throws -> SequenceNumber? {
        requireQueue()
        let condition = try terms.takeCondition()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        if let error = undoFailure {
            undoFailure = nil
            throw error
        }
        terms.beginSave()
        try prepareToSave()
        try terms.refuseUnmade()
        try refuseUntoldConflicts()
        try refuseReferences()
        guard hasSomethingToSave else {
            try parentStore.saveNothing()
            finishMergedDeletes()
            return nil
        }
        try terms.refuse(journal.net)
        emptyReferencesToDeleted()
        try validate()
        guard hasSomethingToSave else { return nil }
        let attribution = attribution(author, note, info)
        let items = journal.net
        let summary = ChangeSummary(items.map(\.object))
        let outcome = try terms.with(condition) {
            try parentStore.save(
                items, of: self, terms.credited(attribution, in: journal),
                at: time, undoing: undone)
        }
        let entries = try agree(with: outcome, on: items)
        let derived = takeDerived(from: outcome, besides: items)
        news.recordSave()
        let told = items.span
        for index in told.indices where !told[index].isAnnihilated { told[index].object.didSave() }
        let saved = SavedChanges(items, derived)
        tellLists()
        postDidSave(summary, saved, entries)
        if !derived.isEmpty { postChanges() }
        if news.hasFollowers { news.tellFollowers(saved.changes) }
        return entries.last?.sequence
    }

    /// Whether something is pending, or was when a save ended in doubt and has been taken back since.
    private var hasSomethingToSave: Bool { !journal.isAtBase || !terms.storesInDoubt.isEmpty }

    // MARK: - What has become of it

    /// Makes the context agree with what has become of a save.
    ///
    /// - Returns: The entries, in the order of the stores.
    /// - Throws: Why a store has refused.
    private func agree(
        with outcome: SaveOutcome, on items: [NetChange]
    ) throws -> [SavedEntry] {
        switch outcome {
        case .takenIn(let isAsSent, let merged):
            noteForLists(savedAsSent: items)
            finishSave(of: items, isAsSent: isAsSent, merged)
            return []
        case .saved(let saves, let refusal):
            for save in saves where save.entry != nil { terms.countSave() }
            noteForLists(saves)
            for save in saves {
                if let undo = save.unnamedUndo { journal.record(undo) }
            }
            if let refusal {
                finish(saves)
                tellLists()
                throw refusal
            }
            for save in saves { rebaseSteps(of: save) }
            finishPending(savedAs: saves.origins)
            for save in saves { settle(save) }
            journal.beginAttemptsAgain()
            followOwnSave()
            return saves.compactMap(\.entry)
        }
    }

    /// Forgets what was pending, now that it is saved.
    ///
    /// - Parameter saves: The entry of each store, and what it changed.
    func finishPending(savedAs saves: [UInt32: UndoneEntries] = [:]) {
        journal.markSaved(as: saves)
        terms.finishSave()
    }

    /// Makes the context agree with the stores that were saved before one refused.
    private func finish(_ saves: [StoreSave]) {
        guard !saves.isEmpty else { return }
        let stores = Set(saves.map(\.store))
        for save in saves { rebaseSteps(of: save) }
        terms.finishSave(inStores: stores)
        journal.markSaved(saves.flatMap(\.items), inStores: stores, as: saves.origins)
        for save in saves { settle(save) }
        updateAllLists()
    }

    /// Takes in everything that has been saved since the point in the past that the context stood on,
    /// after its own changes have been saved on top of that.
    private func followOwnSave() {
        guard isSpeculative else { return }
        do {
            tell(of: try mergeChanges())
        } catch {
            // The save is done. The context stays where it is, and can be merged or saved again.
            mergeFailureHandler?(error)
        }
    }

    /// Makes the steps that a save has saved start from what others had made of the properties before: undoing them
    /// then leads there. What the policy has let others have is read again, and is dropped from the steps then.
    private func rebaseSteps(of save: StoreSave) {
        // What settles a doubt is compared with the entry that was in doubt, not with what was read.
        guard let result = save.result, !save.isAsSent, !result.isUntouched, !save.settlesDoubt
        else { return }
        let saved = Dictionary(
            result.changes.lazy.map { ($0.object, $0) }, uniquingKeysWith: { first, _ in first })
        journal.gatheringRebases {
            for item in save.items where item.object.isJournaled {
                guard case .update(let sent, _)? = item.change?.kind else { continue }
                var kept: [Edit] = []
                switch saved[item.object.graphID.object]?.kind {
                case .update(let edits, _)?: kept = edits
                // What others had deleted comes back: undo takes back what was changed here.
                case .insert?: continue
                case .delete?, nil: break
                }
                for edit in sent {
                    guard let property = item.object.binding.schema.property(edit.property),
                        let slot = property.slot, property.isPersistent, property.merge == nil
                    else { continue }
                    let now = kept.first { $0.property == edit.property }
                    // It is not saved again where others had come to the same.
                    let theirs = now?.old ?? edit.new
                    guard theirs != edit.old else { continue }
                    journal.rebase(item.object, edit.property, inSlot: slot, onto: theirs)
                }
            }
        }
    }

    /// Makes the context agree with what became of its changes in a store.
    private func settle(_ save: StoreSave) {
        let items = save.items
        let result = save.result
        let sequence = result?.sequence
        terms.recordMerged(result?.merged ?? [])
        lazy var saved = Set((result?.changes ?? []).map(\.object))
        let (isAsSent, isUntouched) = (save.isAsSent, save.isUntouched)
        if !isAsSent { advanceRevision() }
        if let result {
            followNullifiedReferences(result.changes, inStore: save.store)
        }
        let replaced = result?.replaced ?? [:]
        // Only the store removes a reference without inverse to a deleted object.
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
                // Nobody else can have changed what did not exist before.
                let isAsStored = isAsSent || isUntouched && items[index].kind == .insert
                settleSaved(items, index, wasSaved: wasSaved, sequence, isAsStored, &sought)
            }
        }
        if let result, !isAsSent || result.changes.count > sentCount {
            mergeAdditions(of: result.changes, to: items, save.store, &sought)
        }
        if !replaced.isEmpty {
            journal.dropReferences(to: Set(replaced.keys), inStore: save.store)
        }
    }

    /// Makes the object of an item agree with what became of its change in the store. An object that
    /// this save has already checked for having come back is not checked again.
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
        if registry.hasStoredValues, case .update(let edits, _)? = items[index].change?.kind {
            settleStoredValues(of: object, edits)
        }
        object.undergo(.saved)
        // The row that was read is no longer the object's, so others of its batch need not be kept for
        // it.
        if kind != .nothing { object.letGoOfPage() }
        if let sequence, wasSaved { object.since = sequence.rawValue }
        guard !isAsSent, kind != .nothing else { return }
        readAgain(object, &sought)
        // Others have deleted it as well.
        if kind == .delete, object.status.isGone { detach(object) }
    }

    /// Takes the values that others have saved or that a policy has settled.
    private func readAgain(_ object: ManagedObject, _ sought: inout Set<GraphID>) {
        let schema = object.binding.schema
        let mine = object.values
        object.relations = [:]
        // In a fault only lists have changed, and the rest is read when it is asked for.
        guard !object.isFault else { return }
        object.undergo(.outdated)
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

    /// Makes the rest of the context follow where the store has saved something other than was sent.
    private func mergeAdditions(
        of saved: [Change], to items: [NetChange], _ store: UInt32,
        _ sought: inout Set<GraphID>
    ) {
        // What came to nothing was not sent, and may have been changed by the store.
        let sent = Set(items.lazy.filter { $0.kind != .nothing }.map(\.object.graphID))
        for item in items {
            if let change = item.change { forgetLists(touchedBy: change, item.object.graphID) }
        }
        for change in saved {
            let id = GraphID(store: store, object: change.object)
            forgetLists(touchedBy: change, id)
            // A reference to a deleted object that the store has emptied.
            guard !sent.contains(id), let object = registry[id], !object.isFault else {
                continue
            }
            readAgain(object, &sought)
        }
    }
}

extension NetChange {
    /// Whether the object was made when the store could not give it a number.
    var isUnsavable: Bool {
        kind != .nothing && object.graphID.isProvisional
    }

    /// Whether there is a change that is sent to the store completely.
    fileprivate var isWhollyPersistent: Bool {
        kind != .nothing && !object.binding.schema.hasTransientSlots
    }

    /// All values as they were before the pending changes.
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

extension SchemaEntity {
    /// Whether there are attributes that never reach a store.
    var hasTransientSlots: Bool { slots.count > storedSlotCount }
}
