package import DaybookObjectModel

/// A model file as a model of Daybook.
package struct ModelReading: Sendable {
    /// The model.
    package let model: ManagedObjectModel
    /// The classes of the entities, by entity name, where the file gives one.
    package let classNames: [String: String]
    /// The names of the kinds of composite attributes, by `Entity.attribute`.
    package let compositeNames: [String: String]
    /// What the model lacks, or has in another form than the file: a sentence for each.
    package let remarks: [String]
}
