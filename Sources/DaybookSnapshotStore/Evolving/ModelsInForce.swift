// The room of evolving: from one version of the model to the next. It reads rows to see whether they allow
// a step, and writes entries that set a model; programs of an earlier version go on beside it.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

/// Which entry set a version of the model. Where entries are cut off, others get their numbers, which may set other
/// models.
struct ModelPlace: Sendable, Hashable {
    let sequence: SequenceNumber
    /// How often the journal had been cut off when the entry was found.
    let rewinds: UInt64
}

extension ModelPlace {
    /// The entry that set the model in force.
    static func last(
        _ tables: StoreTables, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelPlace {
        ModelPlace(
            sequence: try Projection.lastModel(tables, in: transaction),
            rewinds: try StoreMetadata.rewindsIfSound(tables.meta, in: transaction))
    }
}

/// A version of the model, and the entry that set it.
struct StoreModel: Sendable {
    let place: ModelPlace
    let schema: Schema

    var sequence: SequenceNumber { place.sequence }
}

/// The model that a program has, and the one in force, which another program may have set since.
final class ModelsInForce: Sendable {
    /// What the program knows.
    let view: StoreModel
    /// By the program's model.
    let parts: StoreParts
    private let known: Mutex<ModelInForce>
    /// How often the journal had been cut off when the program's model was last found in it.
    private let rewindsChecked: Atomic<UInt64>

    init(view: StoreModel, _ parts: StoreParts) {
        self.view = view
        self.parts = parts
        rewindsChecked = Atomic(view.place.rewinds)
        known = Mutex(ModelInForce(place: view.place, parts: parts, obstacle: nil))
    }

    /// Refuses when the entry that set the program's model was cut off: the numbers of what the model has may by now
    /// be those of something else.
    ///
    /// - Parameters:
    ///   - rewinds: How often the journal has been cut off by now.
    ///   - transaction: The state that is read or written by the model.
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation``.
    /// - Complexity: O(1) until the journal is cut off, which costs O(model) once.
    func checkView(
        after rewinds: UInt64, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard rewinds != rewindsChecked.load(ordering: .relaxed) else { return }
        let version = try Projection.modelIfThere(
            parts.tables, setBy: view.sequence, in: transaction)
        guard version == view.schema.version else { throw StoreError.modelCutOff(view.sequence) }
        rewindsChecked.store(rewinds, ordering: .relaxed)
    }

    /// Refuses when the entry that set the program's model was cut off.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation``.
    /// - Complexity: O(1).
    func checkView(in transaction: borrowing ReadTransaction) throws {
        try checkView(
            after: try StateFindings.rewinds(parts.tables, in: transaction), in: transaction)
    }

