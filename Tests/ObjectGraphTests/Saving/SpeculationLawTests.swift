import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// One edit made in the past.
private struct Trial: Hashable {
    let object: ObjectID
    let property: SchemaProperty
    let base: Value
    let ours: Value

    static func == (left: Trial, right: Trial) -> Bool {
        left.object == right.object && left.property.number == right.property.number
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(object)
        hasher.combine(property.number)
    }
}

/// A conflict without its origin.
private struct Collision: Hashable {
    let kind: MergeConflict.Kind
    let object: ObjectID
    let property: PropertyNumber?
    let base: Value
    let theirs: Value
    let ours: Value

    init(_ conflict: MergeConflict) {
        kind = conflict.kind
        object = conflict.object
        property = conflict.property
        (base, theirs, ours) = (conflict.base, conflict.theirs, conflict.ours)
    }

    init(_ trial: Trial, theirs: Value?) {
        kind = theirs == nil ? .deletedByThem : .value
        object = trial.object
        property = trial.property.number
        (base, ours) = (trial.base, trial.ours)
        self.theirs = theirs ?? .null
    }
}

/// Random edits on a random point of a random history.
private struct Speculation {
    let chronicle: Chronicle
    let sequence: SequenceNumber
    let context: ManagedObjectContext
    let trials: [Trial]
    let comment: Comment

    var head: ReferenceModel.World { chronicle.reference.current }

    init(seed: UInt64, _ policy: MergePolicy, isWanted: (ObjectID, Chronicle) -> Bool) throws {
        chronicle = try Chronicle(seed: seed, entries: 40)
        var generator = SeededGenerator(seed: seed &* 31)
        sequence = SequenceNumber(
            UInt64.random(in: 5..<chronicle.reference.head.rawValue, using: &generator))
        comment = "seed \(seed), from entry \(sequence)"
        var trials: [Trial] = []
        let world = chronicle.reference.world(at: sequence)
        for object in world.keys.sorted() where isWanted(object, chronicle) {
            for property in chronicle.schema.entity(object.entity)?.slots ?? [] {
                guard let slot = property.slot, Int.random(in: 0...2, using: &generator) > 0,
                    let base = world[object]?.values[slot]
                else { continue }
                let number = Int64.random(in: -9...9, using: &generator)
                let ours: Value
                switch property.name {
                case "age": ours = .int(number)
                case "name", "title": ours = .string("n\(abs(number))")
                case "score": ours = .double(Double(number) / 8)
                default: continue
                }
                guard ours != base else { continue }
                trials.append(Trial(object: object, property: property, base: base, ours: ours))
            }
        }
        self.trials = trials
        context = try chronicle.container.speculativeContext(at: .sequence(sequence))
        try context.performAndWait { [context, chronicle] () throws in
            context.mergePolicy = policy
            // Values read in the past have to be updated when the context moves to the head.
            for entity in ["Person", "Company", "Skill"] {
                let found = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
                context.retainsRegisteredObjects = true
                for object in found { _ = object.relationships(in: chronicle.schema) }
            }
            for trial in trials {
                let id = chronicle.store.objectID(trial.object)
                let object = try context.existingObject(with: id)
                object.setValue(trial.ours, forSlotOf: trial.property)
            }
        }
    }

    /// The others' value instead of the edited one; nil when they deleted the object.
    func theirs(_ trial: Trial) -> Value? {
        trial.property.slot.flatMap { head[trial.object]?.values[$0] }
    }

    /// The properties with different values on the two sides.
    var collisions: Set<Collision> {
        Set(
            trials.compactMap { trial in
                let theirs = theirs(trial)
                let collides = theirs != trial.base && theirs != trial.ours
                return collides ? Collision(trial, theirs: theirs) : nil
            })
    }

    /// The entry that set the others' value.
    func origin(of conflict: MergeConflict) -> SequenceNumber {
        let reference = chronicle.reference
        func side(_ sequence: SequenceNumber) -> Value? {
            guard let number = conflict.property,
                let slot = chronicle.schema.entity(conflict.object.entity)?.property(number)?.slot
            else { return nil }
            return reference.world(at: sequence)[conflict.object]?.values[slot]
        }
        var found = reference.head
        while side(found.previous) == side(found) { found = found.previous }
        return found
    }

    /// The final state of the store.
    func outcome() throws -> ReferenceModel.World {
        var world: ReferenceModel.World = [:]
        try chronicle.history.store.read { snapshot in
            for object in Set(head.keys).union(trials.map(\.object)) {
                world[object] = try snapshot.state(of: object)
            }
        }
        return world
    }

