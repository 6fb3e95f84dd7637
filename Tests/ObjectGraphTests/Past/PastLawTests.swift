import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

extension ManagedObjectContext {
    fileprivate func ids(_ request: FetchRequest<ManagedObject>) throws -> [ObjectID] {
        try fetch(request).map(\.objectID.object)
    }

}

@Suite struct PastLawTests {
    private static let seeds: [UInt64] = [11, 23, 47, 91]

    /// Runs `body` in a read-only and in a speculative context at some moments of a random history.
    private func atSomeMoments(
        seed: UInt64, _ body: (ManagedObjectContext, PlainWorld, Comment) throws -> Void
    ) throws {
        let chronicle = try Chronicle(seed: seed, entries: 45)
        for number in chronicle.someSequences() {
            let sequence = SequenceNumber(number)
            let world = PlainWorld(
                states: chronicle.history.reference.world(at: sequence),
                schema: chronicle.history.store.schema)
            let contexts = [
                try chronicle.container.context(at: .sequence(sequence)),
                try chronicle.container.speculativeContext(at: .sequence(sequence)),
            ]
            for context in contexts {
                try context.performAndWait { () throws in
                    try body(context, world, "seed \(seed), entry \(number)")
                }
            }
        }
    }

    @Test(arguments: seeds)
    func `every value and relationship of the past is what folding the entries gives`(
        seed: UInt64
    ) throws {
        try atSomeMoments(seed: seed) { context, world, comment in
            for entity in ["Person", "Company", "Skill"] {
                let found = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
                #expect(found.map(\.objectID.object) == world.objects(entity), comment)
                for object in found {
                    let id = object.objectID.object
                    for property in world.schema.entity(id.entity)?.properties ?? [] {
                        let name = property.name
                        guard let relationship = property.relationship else {
                            try object.willAccessValue(forKey: name)
                            let value = object.primitiveValue(forKey: name)
                            #expect(value == world.value(name, id), "\(comment), \(id).\(name)")
                            continue
                        }
                        let related = object.relatedObjects(forKey: name).map(\.objectID.object)
                        let expected = world.related(name, id)
                        if relationship.isOrdered {
                            #expect(related == expected, "\(comment), \(id).\(name)")
                        } else {
                            #expect(Set(related) == Set(expected), "\(comment), \(id).\(name)")
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: seeds)
    func `every predicate is answered as of then`(seed: UInt64) throws {
        try atSomeMoments(seed: seed) { context, world, comment in
            for question in world.questions {
                let request = FetchRequest<ManagedObject>(
                    entityName: question.entity, where: Condition(question.text))

                let found = try context.ids(request)

                #expect(Set(found) == Set(question.answer), "\(comment): \(question.text)")
                #expect(found.count == question.answer.count, "\(comment): \(question.text)")
                #expect(
                    try context.count(request) == question.answer.count,
                    "\(comment): \(question.text)")
            }
        }
    }

    @Test(arguments: seeds)
    func `order, limit, offset and batches hold as of then`(seed: UInt64) throws {
        try atSomeMoments(seed: seed) { context, world, comment in
            let sorted = world.objects("Person").sorted { left, right in
                let ages = (world.age(left) ?? .min, world.age(right) ?? .min)
                if ages.0 != ages.1 { return ages.0 > ages.1 }
                let names = (world.text("name", left) ?? "", world.text("name", right) ?? "")
                return names.0 == names.1 ? left < right : names.0 < names.1
            }
            var request = FetchRequest<ManagedObject>(entityName: "Person")
            request.order = [.descending("age"), .ascending("name")]
            #expect(try context.ids(request) == sorted, comment)

            request.offset = 2
            request.limit = 4
            request.fetchBatchSize = 2
            let expected = Array(sorted.dropFirst(2).prefix(4))
            let found = try context.fetch(request)
            #expect(found.map(\.objectID.object) == expected, comment)
            #expect(try context.count(request) == expected.count, comment)
            for object in found {
                try object.willAccessValue(forKey: "name")
                let name = object.primitiveValue(forKey: "name")
                #expect(name == world.value("name", object.objectID.object), comment)
            }

            var byEmployer = FetchRequest<ManagedObject>(entityName: "Person")
            byEmployer.order = [.ascending("employer.name")]
            byEmployer.relationshipKeyPathsForPrefetching = ["employer", "skills"]
            byEmployer.returnsObjectsAsFaults = false
            let names = try context.fetch(byEmployer).map { person in
                person.relatedObjects(forKey: "employer").first.map {
                    world.text("name", $0.objectID.object) ?? ""
                }
            }
            let known = names.compactMap(\.self)
            #expect(known == known.sorted(), comment)
            #expect(names.count == world.objects("Person").count, comment)
        }
    }

    @Test(arguments: seeds)
    func `an object exists exactly while it did then`(seed: UInt64) throws {
        let everybody = try Chronicle(seed: seed, entries: 45)
        let head = everybody.history.reference.head.rawValue
        let all = Set(
            (0...head).flatMap { number in
                everybody.history.reference.world(at: SequenceNumber(number)).keys
            })
        let store = everybody.container.persistentStoreCoordinator.persistentStores[0]
        for number in everybody.someSequences() {
            let past = try everybody.container.context(at: .sequence(SequenceNumber(number)))
            let world = everybody.history.reference.world(at: SequenceNumber(number))
            try past.performAndWait { () throws in
                for object in all {
                    let id = store.objectID(object)
                    let comment: Comment = "seed \(seed), entry \(number), \(object)"
                    if world[object] != nil {
                        #expect(try past.existingObject(with: id).objectID == id, comment)
                    } else {
                        let wasThere = (0..<number).contains {
                            everybody.history.reference.world(at: SequenceNumber($0))[object] != nil
                        }
                        let error = #expect(throws: StoreError.self, comment) {
                            try past.existingObject(with: id)
                        }
                        #expect(error?.code == (wasThere ? .objectDeleted : .noSuchObject), comment)
                    }
                }
            }
        }
    }

    @Test(arguments: seeds)
    func `differences between any two moments are those of the two states`(seed: UInt64) throws {
        let chronicle = try Chronicle(seed: seed, entries: 45)
        let reference = chronicle.history.reference
        let numbers = chronicle.someSequences()
        for (older, newer) in zip(numbers + numbers.reversed(), numbers.dropFirst(2) + numbers) {
            let (before, after) = (
                reference.world(at: SequenceNumber(older)),
                reference.world(at: SequenceNumber(newer))
            )
            let changes = ReferenceModel.changes(
                from: before, to: after, chronicle.history.store.schema)

            let differences = try chronicle.container.differences(
                from: .sequence(SequenceNumber(older)), to: .sequence(SequenceNumber(newer)))

            let comment: Comment = "seed \(seed), from \(older) to \(newer)"
            #expect(
                Set(differences.map(\.objectID.object)) == Set(changes.map(\.object)), comment)
            #expect(differences.map(\.objectID.object) == changes.map(\.object).sorted(), comment)
            for change in changes {
                let difference = try #require(
                    differences.first { $0.objectID.object == change.object }, comment)
                expectAgreement(difference, change, comment)
            }
        }
    }

    private func expectAgreement(
        _ difference: ObjectDifference, _ change: Change, _ comment: Comment
    ) {
        let byName = Dictionary(grouping: difference.changes, by: \.name)
        #expect(byName.values.allSatisfy { $0.count == 1 }, comment)
        let members = change.members.filter { !$0.isEmpty }
        let memberChanges = difference.changes.filter { $0.old == .null && $0.new == .null }
        #expect(memberChanges.count == members.count, comment)
        for (told, edit) in zip(memberChanges, members) {
            #expect(Set(told.added.map(\.object)) == Set(edit.added.map(\.object)), comment)
            #expect(Set(told.removed.map(\.object)) == Set(edit.removed.map(\.object)), comment)
        }
        let values = difference.changes.filter { $0.old != .null || $0.new != .null }
        switch change.kind {
        case .insert(let inserted, _):
            #expect(difference.kind == .inserted, comment)
            #expect(values.allSatisfy { $0.old == .null }, comment)
            #expect(values.map(\.new) == inserted.filter { $0 != .null }, comment)
        case .update(let edits, _):
            #expect(difference.kind == .updated, comment)
            #expect(values.map(\.old) == edits.map(\.old), comment)
            #expect(values.map(\.new) == edits.map(\.new), comment)
        case .delete(let deleted, _):
            #expect(difference.kind == .deleted, comment)
            #expect(values.allSatisfy { $0.new == .null }, comment)
            #expect(values.map(\.old) == deleted.filter { $0 != .null }, comment)
        }
    }

    @Test(arguments: seeds)
    func `the history of every object tells every entry that touched it`(seed: UInt64) throws {
        let chronicle = try Chronicle(seed: seed, entries: 45)
        let reference = chronicle.history.reference
        let schema = chronicle.history.store.schema
        let store = chronicle.container.persistentStoreCoordinator.persistentStores[0]
        var expected: [ObjectID: [SequenceNumber]] = [:]
        for number in 1...reference.head.rawValue {
            let sequence = SequenceNumber(number)
            let changes = ReferenceModel.changes(
                from: reference.world(at: sequence.previous), to: reference.world(at: sequence),
                schema)
            for change in changes { expected[change.object, default: []].append(sequence) }
        }
        let context = chronicle.container.newBackgroundContext()
        let middle = SequenceNumber(reference.head.rawValue / 2)
        let past = try chronicle.container.context(at: .sequence(middle))

        for (object, sequences) in expected {
            let id = store.objectID(object)
            let history = try context.performAndWait { try context.history(of: id) }
            let earlier = try past.performAndWait { try past.history(of: id) }

            let comment: Comment = "seed \(seed), \(object)"
            #expect(history.map(\.sequence) == sequences, comment)
            #expect(earlier == history.filter { $0.sequence <= middle }, comment)
            #expect(history.first?.kind == .inserted, comment)
            for revision in history {
                let difference = try chronicle.container.differences(
                    from: .sequence(revision.sequence.previous), to: .sequence(revision.sequence)
                ).first { $0.objectID == id }
                #expect(difference?.changes == revision.changes, comment)
                #expect(difference?.kind == revision.kind, comment)
            }
        }
    }

    @Test(arguments: seeds)
    func `halving finds the entry that a walk over all of them finds`(seed: UInt64) throws {
        let chronicle = try Chronicle(seed: seed, entries: 45)
        let reference = chronicle.history.reference
        let head = reference.head.rawValue
        let schema = chronicle.history.store.schema
        // The number of objects ever made only grows.
        for count in [1, 5, 20, 1000] {
            var seen: Set<ObjectID> = []
            let walked = (0...head).map { SequenceNumber($0) }.first { sequence in
                seen.formUnion(reference.world(at: sequence).keys)
                return seen.map(\.number).max().map { $0 >= UInt64(count) } ?? false
            }
            var evaluations = 0

            let found = try chronicle.container.firstEntry { past in
                evaluations += 1
                return try ["Person", "Company", "Skill"].contains { entity in
                    try past.ids(FetchRequest(entityName: entity)).contains {
                        $0.number >= UInt64(count)
                    }
                }
            }

            let comment: Comment = "seed \(seed), count \(count)"
            #expect(evaluations <= 9, comment)
            guard let found else {
                // Objects with high numbers may all be gone at the head.
                let isThere = reference.current.keys.contains { $0.number >= UInt64(count) }
                #expect(!isThere, comment)
                continue
            }
            let after = PlainWorld(states: reference.world(at: found), schema: schema)
            let before = PlainWorld(states: reference.world(at: found.previous), schema: schema)
            #expect(after.states.keys.contains { $0.number >= UInt64(count) }, comment)
            #expect(!before.states.keys.contains { $0.number >= UInt64(count) }, comment)
            #expect(try #require(walked) <= found, comment)
        }
    }

    @Test(arguments: seeds)
    func `blame tells the last entry that changed a value, and what was there before`(
        seed: UInt64
    ) throws {
        let chronicle = try Chronicle(seed: seed, entries: 45)
        let reference = chronicle.reference
        for number in chronicle.someSequences() where number > 0 {
            let sequence = SequenceNumber(number)
            let past = try chronicle.container.context(at: .sequence(sequence))
            try past.performAndWait { () throws in
                for (object, state) in reference.world(at: sequence) {
                    let origins = try past.blame(of: chronicle.store.objectID(object))
                    for property in chronicle.schema.entity(object.entity)?.slots ?? [] {
                        let comment: Comment =
                            "seed \(seed), entry \(number), \(object).\(property.name)"
                        let origin = try #require(
                            origins.first { $0.name == property.name }, comment)
                        guard let slot = property.slot else { continue }
                        var changed = sequence
                        while reference.world(at: changed.previous)[object]?.values[slot]
                            == state.values[slot]
                        {
                            changed = changed.previous
                        }
                        let before = reference.world(at: changed.previous)[object]
                        #expect(origin.sequence == changed, comment)
                        #expect(origin.value == state.values[slot], comment)
                        #expect(origin.previous == before?.values[slot] ?? .null, comment)
                        #expect(origin.isInsert == (before == nil), comment)
                        #expect(
                            origin.objects.map(\.object)
                                == state.values[slot].reference.map { [$0] } ?? [], comment)
                    }
                }
            }
        }
    }
}
