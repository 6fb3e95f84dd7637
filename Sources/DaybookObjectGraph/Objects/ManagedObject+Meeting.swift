import DaybookObjectModel

extension ManagedObject {
    /// The result of a pending edit of a property on top of a value that others have given it.
    ///
    /// - Returns: The value to show and to save, which is ours unless the attribute merges; and the
    ///   conflict, if there is one to report.
    func meeting(
        of edit: Edit, in property: SchemaProperty, with theirs: Value, isByRule: Bool,
        under policy: MergePolicy
    ) -> (value: Value, conflict: MergeConflict?) {
        switch property.meeting(of: edit, with: theirs, isByRule: isByRule, under: policy) {
        case .merged(let value): return (value, nil)
        case .alike: return (theirs, nil)
        case .collision:
            let conflict = conflict(
                .value, of: edit.property, base: edit.old, theirs: theirs, ours: edit.new)
            return (edit.new, conflict)
        }
    }

    /// A conflict over a property of this object.
    func conflict(
        _ kind: MergeConflict.Kind, of property: PropertyNumber, base: Value,
        theirs: Value = .null, ours: Value = .null
    ) -> MergeConflict {
        MergeConflict(
            kind: kind, object: graphID.object, property: property, base: base, theirs: theirs,
            ours: ours
        ).inStore(storeIdentifier)
    }
}
