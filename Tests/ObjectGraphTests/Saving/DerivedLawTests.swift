import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Two contexts that do random things to teams, and save and merge now and then.
private struct RandomPayroll {
    private(set) var random: SeededGenerator
    private let contexts: [ManagedObjectContext]
    let world: Payroll

    init(seed: UInt64) throws {
        let payroll = try Payroll()
        let contexts = (0..<2).map { _ in payroll.container.newBackgroundContext() }
        world = payroll
        random = SeededGenerator(seed: seed)
        self.contexts = contexts
        for context in contexts {
            context.mergePolicy = .mergeByPropertyObjectTrump
            context.performAndWait {
                context.undoManager = UndoManager()
                context.retainsRegisteredObjects = true
            }
        }
    }

    var store: Store { world.container.persistentStoreCoordinator.persistentStores[0].store }

    /// - Returns: The names of objects that are wrong in the context that has just saved or merged.
    mutating func step() throws -> [String] {
        let context = contexts[Int.random(in: 0..<2, using: &random)]
        var random = random
        defer { self.random = random }
        let store = store
        return try context.performAndWait { () throws -> [String] in
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<13: try Self.edit(context, &random)
            case 13: context.undo()
            case 14: context.redo()
            case 15:
                try Self.undoSaved(in: store, &random)
                _ = try context.mergeChanges()
            case 16: _ = try context.mergeChanges()
            default:
                _ = try context.mergeChanges()
                try Self.save(context)
                _ = try context.mergeChanges()
                return try Payroll.wrong(in: context)
            }
            return []
        }
    }

    /// Saves; what cannot be saved is given up.
    private static func save(_ context: ManagedObjectContext) throws {
        do {
            try context.save()
        } catch let error as StoreError
            where [.conflict, .validation, .undoBlocked].contains(error.code)
        {
            context.rollback()
        }
    }

    /// Takes one saved entry back, if that can be done.
    private static func undoSaved(in store: Store, _ random: inout SeededGenerator) throws {
        let head = try store.head().rawValue
        guard head > 1 else { return }
        let entry = SequenceNumber(UInt64.random(in: 2...head, using: &random))
        do {
            try store.commit(store.undoRequest(of: entry))
        } catch let error as StoreError
            where [.conflict, .validation, .undoBlocked].contains(error.code)
        {
            return
        }
    }

    private static func edit(
        _ context: ManagedObjectContext, _ random: inout SeededGenerator
    ) throws {
        let teams = try context.fetch(FetchRequest<Team>())
        let workers = try context.fetch(FetchRequest<Worker>())
        let chores = try context.fetch(FetchRequest<Chore>())
        let worker = workers.randomElement(using: &random)
        let chore = chores.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            Team(context: context).name =
                ["Lab", "SALES", "Oil"].randomElement(using: &random) ?? ""
        case 1, 2:
            let worker = Worker(context: context)
            worker.team = teams.randomElement(using: &random)
            worker.salary = Int.random(in: 0..<5, using: &random)
            worker.bonus = Decimal(Int.random(in: 0..<100, using: &random)) / 100
        case 3: Chore(context: context).effort = Int.random(in: -3..<9, using: &random)
        case 4: worker?.team = teams.randomElement(using: &random)
        case 5:
            worker?.salary =
                Bool.random(using: &random) ? nil : Int.random(in: 0..<5, using: &random)
        case 6: worker?.boss = workers.randomElement(using: &random)
        case 7: worker?.weight = Double.random(in: -1e9...1e9, using: &random)
        case 8:
            if let worker, let chore {
                if let place = worker.chores.firstIndex(of: chore) {
                    worker.chores.remove(at: place)
                } else {
                    worker.chores.insert(chore, at: 0)
                }
            }
        case 9: chore?.effort = Int.random(in: -3..<9, using: &random)
        case 10:
            teams.randomElement(using: &random)?.name =
                ["x", "Y"].randomElement(using: &random) ?? ""
        default:
            let all: [ManagedObject?] = [teams.randomElement(using: &random), worker, chore]
            if let doomed = all.randomElement(using: &random) ?? nil { context.delete(doomed) }
        }
    }
}

@Suite struct DerivedLawTests {
    private static let seeds: [UInt64] = [3, 14, 15, 92, 65, 35, 89, 79]

    @Test(arguments: seeds)
    func `what is derived is what the members come to, in every context and at every entry`(
        seed: UInt64
    ) throws {
        var history = try RandomPayroll(seed: seed)
        for number in 0..<160 {
            let wrong = try history.step()
            #expect(wrong.isEmpty, "seed \(seed), step \(number)")
        }

        let store = history.store
        let head = try store.head()
        #expect(head.rawValue > 8, "seed \(seed)")
        for number in 2...head.rawValue {
            let past = try history.world.container.context(
                at: .sequence(SequenceNumber(number)))
            let wrong = try past.performAndWait { () throws in try Payroll.wrong(in: past) }
            #expect(wrong.isEmpty, "seed \(seed), entry \(number)")
        }
        let report = try store.verify()
        #expect(report.isSound, "seed \(seed): \(report.findings.map(\.message))")
        let digests = try store.projectionDigest()
        try store.rebuild()
        #expect(try store.projectionDigest() == digests, "seed \(seed)")
    }

    @Test(arguments: seeds.prefix(2))
    func `an exported history loads with the same digests`(seed: UInt64) throws {
        var history = try RandomPayroll(seed: seed)
        for _ in 0..<120 { _ = try history.step() }

        let folder = try TemporaryDirectory()
        let copy = try TestStore.create(
            at: folder.path("copy.daybook"), loading: history.store.entry(SequenceNumber(1)))
        try history.store.entries(from: SequenceNumber(2)) { entry in
            try copy.append(exported: entry)
            return .proceed
        }

        #expect(try copy.projectionDigest() == history.store.projectionDigest())
        try copy.close()
    }
}
