import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

private final class Parcel: ManagedObject {
    @Attribute var weight: Int = 0
}

/// Programs that fold parcels into sums by the last digit of their weight.
private struct Scales {
    let container: PersistentContainer
    let store: PersistentStore
    let sums: JournalProjection<Int, [Int]>

    /// `step` is called by the fold for each entry, with its number.
    init(
        _ path: String, version: Int = 1, step: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) throws {
        container = try PersistentContainer(URL(fileURLWithPath: path), model: [Parcel.self])
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        sums = try store.project(
            "sums", version: version, as: [Int: [Int]].self, where: .all.of(Parcel.self)
        ) { entry, state in
            step(entry.sequence.rawValue)
            for change in entry.changes {
                let weight = change.new(\Parcel.weight) ?? 0
                var sum = state[weight % 10] ?? [0, 0]
                sum = [sum[0] + weight, sum[1] + 1]
                state[weight % 10] = sum
            }
        }
    }

    /// Saves parcels, each as an entry that fills half a page.
    func send(_ weights: [Int]) throws {
        let context = container.newBackgroundContext()
        let note = String(repeating: "parcel ", count: 20_000)
        for weight in weights {
            try context.performAndWait { () throws in
                Parcel(context: context).weight = weight
                try context.save(note: note)
            }
        }
    }

    /// What the state is, and what it has to be after the entries up to there, of which the first sets the model.
    func states(of weights: [Int]) throws -> (found: [Int: [Int]], expected: [Int: [Int]]) {
        let (found, at) = try sums.read { state, at in (try state.records(), at.rawValue) }
        var expected: [Int: [Int]] = [:]
        for weight in weights.prefix(Int(max(at, 1)) - 1) {
            let sum = expected[weight % 10] ?? [0, 0]
            expected[weight % 10] = [sum[0] + weight, sum[1] + 1]
        }
        return (Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0.value) }), expected)
    }
}

/// Programs that are killed while they fold, and several that fold at once.
@Suite(.serialized)
struct ProjectionCrashTests {
    @Test func `killed at any moment, a fold counts every entry once`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("parcels.daybook")
        var random = SeededGenerator(seed: TestSeed.value)
        var sent: [Int] = []
        var cutOff = 0

        for round in 0..<10 {
            let weights = (0..<6).map { _ in Int.random(in: 1...1_000, using: &random) }
            sent += weights
            try Scales(path).send(weights)
            // A new version folds everything again, beside the state of before.
            let version = 1 + round / 4
            let last = UInt64(sent.count + 1)
            let entry = UInt64.random(in: last - 5...last, using: &random)
            let isBeside = round % 2 == 1
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    path = path as String, version = version as Int, entry = entry as UInt64,
                    isBeside = isBeside as Bool
                ] in
                // Every other time the signal comes from another thread, whatever is being written.
                let scales = try Scales(path, version: version) { reached in
                    guard reached == entry else { return }
                    guard isBeside else { return _ = kill(getpid(), SIGKILL) }
                    Thread { _ = kill(getpid(), SIGKILL) }.start()
                }
                try scales.sums.catchUp()
                // The thread may be late. A child that nobody kills ends with a code of its own.
                let end = ContinuousClock.now.advanced(by: .seconds(60))
                while isBeside, ContinuousClock.now < end { sched_yield() }
                exit(3)
            }
            let scales = try Scales(path, version: version)
            let (found, expected) = try scales.states(of: sent)
            #expect(found == expected, "seed \(TestSeed.value), round \(round)")
            if try scales.sums.position() < scales.store.head() { cutOff += 1 }
        }
        let scales = try Scales(path, version: 3)
        try scales.sums.catchUp()

        let (found, expected) = try scales.states(of: sent)
        #expect(found == expected, "seed \(TestSeed.value)")
        #expect(found.values.reduce(0) { $0 + $1[1] } == sent.count)
        #expect(cutOff > 0, "seed \(TestSeed.value)")
        #expect(try Store.verify(path: path).findings.isEmpty)
    }

    @Test func `two processes that fold one projection count every entry once`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("parcels.daybook")
        let weights = (1...60).map { $0 * 17 }
        let scales = try Scales(path)
        let other = Task {
            _ = await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
                let scales = try Scales(path)
                while try scales.sums.catchUp().rawValue < 61 { sched_yield() }
                exit(0)
            }
        }

        for weight in weights {
            try scales.send([weight])
            try scales.sums.catchUp()
        }
        await other.value

        let (found, expected) = try scales.states(of: weights)
        #expect(found == expected)
        #expect(found.values.reduce(0) { $0 + $1[1] } == 60)
        #expect(try Store.verify(path: path).findings.isEmpty)
    }
}
