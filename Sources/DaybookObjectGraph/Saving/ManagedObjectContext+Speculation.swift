import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// A speculative context is one that is held to a state of the past as to a query generation, and whose
// base is there, too. So a save of it is merged with everything after that state.

extension ManagedObjectContext {
    /// Holds the context to a point in the past, from which its changes start.
    func speculate(from sequences: [UInt32: SequenceNumber]) {
        let identified = sequences.compactMap { number, sequence in
            coordinator.store(number).map { ($0.identifier, sequence) }
        }
        queryGeneration = QueryGenerationToken(
            sequences: Dictionary(identified) { first, _ in first })
        for (number, sequence) in sequences {
            positions[number] = StorePosition(base: sequence, pinned: sequence)
        }
        isSpeculative = true
    }

    /// Lets go of the past, now that everything since has been merged.
    func endSpeculation() {
        guard isSpeculative else { return }
        isSpeculative = false
        queryGeneration = nil
        for number in Array(positions.keys) { positions[number]?.pinned = nil }
    }

    /// Takes in everything that has been saved since the point that the context stood on, after its own
    /// changes have been saved on top of that.
    func followOwnSave() {
        guard isSpeculative else { return }
        do {
            try mergeChanges()
        } catch {
            // The save is done. The context stays where it is, and can be merged or saved again.
            mergeFailureHandler?(error)
        }
    }

    /// What ``save(author:note:at:)`` would come to if it were called now, without saving.
    ///
    /// Looks for collisions with what others have saved since the context read what it changes: in a
    /// speculative context, with everything after the point it stands on. The rules of the model are
    /// checked before that, as in a save. The hooks of a save are not called, and a
    /// ``customMergePolicy`` is not asked. An undo that was blocked is told of and stays to be thrown by
    /// the save.
    ///
    /// For a child it tells what the save into its parent would come to, and looks at no store
    /// beyond what the parent has to read. The parent gets no change and no step of undo by it. But
    /// what is pending there is processed, as by ``processPendingChanges()``; objects that the child
    /// changed are read there, with `awakeFromFetch`; and those known there to be deleted whose
    /// records others have brought back become faults.
    ///
    /// - Returns: What collides, and what the save would throw.
    /// - Throws: ``StoreError`` with code `readOnly` for a context that reads at a point in the past;
    ///   `corrupt` and others when the store cannot be read.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes.
    public func previewSave() throws -> SavePreview {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        processPendingChanges()
        var preview = SavePreview()
        do {
            if let undoFailure { throw undoFailure }
            try refuseUntoldConflicts()
            try refuseReferences()
            try refuseUnsavable()
            emptyReferencesToDeleted()
            try checkRules()
            if let parent {
                (preview.conflicts, preview.mergedValues) = try meetings(ofSaveInto: parent)
                return preview
            }
            for request in try requests(of: journal.net, header(Attribution(), nil)) {
                try preview.add(request)
            }
        } catch let error as StoreError where error.isRefusal {
            preview.add(error)
        }
        return preview
    }
}
