internal import DaybookJournalLog
package import DaybookObjectModel

/// A save in doubt, and what it was to save.
package struct DoubtfulSave: Sendable, Hashable {
    /// Which entry is in doubt.
    package let doubt: SaveDoubt
    /// The changes of the request.
    package let changes: [Change]

    /// A save in doubt.
    package init(_ doubt: SaveDoubt, _ changes: [Change]) {
        self.doubt = doubt
        self.changes = changes
    }
}

extension Store {
    /// Finds out what became of a save in doubt, and saves what the request has besides.
    ///
    /// The changes of the request begin where those of the save in doubt began, as they are still pending.
    ///
    /// - Throws: As ``settle(_:)`` and ``commit(_:)``.
    func resume(_ request: SaveRequest, _ doubtful: DoubtfulSave) throws -> SaveResult {
        var request = request
        request.resumes = nil
        guard let landed = try settle(doubtful.doubt), let sequence = landed.sequence else {
            return try commit(request)
        }
        request.changes = try request.changes.going(onFrom: doubtful.changes, in: schema)
        // What the save in doubt has deleted may come back.
        request.returned.formUnion(doubtful.changes.lazy.filter(\.isDelete).map(\.object))
        // What others have changed since the base still counts, but not what this save has.
        for change in doubtful.changes {
            if request.seenSince[change.object] != nil {
                request.seenSince[change.object] = sequence
            }
            if request.watched[change.object] != nil { request.watched[change.object] = sequence }
        }
        guard !request.changes.isEmpty else {
            // The entry says nothing of what was to be written beside it.
            if let values = request.userValues { try setUserValues(values) }
            if let cursor = request.cursor { try move(cursor) }
            return landed
        }
        var result = try commit(request)
        result.isResumed = true
        return result
    }
}

extension [Change] {
    /// These changes as they are after others, which began in the same state, have been carried out.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity``; ``ChangeMismatch`` when they did not begin
    ///   alike.
    fileprivate func going(onFrom others: [Change], in schema: Schema) throws -> [Change] {
        var left = Dictionary(map { ($0.object, $0) }) { first, _ in first }
        for other in others {
            guard let entity = schema.entity(other.object.entity) else {
                throw StoreError(
                    .noSuchEntity, "The model has no entity \(other.object.entity.rawValue).")
            }
            let inverse = other.inverse
            left[other.object] =
                try left[other.object].map { try inverse.followed(by: $0, of: entity) } ?? inverse
        }
        var changes = left.values.filter { !$0.isEmpty }
        changes.sortAsInEntry()
        return changes
    }
}
