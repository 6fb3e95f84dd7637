import DaybookObjectModel
import DaybookSnapshotStore

/// The permission to hand on whole entries, which is needed if the model has confidential
/// properties: the bytes of an entry hold all its values, and none can be taken out.
enum WholeEntries: String, CaseIterable, Sendable {
    case show

    /// Refuses to hand on confidential values unless the user has asked for it.
    static func check(_ choice: WholeEntries?, in store: Store) throws {
        guard choice == nil else { return }
        let names = store.schema.model.entities.flatMap { entity in
            entity.attributes.filter(\.isConfidential).map { "'\(entity.name).\($0.name)'" }
        }
        guard let first = names.first else { return }
        throw ToolError.usage(
            "Whole entries hold the values of confidential properties, such as \(first). "
                + "Say '--confidential show' if those who get them may read the values.")
    }
}
