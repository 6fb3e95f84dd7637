import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// A law that did not hold.
struct Mismatch: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What the context that was saved last has posted.
final class SimulationMailbox: @unchecked Sendable {
    // @unchecked Sendable because only the context that is being saved writes, and the driver, which
    // waits for it, reads.
    var lastSave: Notification?
    /// The objects that it has saved.
    var savedIDs: Set<ObjectID> = []
    /// The objects that the context of this step has told it has merged.
    var mergedIDs: Set<ObjectID> = []
}

/// Runs steps on contexts over one store, some of them on top of others, and compares everything
/// with the reference.
final class Simulation {
    let office: OfficeStore
    let store: Store
    let rules: ReferenceOffice
    let shape: SimulationShape
    var contexts: [ManagedObjectContext] = []
    var sights: [Sight] = []
    /// What lay under each context before the step.
    var undersBefore: [World] = []
    let mailbox = SimulationMailbox()
    /// What contexts have told those that follow them in this step.
    var news: [SimulationNews] = []
    /// Which context has made each entry after the first.
    var savers: [Int] = [-1]
    /// What the store held after each entry, from number 1.
    var worlds: [World] = [[:]]
    var identifiers: [ObjectID: ManagedObjectID] = [:]
    /// What was done, in words.
    var log: [String] = []
    var random = SeededGenerator(seed: 0)
    /// What was in memory when an event began: what nobody holds is read anew by the next edit, and if
    /// others have deleted it, it is not there to be deleted again.
    var held: [ManagedObject] = []
    /// What the event has made.
    var made: Set<ObjectID> = []
    var counts: [String: Int] = [:]

    var head: World { worlds[worlds.count - 1] }

    init(_ shape: SimulationShape) throws {
        self.shape = shape
        office = try OfficeStore()
        store = office.container.persistentStoreCoordinator.persistentStores[0].store
        let schema = store.schema
        rules = ReferenceOffice { schema.entity($0.entity)?.name ?? "" }
        for (number, plan) in shape.contexts.enumerated() {
            let context =
                plan.parent.map { ManagedObjectContext(parent: contexts[$0]) }
                ?? office.container.newBackgroundContext()
            context.name = "context \(number)"
            context.retainsRegisteredObjects = plan.isRetaining
            contexts.append(context)
            sights.append(Sight())
            undersBefore.append([:])
            if plan.isFollowing {
                context.performAndWait {
                    // A context whose program hears of conflicts saves over them.
                    context.mergeConflictHandler = { _ in }
                    context.automaticallyMergesChangesFromParent = true
                }
            }
        }
    }

    /// All objects as what lies under a context has them: the store, or its parent.
    func under(_ index: Int) -> World {
        guard let parent = shape.contexts[index].parent else { return head }
        return sights[parent].view(under(parent))
    }

    /// All objects as a context sees them.
    func view(_ index: Int) -> World { sights[index].view(under(index)) }

    /// Carries out one step and checks every law that can be checked after it.
    func run(_ step: SimulationStep) throws {
        random = SeededGenerator(seed: step.seed)
        counts[step.kind.rawValue, default: 0] += 1
        let index = step.context % contexts.count
        let context = contexts[index]
        log.append("-- \(step)")
        try context.performAndWait {
            switch step.kind {
            case .edit: try edit(index)
            case .delete: try delete(index)
            case .undo: try undo(index)
            case .redo: try redo(index)
            case .undoRedo: try undoRedo(index)
            case .undoAll: try undoAll(index)
            case .rollback: try rollback(index)
            case .reset: try reset(index)
            case .refreshKeeping: try refresh(index, mergeChanges: true)
            case .refreshDropping: try refresh(index, mergeChanges: false)
            case .refreshAll: try refreshAll(index)
            case .merge: try merge(index)
            case .save: try save(index)
            case .fetch: try fetch(index)
            case .compareAll: try compareAll(index)
            case .past: try comparePast()
            case .replay: try replay()
            }
        }
        noteGone()
        try followUp(index)
        noteGone()
        noteStaleness(index)
        for other in contexts.indices {
            try contexts[other].performAndWait { try compare(other) }
            contexts[other].performAndWait { forgetReleased(other) }
        }
        noteStaleness(index)
        if step.kind != .save, int(0...9) == 0 { try compareStore("before any save") }
    }

