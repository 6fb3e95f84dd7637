package import DaybookObjectModel

/// What a model file says in the words of Daybook.
package struct ModelReading: Sendable {
    /// The model.
    package let model: ManagedObjectModel
    /// The classes of the entities, by the names of these, where the file names one.
    package let classNames: [String: String]
    /// What the file calls the kinds of composite attributes, by `Entity.attribute`.
    package let compositeNames: [String: String]
    /// What stands in the file and not in the model, or otherwise there: a sentence for each.
    package let remarks: [String]
}
