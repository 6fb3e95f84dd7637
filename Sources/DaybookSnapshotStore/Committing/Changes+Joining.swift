internal import DaybookObjectModel

extension [Change] {
    /// Adds what follows from a save to its changes, of which each object has one.
    ///
    /// - Parameters:
    ///   - change: What follows; joined to the change of its object if there is one.
    ///   - positions: Where the change of each object is, of those that may be joined.
    ///   - schema: The model.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it does not start where the other one ends.
    mutating func join(
        _ change: Change, at positions: inout [ObjectID: Int], in schema: Schema
    ) throws {
        guard let position = positions[change.object] else {
            positions[change.object] = count
            append(change)
            return
        }
        guard let entity = schema.entity(change.object.entity) else { return }
        do {
            let both = try self[position].followed(by: change, of: entity)
            self[position].kind = both?.kind ?? .update(edits: [], members: [])
        } catch {
            throw StoreError.corrupt(
                "The references of \(schema.name(of: change.object)) do not agree", cause: error)
        }
    }
}
