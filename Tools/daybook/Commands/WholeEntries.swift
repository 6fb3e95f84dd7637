import DaybookObjectModel
import DaybookSnapshotStore

/// That entries are handed on whole, which has to be said where the model calls something confidential:
/// the bytes of an entry hold all its values, and nothing can be taken out of them.
enum WholeEntries: String, CaseIterable, Sendable {
    case show

    /// Refuses to hand on confidential values unless that was asked for.
    static func check(_ choice: WholeEntries?, in store: Store) throws {
        guard choice == nil else { return }
        let names = store.schema.model.entities.flatMap { entity in
            entity.attributes.filter(\.isConfidential).map { "'\(entity.name).\($0.name)'" }
        }
        guard let first = names.first else { return }
        throw ToolError.usage(
            "Whole entries hold the values of confidential properties, such as \(first). "
                + "Say '--confidential show' if whoever gets them may read those.")
    }
}
