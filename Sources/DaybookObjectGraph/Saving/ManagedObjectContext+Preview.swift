import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// A speculative context is held to a state of the past as to a query generation, and its base is that
// state, too. So its save is merged with everything after that state.

extension ManagedObjectContext {
    /// What ``save(author:note:info:at:)`` would do if it were called now, without saving.
    ///
    /// Looks for collisions with what others have saved since the context read what it changes: in a
    /// speculative context, with everything after its point in the past. The rules of the model are
    /// checked before that, as in a save. The hooks of a save are not called, and a
    /// ``customMergePolicy`` is not asked. A blocked undo is reported and stays to be thrown by the
    /// save. What the model requires of an entry, such as an author, is not checked: only the save says it.
    ///
    /// For a child it tells what the save into its parent would do, and reads no store beyond what
    /// the parent has to read. The parent gets no change and no undo step. But its pending changes are
    /// processed, as by ``processPendingChanges()``; objects that the child changed are read there, with
    /// `awakeFromFetch`; and objects known there as deleted become faults if others have brought their
    /// records back.
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
            if let unmade = terms.unmadeChange { throw unmade }
            try refuseUntoldConflicts()
            try refuseReferences()
            try terms.refuse(journal.net)
            emptyReferencesToDeleted()
            try checkRules()
            try parentStore.preview(self, into: &preview)
        } catch let error as StoreError where error.isRefusal {
            preview.add(error)
        }
        return preview
    }
}