    // MARK: - Chance

    func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func pick<Items: Collection>(_ items: Items) -> Items.Element? {
        items.randomElement(using: &random)
    }

    func say(_ index: Int, _ text: String) { log.append("   \(index): \(text)") }

    // MARK: - Reading what is really there

    func object(_ id: ObjectID, _ index: Int) throws -> ManagedObject {
        guard let identifier = identifiers[id],
            let object = contexts[index].object(with: identifier)
        else { throw Mismatch("There is no instance for \(id).") }
        return object
    }

    func read(_ object: ManagedObject) -> Record {
        var record: Record = [:]
        for field in rules.fields(object.objectID.object) where field.isStored {
            record[field.name] = read(field, of: object)
        }
        return record
    }

    /// What a property holds. Of a stored reference that is what it holds, whether or not its object is
    /// still there.
    func read(_ field: Field, of object: ManagedObject) -> Cell {
        if field.isAttribute { return .value(object.storedValue(forKey: field.name)) }
        if field.kind == .toOne, field.isStored {
            return .one(object.objectIDs(forRelationshipNamed: field.name).first?.object)
        }
        let ids = object.relatedObjects(forKey: field.name).map(\.objectID.object)
        if field.kind == .toOne { return .one(ids.first) }
        return .many(field.kind == .list ? ids : ids.sorted())
    }

    /// The instances a context has, by identifier; there may be only one each.
    func registered(_ index: Int) throws -> [ObjectID: ManagedObject] {
        var objects: [ObjectID: ManagedObject] = [:]
        for object in contexts[index].registeredObjects {
            let id = object.objectID.object
            if let other = objects[id] {
                throw Mismatch("Uniquing: two instances of \(id): \(other) and \(object).")
            }
            objects[id] = object
            if contexts[index].registeredObject(for: object.objectID) !== object {
                throw Mismatch("Uniquing: \(id) has another instance by its identifier.")
            }
        }
        return objects
    }

    /// All a context has in memory, both sides of relationships included.
    func dump(_ index: Int) throws -> [ObjectID: Record] {
        var world: [ObjectID: Record] = [:]
        for (id, object) in try registered(index) where !object.isDeleted {
            if object.isFault && !object.hasChanges { continue }
            var record: Record = [:]
            for field in rules.fields(id) { record[field.name] = read(field, of: object) }
            world[id] = record
        }
        return world
    }

    // MARK: - Comparing

    /// Compares what a context has read with what it should see, and disturbs nothing.
    func compare(_ index: Int) throws {
        let context = contexts[index]
        let objects = try registered(index)
        let head = under(index)
        let view = sights[index].view(head)
        for id in sights[index].mine.keys.sorted() {
            guard let object = objects[id] else {
                if sights[index].isDirty(id), !isOnlyEmptied(id, index, view) {
                    let changes = difference(
                        sights[index].mine.filter { $0.key == id },
                        sights[index].seen.filter { $0.key == id })
                    throw Mismatch(
                        "S5-S7: context \(index) has let go of the changed \(id): \(changes)")
                }
                sights[index].forget(id)
                continue
            }
            if object.isFault {
                guard sights[index].isDirty(id) || isKnownInPart(object) else {
                    sights[index].forget(id)
                    continue
                }
                rebase(object, id, index, head)
            }
            try compare(object, id, index, view)
        }
        for id in sights[index].deleted where objects[id]?.isDeleted != true {
            throw Mismatch("S91: \(id) should count as deleted in context \(index).")
        }
        for id in sights[index].inserted where objects[id]?.isInserted != true {
            throw Mismatch("\(id) should count as inserted in context \(index).")
        }
        for (id, object) in objects where sights[index].mine[id] == nil {
            guard !object.isFault || isKnownInPart(object), !object.isDeleted,
                let stored = head[id]
            else { continue }
            // What was there before and has come back may have been read long ago.
            var record = isCurrent(index) || object.isFault ? stored : read(object)
            for field in rules.fields(id) where field.isStored && field.isList && object.isFault {
                if !isCurrent(index) { record[field.name] = read(field, of: object) }
            }
            sights[index].seen[id] = record
            sights[index].mine[id] = record
            try compare(object, id, index, view)
        }
        try compareFlags(index, context)
    }

