extension UndoManager {
    /// The steps that were made before the last save, which a rollback need not forget where it is to
    /// drop only what came later; nil when some of them have been taken back since.
    var savedSteps: [ChangeGroup]? {
        cursor >= savedCursor ? Array(groups[..<savedCursor]) : nil
    }

    /// Puts steps of before the last save back, after everything has been forgotten.
    func restore(_ steps: [ChangeGroup]) {
        groups = steps
        cursor = steps.count
        savedCursor = steps.count
        settledCount = steps.count
    }
}
