import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// The text about a save or an undo for a screen, before or after it is made, without values.

extension SavePreview: CustomStringConvertible {
    /// Whether the save would go through, and a line for each collision.
    public var description: String {
        guard let refusal else {
            let lines = conflicts.map(\.description) + constraintConflicts.flatMap(\.lines)
            let claim =
                lines.isEmpty
                ? "The save would go through."
                : "The save would go through; the merge policy settles what collides."
            return ([claim] + lines.map { "  " + $0 }).joined(separator: "\n")
        }
        return "The save would be refused. \(refusal)"
    }
}

extension UndoOutcome: CustomStringConvertible {
    /// What is taken back, what happens to which objects, and a line for everything left out:
    ///
    /// ```
    /// Entry 6 takes back entry 5: inserted Book/6; updated Shelf/1
    /// ```
    public var description: String {
        let groups = [
            ("inserted", insertedObjectIDs), ("updated", updatedObjectIDs),
            ("deleted", deletedObjectIDs),
        ]
        let changes = groups.filter { !$0.1.isEmpty }.map { verb, objects in
            "\(verb) \(objects.map(\.description).joined(separator: ", "))"
        }
        let subject = entry.map { "Entry \($0)" } ?? "A new entry"
        let verb =
            undoes.map { (entry == nil ? "would take back " : "takes back ") + $0.entryName }
            ?? (entry == nil ? "would restore" : "restores")
        let claim = "\(subject) \(verb): \(changes.joined(separator: "; "))"
        return ([claim] + leftOut.map { "  Left out: \($0)" }).joined(separator: "\n")
    }
}

extension ObjectConflict: CustomStringConvertible {
    /// The object, and for each property that collided the base, the store's value and the context's:
    ///
    /// ```
    /// Employee/3
    ///   salary: base 10, theirs 20, ours 30; theirs is entry 7 by 'bob' at 2024-01-02T12:09:00Z
    /// ```
    ///
    /// It shows values, so that a user can choose. The descriptions of errors do not.
    public var description: String {
        ([objectID.description] + conflicts.map { "  " + line(of: $0) }).joined(separator: "\n")
    }

    private func line(of conflict: MergeConflict) -> String {
        guard conflict.kind == .value, let name = conflict.propertyName else {
            return conflict.description
        }
        func text(_ values: [String: Value]) -> String {
            (values[name] ?? .null).text { names[$0] ?? $0.description }
        }
        let values = "\(name): base \(text(base)), theirs \(text(theirs)), ours \(text(ours))"
        return conflict.origin.map { "\(values); theirs is \($0)" } ?? values
    }
}
