import DaybookAudit
import DaybookSnapshotStore

/// The permission to hand on whole entries, which is needed if the model has, or once had,
/// confidential properties: the bytes of an entry hold all its values, and none can be taken out.
enum WholeEntries: String, CaseIterable, Sendable {
    case show

    /// Refuses to hand on confidential values unless the user has asked for it.
    static func check(_ choice: WholeEntries?, in store: Store) throws {
        guard choice == nil else { return }
        let history = try store.modelHistory()
        let hidden = try Confidentiality.standard.resolved(in: history, store.schema)
        guard !hidden.isEmpty else { return }
        let example = hidden.example(in: history).map { ", such as '\($0)'" } ?? ""
        throw ToolError.usage(
            "Whole entries hold the values of confidential properties\(example). "
                + "Say '--confidential show' if those who get them may read the values.")
    }
}