    /// Whether nothing was changed of an object but references without inverse, which read as none already.
    private func isOnlyEmptied(_ id: ObjectID, _ index: Int, _ view: World) -> Bool {
        guard let mine = sights[index].mine[id], let seen = sights[index].seen[id] else {
            return false
        }
        return rules.fields(id).filter { mine[$0.name] != seen[$0.name] }
            .allSatisfy { rules.isEmptied($0, seen[$0.name], mine[$0.name], in: view) }
    }

    /// Forgets what a context has let go of: it will be read anew.
    func forgetReleased(_ index: Int) {
        let held = Set(
            contexts[index].registeredObjects.lazy.filter { !$0.isFault || self.isKnownInPart($0) }
                .map(\.objectID.object))
        for id in sights[index].mine.keys where !held.contains(id) && !sights[index].isDirty(id) {
            sights[index].forget(id)
        }
    }

    /// Notes what each context has found gone.
    private func noteGone() {
        for (index, context) in contexts.enumerated() {
            context.performAndWait { noteGone(index) }
        }
    }

    /// Notes what a context has found gone.
    func noteGone(_ index: Int) {
        let gone = contexts[index].registeredObjects.filter { $0.isDeleted && !$0.hasChanges }
        sights[index].gone = Set(gone.map(\.objectID.object))
    }

    /// Notes which contexts have had something changed under them by somebody else.
    private func noteStaleness(_ index: Int) {
        for other in contexts.indices {
            let now = under(other)
            if other != index, now != undersBefore[other] { sights[other].isFresh = false }
            undersBefore[other] = now
        }
    }

    private func compareFlags(_ index: Int, _ context: ManagedObjectContext) throws {
        let sight = sights[index]
        let dirty = Set(sight.mine.keys).union(sight.deleted).filter(sight.isDirty)
        if !dirty.isEmpty && !context.hasChanges {
            let changes = difference(
                sight.mine.filter { dirty.contains($0.key) },
                sight.seen.filter { dirty.contains($0.key) })
            throw Mismatch("Context \(index) should have changes: \(changes)")
        }
        guard !sight.undoMeetsOthers else { return }
        let can = (context.undoManager?.canUndo == true, context.undoManager?.canRedo == true)
        if can != (sight.cursor > 0, sight.cursor < sight.groups.count) {
            throw Mismatch(
                "Context \(index) can undo \(can.0) and redo \(can.1), but stands at "
                    + "\(sight.cursor) of \(sight.groups.count).")
        }
    }

