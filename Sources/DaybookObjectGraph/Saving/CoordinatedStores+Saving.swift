import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension CoordinatedStores {
    /// What is to be saved to one store.
    struct StoreRequest {
        let store: PersistentStore
        let items: [NetChange]
        let request: SaveRequest
        /// The saved entries that it takes back without naming them.
        let undoes: [ClosedRange<SequenceNumber>]
    }

    /// Appends an entry to each store that the changes concern.
    func save(
        _ items: [NetChange], of context: ManagedObjectContext,
        _ attribution: Attribution, at time: Int64?,
        undoing undone: ClosedRange<SequenceNumber>?
    ) throws -> SaveOutcome {
        var header = header(attribution, at: time)
        if undone != nil { (header.kind, header.undoes) = (.undo, undone) }
        let requests = try requests(of: items, in: context, header)
        try context.terms.refuseUnjudged(requests)
        var saves: [StoreSave] = []
        do {
            for request in requests {
                do {
                    saves.append(try save(request, of: context))
                } catch {
                    context.terms.keepDoubt(
                        of: request.request, in: request.store.number, after: error)
                    throw error
                }
            }
            try saveNothing()
            return .saved(saves, refusal: nil)
        } catch {
            return .saved(saves, refusal: error)
        }
    }

    /// Writes what is kept about stores that have no part in a save.
    func saveNothing() throws {
        for store in stores { try store.writeKeptValues() }
    }

    func preview(_ context: ManagedObjectContext, into preview: inout SavePreview) throws {
        let attribution = context.terms.credited(Attribution(), in: context.journal)
        let items = context.journal.net
        for request in try requests(of: items, in: context, header(attribution, at: nil)) {
            try preview.add(request)
        }
    }

    private func header(_ attribution: Attribution, at time: Int64?) -> EntryHeader {
        EntryHeader(
            kind: .save, author: attribution.author, note: attribution.note, info: attribution.info,
            context: attribution.context, occurredAt: time)
    }

    /// What is to be saved to each store.
    private func requests(
        of items: [NetChange], in context: ManagedObjectContext, _ header: EntryHeader
    ) throws -> [StoreRequest] {
        var groups = groups(of: items)
        // Everything that was to be saved there may have been taken back since.
        for store in context.terms.storesInDoubt where !groups.contains(where: { $0.key == store })
        {
            groups.append((store, []))
        }
        return try groups.compactMap {
            try request(of: $0.value, toStore: $0.key, in: context, header)
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

    /// Gathers what is to be saved to a store, before anything is saved to any.
    ///
    /// - Returns: Nil when nothing is to be saved and there is no such store.
    /// - Throws: ``StoreError`` with code `noSuchStore` for a store that was removed, with `readOnly`.
    private func request(
        of items: [NetChange], toStore number: UInt32,
        in context: ManagedObjectContext, _ header: EntryHeader
    ) throws -> StoreRequest? {
        guard let store = store(numbered: number) else {
            guard items.contains(where: { $0.kind != .nothing }) else { return nil }
            throw absence(ofStore: number)
        }
        var header = header
        header.base = position(in: store).base
        var request = saveRequest(of: items, toStore: store.number, in: context, header)
        var unnamed: [ClosedRange<SequenceNumber>] = []
        if let origins = context.journal.origins(inStore: store.number) {
            if let undone = try context.undoneEntries(
                among: origins, by: request.changes, of: items, in: store)
            {
                request.header.kind = .undo
                request.header.undoes = undone
            }
            unnamed = try context.entriesWithGaps(
                among: origins, takenBackBy: request.changes, of: items, in: store)
        }
        guard !store.refusesChanges || request.changes.isEmpty else {
            throw StoreError.readOnlyStore(store)
        }
        return StoreRequest(store: store, items: items, request: request, undoes: unnamed)
    }

    private func saveRequest(
        of items: [NetChange], toStore store: UInt32,
        in context: ManagedObjectContext, _ header: EntryHeader
    ) -> SaveRequest {
        var changes: [Change] = []
        var seen: [ObjectID: [Value]] = [:]
        var seenSince: [ObjectID: SequenceNumber] = [:]
        var returned: Set<ObjectID> = []
        let needsValues =
            context.mergePolicy == .overwrite
            || context.mergePolicy == .mergeByPropertyObjectTrump
            || context.customMergePolicy != nil
        let needsSince =
            context.conflictGranularity == .row || context.customMergePolicy != nil
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
                let change = schema.hasTransientSlots || !schema.derivedSlots.isEmpty
                    ? net.persistent(of: schema) : net
            else { continue }
            if needsSince {
                seenSince[change.object] = SequenceNumber(rawValue: items[index].object.since)
            }
            if needsValues, case .update = change.kind {
                seen[change.object] = Array(items[index].valuesSeen.prefix(schema.storedSlotCount))
            }
            if items[index].kind == .insert, items[index].object.status.isReturned {
                returned.insert(change.object)
            }
            changes.append(change)
        }
        changes.sortAsInEntry()
        var request = SaveRequest(
            header: header, changes: changes, seen: seen, seenSince: seenSince,
            watched: context.terms.watched(in: store), policy: context.mergePolicy,
            detection: context.conflictGranularity == .row ? .perRow : .perProperty)
        request.returned = returned
        request.conditions = context.terms.conditions(in: store)
        request.cursor = context.terms.cursor(in: store)?.move
        request.resumes = context.terms.doubtfulSave(in: store)
        return request
    }

    private func save(
        _ request: StoreRequest, of context: ManagedObjectContext
    ) throws -> StoreSave {
        let store = request.store
        let result: SaveResult? = try store.writingValues { values in
            guard !request.request.changes.isEmpty || request.request.resumes != nil else {
                return (nil, false)
            }
            var valued = request.request
            valued.userValues = values
            let result = try context.commit(valued, to: store)
            context.terms.cursor(in: store.number)?.isDone = true
            return (result, result.sequence != nil)
        }
        let hasForeign =
            if let sequence = result?.sequence {
                position(in: store).hasForeignEntries(before: sequence)
            } else {
                // Nothing was left to append of what was sent: others had saved the same before.
                result != nil
            }
        if let sequence = result?.sequence { recordSave(sequence, in: store) }
        return StoreSave(
            store: store.number, schema: store.store.schema, items: request.items, result: result,
            hasForeign: hasForeign, settlesDoubt: request.request.resumes != nil,
            undoes: request.undoes)
    }
}

extension Change {
    /// This change without the transient properties that the entity has, and without derived values; nil
    /// when nothing is left.
    fileprivate func persistent(of entity: SchemaEntity) -> Change? {
        var change = self
        switch kind {
        case .insert(let values, let members):
            change.kind = .insert(
                values: Array(entity.withoutDerived(values).prefix(entity.storedSlotCount)),
                members: members)
        case .update(let edits, let members):
            let kept = edits.filter {
                guard let property = entity.property($0.property) else { return false }
                return property.isPersistent && !property.isDerived
            }
            change.kind = .update(edits: kept, members: members)
        case .delete(let values, let members):
            change.kind = .delete(
                values: Array(entity.withoutDerived(values).prefix(entity.storedSlotCount)),
                members: members)
        }
        return change.isEmpty ? nil : change
    }
}
