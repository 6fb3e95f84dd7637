package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

extension Store {
    /// The same file, read with the model that was in force when an entry was saved: with its names, and
    /// with what has been removed since.
    ///
    /// Nothing can be written through it. It shares the open file with this one and keeps it open.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when that model cannot be read; with
    ///   ``StoreError/Code/closed``.
    /// - Complexity: O(*v*) page reads, *v* the number of versions of the model.
    package func withModel(at sequence: SequenceNumber) throws -> Store {
        let environment = try openEnvironment()
        let model = try reading { transaction in
            let versions = try Projection.models(parts.tables, in: transaction)
            let last = versions.last { $0 <= sequence } ?? SequenceNumber(1)
            let version = try Projection.model(parts.tables, setBy: last, in: transaction)
            return StoreModel(
                place: ModelPlace(
                    sequence: last,
                    rewinds: try StateFindings.rewinds(parts.tables, in: transaction)),
                schema: Schema(version))
        }
        var readOnly = options
        readOnly.isReadOnly = true
        return Store(
            path: path, model: model,
            metadata: StoreMetadata(StoreIdentity(uuid: uuid, createdAt: createdAt)),
            options: readOnly,
            parts: parts.with(model.schema), environment: environment)
    }

    /// The object of an entity's name and a number, even if the entity had that name only before it
    /// was renamed; nil when the model has no such entity.
    ///
    /// Numbers are unique over all entities. So where one name was that of several entities, the
    /// object that exists, or existed, is the one that is meant.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a version of the model cannot be
    ///   read.
    /// - Complexity: O(log *n*) page reads; O(*v*) more, *v* the number of versions of the model, when
    ///   there is no such object of the entity that has the name today.
    package func object(ofEntityNamed name: String, number: UInt64) throws -> ObjectID? {
        let today = schema.entity(named: name).map {
            ObjectID(entity: $0.number, number: number)
        }
        if let today, try hasKnown(today) { return today }
        var others: [ObjectID] = []
        for (_, then) in try modelHistory().versions.reversed() {
            guard let entity = then.entity(named: name), schema.entity(entity.number) != nil else {
                continue
            }
            let object = ObjectID(entity: entity.number, number: number)
            if object != today, !others.contains(object) { others.append(object) }
        }
        return try others.first { try hasKnown($0) } ?? today ?? others.first
    }

    /// Whether an object exists or has existed.
    private func hasKnown(_ object: ObjectID) throws -> Bool {
        if try packedRow(of: object, at: nil) != nil { return true }
        return try read { try $0.deletion(of: object) } != nil
    }
}
