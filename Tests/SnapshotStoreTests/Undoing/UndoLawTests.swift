import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The law of undo on random histories: the result is the state in which it never happened.
struct UndoLawTests {
    typealias World = ReferenceModel.World
    typealias Run = ClosedRange<SequenceNumber>

    @Test(arguments: [31, 32, 33, 34, 35, 36] as [UInt64])
    func `undoing and redoing entries agrees with a replay without them`(
        seed: UInt64
    ) throws {
        var history = try RandomHistory(seed: seed, entries: 30)
        let store = history.store
        let last = history.reference.head
        var undone: [Run] = []
        var counts = (legal: 0, blocked: 0, redone: 0)

        for _ in 0..<60 {
            let run = history.random.run(through: last)
            let before = try store.world()
            let redo = undone.firstIndex { $0.overlaps(run) }
            let plan: UndoPlan
            if let redo {
                plan = try store.redoPlan(of: undone[redo])
            } else {
                plan = try store.undoPlan(of: run)
            }
            let about = "seed \(seed), \(run), undone \(undone)"
            if let refusal = plan.refusal {
                #expect(refusal.code == .undoBlocked, "\(about)")
                #expect(refusal.obstacles.count == refusal.details.count, "\(about)")
                #expect(refusal.obstacles.allSatisfy { $0.entry != nil }, "\(about)")
                #expect(try store.world() == before, "\(about)")
                counts.blocked += 1
                continue
            }
            try store.commit(plan.request)
            if let redo { undone.remove(at: redo) } else { undone.append(run) }
            let expected = try store.replay(through: last, without: undone)
            try #require(try store.world() == expected, "\(about)")
            if redo == nil { counts.legal += 1 } else { counts.redone += 1 }
        }

        #expect(counts.legal > 0 && counts.blocked > 0 && counts.redone > 0, "\(counts)")
    }