    private func compare(
        _ object: ManagedObject, _ id: ObjectID, _ index: Int, _ view: World
    ) throws {
        guard let expected = sights[index].mine[id] else { return }
        let found = read(object)
        for field in rules.fields(id) where field.isStored {
            guard let want = expected[field.name], let have = found[field.name] else { continue }
            try compareDestination(object, id, field, have, index, view)
            if want == have { continue }
            let isEdited = object.changedValues()[field.name] != nil
            if rules.isEmptied(field, want, have, in: view) {
                // An object that was new here comes back with the undo of its delete, and the reference with it.
                let comesBack = want.destinations.contains {
                    sights[index].annihilated.contains($0)
                }
                if !isEdited, !comesBack, sights[index].seen[id]?[field.name] == have {
                    sights[index].mine[id]?[field.name] = have
                }
                continue
            }
            let below = under(index)[id]?[field.name]
            // What lies under a context that is behind may hold members that were deleted there by one
            // who did not know whose they are.
            let held = isCurrent(index) ? have : ReferenceOffice.living(have, in: view)
            // There, a list that reads as before and is read again, of an object that is gone below, has
            // lost what both sides had put in.
            let isReadAgain =
                field.isList && below == nil && !isCurrent(index) && have == .many([])
            let isInterleaved =
                field.kind == .list && isEdited
                && rules.areInterleaved(have, want, base: sights[index].seen[id]?[field.name])
            guard isReadAgain || isInterleaved || held == ReferenceOffice.living(want, in: view),
                field.kind != .toOne
            else {
                throw Mismatch(
                    "Context \(index): \(rules.entity(id)) \(id).\(field.name) is \(have), "
                        + "should be \(want); it was read as "
                        + "\(sights[index].seen[id]?[field.name].map { "\($0)" } ?? "new") and is "
                        + "\(below.map { "\($0)" } ?? "missing") below.")
            }
            // What has been edited still has the members that are deleted: they may come back.
            if isInterleaved { sights[index].mine[id]?[field.name] = have }
            if isEdited || sights[index].isDirty(id) { continue }
            sights[index].mine[id]?[field.name] = have
            sights[index].seen[id]?[field.name] = have
        }
    }

    /// A reference leads to its object, and to nothing where that is gone. In a context that is behind,
    /// what was found gone is not looked for again before a refresh; nor is, anywhere, what was inserted
    /// and deleted here, before a save.
    private func compareDestination(
        _ object: ManagedObject, _ id: ObjectID, _ field: Field, _ cell: Cell, _ index: Int,
        _ view: World
    ) throws {
        guard field.kind == .toOne, case .one(let target) = cell else { return }
        let found = object.relatedObjects(forKey: field.name).first?.objectID.object
        let isGone =
            target.map {
                view[$0] == nil || !isCurrent(index) || sights[index].annihilated.contains($0)
            } ?? true
        guard found == target || found == nil && isGone else {
            throw Mismatch(
                "Context \(index): \(rules.entity(id)) \(id).\(field.name) holds \(cell) and "
                    + "leads to \(found.map { "\($0)" } ?? "none").")
        }
    }

    /// Whether something is known of a fault: an edit through the other end of a relationship has had to
    /// read a list of it, or has changed it and come to nothing.
    private func isKnownInPart(_ object: ManagedObject) -> Bool {
        object.hasChanges
            || rules.fields(object.objectID.object).contains {
                $0.isStored && $0.isList && !object.hasFault(forRelationshipNamed: $0.name)
            }
    }

    /// The record of a fault that was changed or is known in part is read now, under the changes. A list
    /// that an edit had to read stays as it was read.
    private func rebase(
        _ object: ManagedObject, _ id: ObjectID, _ index: Int, _ head: World
    ) {
        guard var theirs = head[id], let base = sights[index].seen[id],
            let ours = sights[index].mine[id]
        else { return }
        for field in rules.fields(id) where field.isStored && field.isList {
            if let ours = ours[field.name], read(field, of: object) == ours {
                theirs[field.name] = base[field.name]
            }
        }
        var record = theirs
        for field in rules.fields(id) where field.isStored {
            guard let base = base[field.name], let ours = ours[field.name],
                let theirs = theirs[field.name]
            else { continue }
            record[field.name] =
                ReferenceOffice.merge(field, base: base, ours: ours, theirs: theirs) ?? ours
        }
        if theirs != base { sights[index].disturbUndo(id) }
        sights[index].seen[id] = theirs
        sights[index].mine[id] = record
    }

