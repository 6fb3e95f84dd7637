import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// Two programs, built from two versions of a model, on one store. Exit tests are the programs.
@Suite(.serialized)
struct RollingUpgradeTests {
    @Test func `programs of two versions save in turn and at once until a third one ends it`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "tally.daybook")
        let path = url.path
        try FirstProgram(at: url).make(["all", "first", "second"])
        let signs = try TallyRun.Sign.allCases.map { try ProcessSign.make(at: $0.at(path)) }

        // On a thread of its own, and before the programs: tests that wait for the end of a pipe that another
        // process has inherited can hold every thread of the pool until it ends, and these two end by it.
        let third = Running { try TallyRun(path, "third", turn: 0).supersede() }
        async let first = #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [path = path as String] in
            try TallyRun(path, "first", turn: 0).run(FirstProgram.self)
        }
        async let second = #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [path = path as String] in
            try TallyRun(path, "second", turn: 1).run(SecondProgram.self)
        }
        let talks = await (first, second)
        try await third.end()
        withExtendedLifetime(signs) {}

        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let versions = try store.modelHistory().versions.map(\.sequence)
        try #require(versions.count == 3, "\(talks)")
        var saves: [String: [SequenceNumber]] = [:]
        try store.entries(from: SequenceNumber(3)) { entry in
            saves[entry.header.author ?? "", default: []].append(entry.sequence)
            return .proceed
        }
        try store.close()
        let (early, late) = (saves["first"] ?? [], saves["second"] ?? [])
        let counts = ["all": early.count + late.count, "first": early.count, "second": late.count]
        #expect(early.contains { $0 < versions[1] } && early.contains { $0 > versions[1] })
        #expect(try FirstProgram(at: url).sees(counts))
        #expect(try SecondProgram(at: url).sees(counts))
        for name in ["first", "second"] {
            let message = try String(contentsOfFile: "\(path).\(name)", encoding: .utf8)
            #expect(message.contains("superseded in entry \(versions[2]) by 'maintainer' at "))
            #expect(message.contains("by the step 'remove attribute 'Counter.note''"))
        }
        let report = try Store.verify(path: path)
        #expect(report.isSound, "\(report.findings)")
    }
}

/// A closure that runs on a thread of its own.
private final class Running: Sendable {
    private let result = Mutex<Result<Void, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread {
            let result = Result { try body() }
            self.result.withLock { $0 = result }
            self.done.signal()
        }.start()
    }

    /// Waits, without holding a thread of the pool, until the closure has ended.
    func end() async throws {
        let result: Result<Void, any Error>? = await withCheckedContinuation { continuation in
            Thread {
                self.done.wait()
                continuation.resume(returning: self.result.withLock { $0 })
            }.start()
        }
        try result?.get()
    }
}

/// What one of the programs does, depending on how many entries there are.
struct TallyRun {
    /// With this many the second program opens the store, and so migrates it.
    private static let upgrade = 300
    /// From then on the two save in turn.
    private static let inTurn = 1_200
    /// From then on both save at once again, until they are superseded.
    private static let atOnce = 1_800
    /// With this many the third version comes.
    private static let superseding = 2_400

    /// What the programs tell each other, so that nobody asks the store again and again while other tests run.
    enum Sign: String, CaseIterable {
        /// The second program has begun.
        case begun
        /// There are as many entries as the second program waits for.
        case upgrade
        /// There are as many entries as the third version waits for.
        case superseding

        func at(_ path: String) -> String { "\(path).\(rawValue)" }
    }

    private let path: String
    private let name: String
    private let turn: UInt64

    init(_ path: String, _ name: String, turn: UInt64) {
        self.path = path
        self.name = name
        self.turn = turn
    }

    /// Counts until the program is superseded, and reads on.
    func run<Program: TallyProgram>(_ type: Program.Type) throws {
        if turn == 1 {
            try sign(.begun).give()
            try sign(.upgrade).wait()
        } else {
            try sign(.begun).wait()
        }
        var awaited = [(Self.upgrade, Sign.upgrade), (Self.superseding, .superseding)]
        if turn == 1 { awaited.removeAll() }
        let end = ContinuousClock.now + .seconds(1_200)
        let program = try Program(at: URL(fileURLWithPath: path))
        let coordinator = program.container.persistentStoreCoordinator
        guard let store = coordinator.persistentStores.first else { throw NoSuchTally(name: path) }
        let context = program.context
        let refusal = try context.performAndWait { () throws in
            while true {
                // Other tests may delay the programs, but one that has ended does not hold up the other for ever.
                guard ContinuousClock.now < end else {
                    throw StoreError(.busy, "The other programs do not go on.")
                }
                let head = try store.head().rawValue
                if let (count, sign) = awaited.first, head >= count {
                    try self.sign(sign).give()
                    awaited.removeFirst()
                }
                if (Self.inTurn..<Self.atOnce).contains(Int(head)), head % 2 != turn {
                    sched_yield()
                    continue
                }
                try program.count(as: name)
                do {
                    try context.save(author: name)
                } catch let error as StoreError where error.code == .modelSuperseded {
                    return error.message
                }
            }
        }
        try Data(refusal.utf8).write(to: URL(fileURLWithPath: "\(path).\(name)"))
        let counts = try context.performAndWait { () throws in
            context.rollback()
            _ = try context.mergeChanges()
            return try program.counts()
        }
        guard let own = counts[name], let all = counts["all"], all == counts.values.reduce(-all, +),
            own > 0, try program.sees(counts)
        else { throw NoSuchTally(name: "\(name) in \(counts)") }
    }

    /// Lets the two go on for a while, and sets a model in which they have no place.
    func supersede() throws {
        try sign(.superseding).wait()
        let model = URL(fileURLWithPath: path + ".json")
        try Data(SecondVersion.modelWithoutNotes().json(.pretty).utf8).write(to: model)
        let ran = try ChildProcess.run(
            BuiltTool.daybook,
            ["migrate", path, "--model", model.path, "--author", "maintainer"])
        guard ran.ending == .exited(0) else { throw NoSuchTally(name: ran.talk) }
    }

    private func sign(_ sign: Sign) -> ProcessSign { ProcessSign(at: sign.at(path)) }
}

extension TallyProgram {
    /// Whether the program reads all that both have saved, after merging it.
    func sees(_ counts: [String: Int]) throws -> Bool {
        try context.performAndWait { () throws in
            _ = try context.mergeChanges()
            guard try self.counts() == counts else { return false }
            return try ["first", "second"].allSatisfy { name in
                let (slips, count) = (try self.slips(of: name), counts[name] ?? 0)
                return slips.count == count && slips.sum == count * (count + 1) / 2
                    && slips.areWhole
            }
        }
    }
}
