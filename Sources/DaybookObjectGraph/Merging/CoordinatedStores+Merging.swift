import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension CoordinatedStores {
    func merge(
        through sequence: SequenceNumber?, into context: ManagedObjectContext
    ) throws -> [MergeConflict] {
        if let sequence, let first = stores.first {
            return try context.telling {
                try mergeEntries(of: first, through: sequence, into: context)
            }
        }
        for store in stores {
            context.terms.keep(try mergeEntries(of: store, through: store.head(), into: context))
        }
        endSpeculation()
        return context.telling { [] }
    }

    func merge(
        saved information: [AnyHashable: Any], into context: ManagedObjectContext
    ) throws -> [MergeConflict] {
        let saved = information[ManagedObjectContext.positionsKey] as? [UInt32: SequenceNumber]
        guard let saved else { return [] }
        for store in stores {
            guard let sequence = saved[store.number] else { continue }
            let met = try context.news.mergingSave {
                try mergeEntries(of: store, through: sequence, into: context)
            }
            context.terms.keep(met)
        }
        return context.telling { [] }
    }

    /// Lets the context take in what others have just saved.
    func mergeAsTheyCome(
        _ sequence: SequenceNumber, of store: PersistentStore, into context: ManagedObjectContext
    ) {
        guard !isHeld else { return }
        do {
            context.tell(of: try mergeEntries(of: store, through: sequence, into: context))
        } catch {
            context.mergeFailureHandler?(error)
        }
    }

    private func mergeEntries(
        of store: PersistentStore, through target: SequenceNumber,
        into context: ManagedObjectContext
    ) throws -> [MergeConflict] {
        guard !context.isReadOnly else { return [] }
        context.processPendingChanges()
        let end = try store.store.end()
        guard position(in: store).rewinds == end.rewinds else {
            // Nobody knows which of what the context shows is of entries that are gone, so all of it is read again.
            restart(at: end, of: store)
            return context.mergeWholeParent()
        }
        let base = position(in: store).base
        guard base < target else { return [] }
        let own = position(in: store).ownEntries
        let doubtful = try entryInDoubt(after: base, of: store, in: context)
        let conflicts = try context.mergeEntries(of: store, between: own, settling: doubtful) {
            try moveBase(of: store, through: target, $0)
        }
        return try context.keepingIfUntold(conflicts, of: store) {
            try store.store.traced(conflicts, after: base, upTo: target)
        }
    }

    /// The entry of a context's own save of which it was not known whether it had been made; nil where it was not.
    private func entryInDoubt(
        after base: SequenceNumber, of store: PersistentStore, in context: ManagedObjectContext
    ) throws -> SequenceNumber? {
        guard let doubt = context.terms.doubtfulSave(in: store.number)?.doubt,
            doubt.sequence > base, try store.store.hasTakenIn(doubt)
        else { return nil }
        return doubt.sequence
    }
}