    /// Believes what a context says of relationships, where only the implementation can know which
    /// lists it had read and when. Attributes have to be as foreseen, unless an undo is not.
    func adopt(_ index: Int, isForeseen: Bool = true) throws {
        let head = under(index)
        let context = contexts[index]
        let objects = try registered(index)
        var sight = sights[index]
        // What a merge found deleted counts as deleted and is nothing to save.
        let deleted = context.deletedObjects.filter(\.hasChanges)
        sight.deleted = Set(deleted.map(\.objectID.object))
        sight.inserted = Set(context.insertedObjects.map(\.objectID.object))
        for id in Set(sight.mine.keys).union(sight.seen.keys)
        where objects[id] == nil || objects[id]?.isDeleted == true {
            sight.mine[id] = nil
            if !sight.deleted.contains(id) { sight.seen[id] = nil }
        }
        for id in sight.deleted where sight.seen[id] == nil { sight.seen[id] = head[id] }
        sight.annihilate(Set(sights[index].inserted).subtracting(sight.inserted), head)
        for (id, object) in objects where !object.isDeleted {
            if object.isFault && !object.hasChanges {
                sight.seen[id] = nil
                sight.mine[id] = nil
                continue
            }
            let record = read(object)
            if object.isDeleted { continue }
            for field in rules.fields(id) where field.isStored {
                if isForeseen, field.isAttribute, let want = sight.mine[id]?[field.name],
                    want != record[field.name]
                {
                    throw Mismatch(
                        "Context \(index): \(rules.entity(id)) \(id).\(field.name) is "
                            + "\(record[field.name].map { "\($0)" } ?? "missing"), should be "
                            + "\(want), whatever others have done.")
                }
            }
            if sight.inserted.contains(id) {
                sight.seen[id] = nil
            } else if sight.seen[id] == nil {
                guard let stored = head[id] else { continue }
                sight.seen[id] = stored
            }
            sight.mine[id] = record
            // A list that was read only now is not an edit.
            if !object.hasChanges { sight.seen[id] = record }
            let changed = object.changedValues()
            for field in rules.fields(id) where field.isStored && field.isList {
                if sight.seen[id] != nil, changed[field.name] == nil {
                    sight.seen[id]?[field.name] = record[field.name]
                }
            }
            for (name, cell) in record { sight.noteUnder(id, name, cell) }
            for (name, cell) in head[id] ?? [:] { sight.noteUnder(id, name, cell) }
        }
        sights[index] = sight
    }

    /// Whether nobody has changed anything under a context, or under what is under it, since it
    /// last merged everything.
    func isCurrent(_ index: Int) -> Bool {
        sights[index].isFresh && shape.contexts[index].parent.map(isCurrent) != false
    }

    /// Whether all references of a context lead somewhere and no two objects hold what only one may.
    func isConsistent(_ index: Int) -> Bool {
        rules.flaws(in: view(index), afterSave: false).isEmpty
    }

    /// Compares the store with what it should hold.
    func compareStore(_ moment: String) throws {
        let found = try storeWorld()
        if found != head { throw Mismatch("The store \(moment): \(difference(found, head))") }
        if Int(try store.head().rawValue) != worlds.count {
            throw Mismatch("The journal ends at \(try store.head()), not at \(worlds.count).")
        }
    }

    func difference(_ found: World, _ expected: World) -> String {
        var lines: [String] = []
        for id in Set(found.keys).union(expected.keys).sorted() where found[id] != expected[id] {
            guard let have = found[id], let want = expected[id] else {
                lines.append("\(id) is \(found[id] == nil ? "missing" : "too many")")
                continue
            }
            for (name, cell) in want.sorted(by: { $0.key < $1.key }) where have[name] != cell {
                let text = have[name]?.description ?? "missing"
                lines.append("\(rules.entity(id)) \(id).\(name) is \(text), should be \(cell)")
            }
        }
        return lines.joined(separator: "; ")
    }

    func storeWorld() throws -> World {
        var world: World = [:]
        for (id, state) in try store.world() {
            var record: Record = [:]
            for field in rules.fields(id) where field.isStored {
                let property = store.property(field.name, of: id)
                if let slot = property.slot {
                    let value = state.values[slot]
                    record[field.name] =
                        field.isAttribute ? .value(value) : .one(value.reference)
                } else {
                    let members = state.members[property.number] ?? [:]
                    let ids = members.sorted {
                        ($0.value, $0.key) < ($1.value, $1.key)
                    }.map(\.key)
                    record[field.name] = .many(field.kind == .list ? ids : ids.sorted())
                }
            }
            world[id] = record
        }
        return world
    }
}
