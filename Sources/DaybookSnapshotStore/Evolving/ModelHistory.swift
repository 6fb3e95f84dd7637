package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// The versions of a store's model, one after the other.
package struct ModelHistory: Sendable {
    /// The entries that set a model, each with the model, oldest first; there is one at least.
    package let versions: [(sequence: SequenceNumber, schema: Schema)]

    /// The history of a store that has had one model only.
    package init(_ schema: Schema) {
        versions = [(SequenceNumber(1), schema)]
    }

    init(versions: [(sequence: SequenceNumber, schema: Schema)]) {
        self.versions = versions
    }

    /// The model in force when an entry was saved, and by which its changes are read.
    ///
    /// - Complexity: O(log *v*), *v* the number of versions.
    package func schema(at sequence: SequenceNumber) -> Schema {
        var (lower, upper) = (0, versions.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if versions[middle].sequence <= sequence { lower = middle + 1 } else { upper = middle }
        }
        return versions[max(0, lower - 1)].schema
    }

    /// The version before the one that an entry set; nil for the first.
    package func schema(before sequence: SequenceNumber) -> Schema? {
        versions.last { $0.sequence < sequence }?.schema
    }
}

extension Store {
    /// The versions of the model.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one cannot be read.
    /// - Complexity: O(*v*) page reads, *v* the number of versions.
    package func modelHistory() throws -> ModelHistory {
        let view = models.view
        return try reading { transaction in
            let sequences = try Projection.models(parts.tables, in: transaction)
            return ModelHistory(
                versions: try sequences.map { sequence in
                    if sequence == view.sequence { return (sequence, view.schema) }
                    let version = try Projection.model(
                        parts.tables, setBy: sequence, in: transaction)
                    return (sequence, Schema(version))
                })
        }
    }

    /// The entry that set the model by which this opening reads and writes.
    package var modelSequence: SequenceNumber { models.view.sequence }
}
