extension Change {
    /// This change and a later one of the same object, as one change; nil when nothing is left.
    ///
    /// Insert and update are an insert; insert and delete are nothing; A→B and B→A are nothing;
    /// delete and insert (an undone delete) are an update from the old values to the new ones.
    ///
    /// - Parameters:
    ///   - next: The later change.
    ///   - entity: The entity of the object.
    ///   - isUnchecked: Whether the values from which the second starts may be others than those to which the first
    ///     leads, as where something was set between them that is in no change. The second is right then.
    /// - Returns: The change; nil for nothing.
    /// - Throws: ``ChangeMismatch`` when the second cannot follow the first, or does not start where that ends.
    package func followed(
        by next: Change, of entity: SchemaEntity, whereverItStarts isUnchecked: Bool = false
    ) throws(ChangeMismatch) -> Change? {
        func make(_ edits: [Edit], in values: inout [Value]) throws(ChangeMismatch) {
            guard !isUnchecked else { return values.take(edits, of: entity) }
            try Change.apply(edits, to: &values, of: object, entity)
        }
        switch (kind, next.kind) {
        case (.insert(var values, let members), .update(let edits, let later)):
            try make(edits, in: &values)
            return Change(
                object: object,
                kind: .insert(values: values, members: members.followed(by: later)), cause: cause)
        case (.insert, .delete):
            return nil
        case (.update(let edits, let members), .update(let laterEdits, let later)):
            return Change(
                object: object,
                kind: .update(
                    edits: edits.followed(by: laterEdits), members: members.followed(by: later)),
                cause: cause ?? next.cause
            ).nonEmpty
        case (.update(let edits, let members), .delete(var values, let later)):
            try make(edits.map(\.inverse), in: &values)
            return Change(
                object: object,
                kind: .delete(values: values, members: members.followed(by: later)),
                cause: next.cause)
        case (.delete(let old, let members), .insert(let new, let later)):
            return Change(
                object: object,
                kind: .update(
                    edits: [Edit](from: old, to: new, of: entity),
                    members: members.followed(by: later))
            ).nonEmpty
        default:
            throw ChangeMismatch(object: object, property: nil)
        }
    }

    private var nonEmpty: Change? {
        isEmpty ? nil : self
    }
}