    /// The state at the head with some edits on top.
    func head(with won: (Trial, _ theirs: Value) -> Bool) -> ReferenceModel.World {
        var world = head
        for trial in trials {
            guard let theirs = theirs(trial), let slot = trial.property.slot,
                won(trial, theirs)
            else { continue }
            world[trial.object]?.values[slot] = trial.ours
        }
        return world
    }
}

extension ManagedObject {
    /// The destinations of the object's relationships, in order if they have one.
    fileprivate func relationships(in schema: Schema) -> [String: [ObjectID]] {
        var related: [String: [ObjectID]] = [:]
        for property in schema.entity(objectID.object.entity)?.properties ?? [] {
            guard let relationship = property.relationship else { continue }
            let ids = relatedObjects(forKey: property.name).map(\.objectID.object)
            related[property.name] = relationship.isOrdered ? ids : ids.sorted()
        }
        return related
    }

    fileprivate func setValue(_ value: Value, forSlotOf property: SchemaProperty) {
        switch value {
        case .int(let number): setValue(Int(number), forKey: property.name)
        case .double(let number): setValue(number, forKey: property.name)
        case .string(let text): setValue(text, forKey: property.name)
        default: setValue(nil, forKey: property.name)
        }
    }
}

@Suite struct SpeculationLawTests {
    private static let seeds: [UInt64] = [3, 5, 8, 13, 21, 34]

    @Test(arguments: seeds)
    func `a save is refused for exactly what both sides changed, and then changes nothing`(
        seed: UInt64
    ) throws {
        let speculation = try Speculation(seed: seed, .error) { _, _ in true }
        let context = speculation.context
        let expected = speculation.collisions

        try context.performAndWait { () throws in
            let preview = try context.previewSave()
            #expect(Set(preview.conflicts.map(Collision.init)) == expected, speculation.comment)
            for conflict in preview.conflicts {
                #expect(conflict.sequence == speculation.origin(of: conflict), speculation.comment)
            }
            #expect((preview.refusal == nil) == expected.isEmpty, speculation.comment)
            guard !expected.isEmpty else { return }
            let error = #expect(throws: StoreError.self, speculation.comment) {
                try context.save()
            }
            #expect(error?.conflicts == preview.conflicts, speculation.comment)
            #expect(context.isSpeculative, speculation.comment)
            for trial in speculation.trials {
                let id = speculation.chronicle.store.objectID(trial.object)
                let object = try context.existingObject(with: id)
                #expect(
                    object.primitiveValue(forKey: trial.property.name) == trial.ours,
                    speculation.comment)
            }
        }

        if !expected.isEmpty {
            #expect(try speculation.outcome() == speculation.head, speculation.comment)
        }
    }

    @Test(arguments: seeds)
    func `where theirs wins, only what they left alone is saved`(seed: UInt64) throws {
        let speculation = try Speculation(seed: seed, .mergeByPropertyStoreTrump) { _, _ in true }

        try expectAgreementAfterSaving(
            speculation, speculation.head { trial, theirs in theirs == trial.base })
    }

    @Test(arguments: seeds)
    func `where ours wins, everything that was tried is saved and nothing else of theirs lost`(
        seed: UInt64
    ) throws {
        // A revived object may meet a unique value that was taken since; see SpeculationTests for
        // that.
        let speculation = try Speculation(seed: seed, .mergeByPropertyObjectTrump) {
            $1.reference.current[$0] != nil
        }

        try expectAgreementAfterSaving(speculation, speculation.head { _, _ in true })
    }

    private func expectAgreementAfterSaving(
        _ speculation: Speculation, _ expected: ReferenceModel.World
    ) throws {
        let context = speculation.context
        let schema = speculation.chronicle.schema
        let world = PlainWorld(states: expected, schema: schema)

        try context.performAndWait { () throws in
            try context.save()

            #expect(!context.isSpeculative, speculation.comment)
            #expect(!context.hasChanges, speculation.comment)
            let living = context.registeredObjects.filter { !$0.isDeleted }
            #expect(living.count >= 5, speculation.comment)
            for object in living {
                let id = object.objectID.object
                for (name, related) in object.relationships(in: schema) {
                    let isOrdered = name == "board"
                    let expected = world.related(name, id)
                    #expect(
                        related == (isOrdered ? expected : expected.sorted()),
                        "\(speculation.comment), \(id).\(name)")
                }
                for property in schema.entity(id.entity)?.slots ?? [] {
                    guard let slot = property.slot, property.isAttribute else { continue }
                    try object.willAccessValue(forKey: property.name)
                    #expect(
                        object.primitiveValue(forKey: property.name) == expected[id]?.values[slot],
                        speculation.comment)
                }
            }
        }
        #expect(try speculation.outcome() == expected, speculation.comment)
    }
}