    @Test(arguments: [41, 42, 43] as [UInt64], [UndoPolicy.keepLater, .overwrite])
    func `an undo with a policy leaves the graph whole and can be undone`(
        seed: UInt64, policy: UndoPolicy
    ) throws {
        var history = try RandomHistory(seed: seed, entries: 30)
        let store = history.store
        var counts = (whole: 0, partial: 0, refused: 0)

        for _ in 0..<30 {
            let run = history.random.run(through: history.reference.head)
            let about = "seed \(seed), \(run)"
            let before = try store.world()
            let strict = try store.undoPlan(of: run)
            let plan = try store.undoPlan(of: run, policy: policy)
            guard plan.refusal == nil else {
                #expect(strict.refusal != nil, "\(about)")
                counts.refused += 1
                continue
            }
            if strict.refusal == nil { #expect(plan.request.changes == strict.request.changes) }
            let result = try store.commit(plan.request)
            let sequence = try #require(result.sequence)
            let after = try store.world()
            for reference in after.values.flatMap(\.references) {
                #expect(after[reference] != nil, "\(about)")
            }
            let spared = Set(plan.obstacles.map(\.object))
            for change in try store.netChanges(of: run) where !spared.contains(change.object) {
                // An omission in one object may prevent another's reference from coming back.
                let isWhole = change.isUndone(in: after[change.object], store.schema)
                #expect(isWhole || after[change.object] != nil, "\(about), \(change)")
                #expect(isWhole || !plan.obstacles.isEmpty, "\(about), \(change)")
            }
            if plan.obstacles.isEmpty { counts.whole += 1 } else { counts.partial += 1 }

            try store.commit(try store.undoRequest(of: sequence))

            #expect(try store.world() == before, "\(about)")
        }
        #expect(counts.whole > 0 && counts.partial > 0, "\(counts)")
    }

    @Test(arguments: [61, 62, 63, 64] as [UInt64], [UndoPolicy.keepLater, .overwrite])
    func `settled states stay the same when everything is visited again`(
        seed: UInt64, policy: UndoPolicy
    ) throws {
        var history = try RandomHistory(seed: seed, entries: 60)
        let store = history.store
        let head = Int(history.reference.head.rawValue)
        var objects: Set<ObjectID> = []
        try store.entries(from: SequenceNumber(1)) { entry in
            objects.formUnion(entry.changes.map(\.object))
            return .proceed
        }
        var again = 0

        for _ in 0..<100 {
            let sequence = SequenceNumber(UInt64(history.random.number(in: 1...head)))
            let chosen = objects.sorted().filter { _ in history.random.number(in: 0...1) == 0 }
            var plan = GraphRepair(store.parts, policy)
            let projection = store.parts.projection
            try store.reading { transaction in
                for object in chosen {
                    let state = try projection.state(of: object, at: sequence, in: transaction)
                    plan.want(state, for: object)
                }
                try plan.settle(in: transaction)
            }
            if plan.visitCount > chosen.count { again += 1 }
            let settled = plan.wanted
            let obstacles = plan.obstacles

            try store.reading { try plan.settle(in: $0) }

            #expect(plan.wanted == settled, "seed \(seed), \(sequence)")
            #expect(plan.obstacles == obstacles, "seed \(seed), \(sequence)")
        }
        #expect(again > 0)
    }

    @Test(arguments: [51, 52, 53] as [UInt64])
    func `keeping later changes leaves everything that later entries have set`(seed: UInt64) throws
    {
        var history = try RandomHistory(seed: seed, entries: 30)
        let store = history.store
        let last = history.reference.head
        var partial = 0

        for _ in 0..<30 {
            let run = history.random.run(through: last)
            let plan = try store.undoPlan(of: run, policy: .keepLater)
            guard plan.refusal == nil, !plan.obstacles.isEmpty else { continue }
            let touched = try store.touchedValues(from: run.upperBound.next, through: last)
            for change in plan.request.changes {
                guard case .update(let edits, _) = change.kind else { continue }
                for edit in edits {
                    let name = "\(store.schema.name(of: change.object)).\(edit.property.rawValue)"
                    #expect(!touched.contains(name), "seed \(seed), \(run)")
                }
            }
            partial += 1
        }
        #expect(partial > 0)
    }

    @Test(arguments: [61, 62, 63] as [UInt64])
    func `a deleted object comes back with everything that led to it`(seed: UInt64) throws {
        var history = try RandomHistory(seed: seed, entries: 25)
        let store = history.store

        for _ in 0..<15 {
            let before = try store.world()
            let objects = before.keys.sorted()
            let object = objects[history.random.number(in: 0...objects.count - 1)]
            let changes = ReferenceModel.changes(
                from: before, to: before.without(object), store.schema)
            let deletion = try #require(try store.commit(SaveRequest(changes: changes)).sequence)

            let request = try store.restorePlan(of: object).permitted()
            try store.commit(request)

            #expect(try store.world() == before, "seed \(seed), entry \(deletion)")
            #expect(request.header.undoes == deletion...deletion)
        }
    }
}

extension RandomWorld {
    /// One to four entries in a row.
    fileprivate mutating func run(through last: SequenceNumber) -> UndoLawTests.Run {
        let length = max(number(in: -1...4), 1)
        let first = number(in: 2...Int(last.rawValue) - length + 1)
        return SequenceNumber(UInt64(first))...SequenceNumber(UInt64(first + length - 1))
    }
}

extension Store {
    /// The result of the entries up to one, each applied unchanged, without some.
    fileprivate func replay(
        through last: SequenceNumber, without runs: [UndoLawTests.Run]
    ) throws -> UndoLawTests.World {
        var world: UndoLawTests.World = [:]
        try entries(through: last) { entry in
            guard !runs.contains(where: { $0 ~= entry.sequence }) else { return .proceed }
            for change in entry.changes {
                let entity = try #require(schema.entity(change.object.entity))
                try change.apply(to: &world[change.object], of: entity)
            }
            return .proceed
        }
        return world
    }

    /// The properties that entries change.
    fileprivate func touchedValues(
        from first: SequenceNumber, through last: SequenceNumber
    ) throws -> Set<String> {
        var touched: Set<String> = []
        guard first <= last else { return touched }
        try entries(from: first, through: last) { entry in
            for change in entry.changes {
                guard case .update(let edits, _) = change.kind else { continue }
                for edit in edits {
                    touched.insert("\(schema.name(of: change.object)).\(edit.property.rawValue)")
                }
            }
            return .proceed
        }
        return touched
    }
}

extension ObjectState {
    fileprivate var references: [ObjectID] {
        values.compactMap(\.reference) + members.values.flatMap(\.keys)
    }
}