    /// The model that an entry set.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it cannot be read.
    /// - Complexity: O(1) while no other program sets a model, which costs O(model) once.
    func inForce(
        setBy place: ModelPlace, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelInForce {
        if let known = known.withLock({ $0.place == place ? $0 : nil }) { return known }
        let sequence = place.sequence
        let version = try Projection.model(parts.tables, setBy: sequence, in: transaction)
        let schema = Schema(version)
        let found = ModelInForce(
            place: place,
            parts: StoreParts(
                journal: parts.journal,
                projection: Projection(tables: parts.tables, schema: schema)),
            obstacle: try obstacle(to: schema, of: sequence, in: transaction))
        known.withLock { $0 = found }
        return found
    }

    /// The entry that set the model in force.
    func lastModel(in transaction: borrowing some Reading & ~Copyable) throws -> ModelPlace {
        try .last(parts.tables, in: transaction)
    }

    /// The model in force.
    func inForce(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelInForce {
        try inForce(setBy: try lastModel(in: transaction), in: transaction)
    }

    /// The first step since the program's model that is not compatible with it, if one is left.
    private func obstacle(
        to schema: Schema, of last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ModelInForce.Obstacle? {
        guard let step = schema.steps(from: view.schema).first(where: { !$0.isCompatible }) else {
            return nil
        }
        var before = view.schema
        for sequence in try Projection.models(parts.tables, in: transaction)
        where sequence > view.sequence {
            let version = try Projection.model(parts.tables, setBy: sequence, in: transaction)
            let after = Schema(version)
            if let step = after.steps(from: before).first(where: { !$0.isCompatible }) {
                return ModelInForce.Obstacle(sequence: sequence, step: step)
            }
            before = after
        }
        // Only all of them together are not compatible, so the last one is named.
        return ModelInForce.Obstacle(sequence: last, step: step)
    }

    /// Whether the index has all that the program's model says of a property.
    func hasIndex(
        of property: SchemaProperty, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        let last = try StateFindings.lastModel(parts.tables, in: transaction)
        // Of the state that is read: what is complete by now may not be so there.
        let pending = try StateFindings.pendingIndexes(parts.tables, in: transaction)
        if pending.contains(property.number) { return false }
        if last == view.sequence { return true }
        let current = try inForce(in: transaction).parts.projection.schema
        guard let found = current.property(property.number) else { return false }
        return found.isIndexed && found.isUnique == property.isUnique
            && current.derivation(of: property) == view.schema.derivation(of: property)
            && view.schema.entities.allSatisfy { entity in
                // A removed entity has left its records of properties that others keep.
                entity.property(property.number) == nil
                    || current.entity(entity.number)?.property(property.number) != nil
            }
    }

    /// Whether the index table has all that the program's model says of an index.
    func hasIndex(
        of index: SchemaIndex, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard index.isCompound else {
            return try index.elements.allSatisfy { try hasIndex(of: $0.property, in: transaction) }
        }
        let last = try StateFindings.lastModel(parts.tables, in: transaction)
        let pending = try StateFindings.pendingIndexes(parts.tables, in: transaction)
        if pending.contains(index.number) { return false }
        if last == view.sequence { return true }
        let current = try inForce(in: transaction).parts.projection.schema
        return index.elements.allSatisfy {
            current.derivation(of: $0.property) == view.schema.derivation(of: $0.property)
        }
            && view.schema.entities.allSatisfy { entity in
                // A removed entity has left its records of indexes that others keep.
                !entity.has(index)
                    || current.entity(entity.number).map { $0.has(index) } ?? false
            }
    }

    /// Whether the index of changes has a property, in all objects that have it by the program's model.
    func hasIndexedChanges(
        of property: SchemaProperty, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard property.hasIndexedChanges else { return false }
        let last = try StateFindings.lastModel(parts.tables, in: transaction)
        if last == view.sequence { return true }
        let current = try inForce(in: transaction).parts.projection.schema
        return view.schema.entities.allSatisfy { entity in
            entity.property(property.number)?.hasIndexedChanges != true
                || current.entity(entity.number)?.property(property.number)?.hasIndexedChanges
                    == true
        }
    }

    /// Whether the index has all current objects: a unique one lacks objects without a value, which
    /// a program may see although its own model demands one.
    func indexHasAll(
        of property: SchemaProperty, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        if !property.isUnique { return true }
        guard property.attribute?.isOptional == false else { return false }
        let last = try StateFindings.lastModel(parts.tables, in: transaction)
        if last == view.sequence { return true }
        let current = try inForce(in: transaction).parts.projection.schema
        return current.property(property.number)?.attribute?.isOptional == false
    }
}

extension SchemaEntity {
    fileprivate func has(_ index: SchemaIndex) -> Bool {
        indexes.contains { $0.number == index.number }
    }
}

extension Schema {
    /// Where the values of a derived attribute come from; nil for any other.
    fileprivate func derivation(of property: SchemaProperty) -> SchemaDerivation? {
        property.isDerived ? derivations.first { $0.property == property.number } : nil
    }
}

/// The model by which entries are folded now.
struct ModelInForce: Sendable {
    /// What keeps a program of an earlier model from writing.
    struct Obstacle: Sendable {
        let sequence: SequenceNumber
        let step: ModelStep
    }

    let place: ModelPlace
    let parts: StoreParts
    let obstacle: Obstacle?

    var sequence: SequenceNumber { place.sequence }

    /// Refuses a save of a program whose model has been superseded.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/modelSuperseded``, naming step, entry, author and
    ///   time.
    func permitWriting(in transaction: borrowing some Reading & ~Copyable) throws {
        guard let obstacle else { return }
        let heading = try parts.heading(of: obstacle.sequence, in: transaction)
        throw StoreError.modelSuperseded(by: obstacle.step, in: obstacle.sequence, heading)
    }
}

extension StoreError {
    fileprivate static func modelCutOff(_ sequence: SequenceNumber) -> StoreError {
        StoreError(
            .generation,
            "This program's model was set in entry \(sequence), which the journal does not have any more or has "
                + "another of: entries were cut off. Open the store again.")
    }

    static func modelSuperseded(
        by step: ModelStep, in sequence: SequenceNumber, _ heading: EntryHeading?
    ) -> StoreError {
        let author = heading?.author.map { " by '\($0)'" } ?? ""
        let time = heading.map { " at " + DateText.text(microseconds: $0.time) } ?? ""
        return StoreError(
            .modelSuperseded,
            "Nothing was saved: this program's model was superseded in entry \(sequence)\(author)"
                + "\(time), by the step '\(step.description)'. Save with a program that has the newer "
                + "model; this one may go on reading.")
    }
}
