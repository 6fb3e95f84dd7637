import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Two processes on one store. Exit tests are the other process.
@Suite(.serialized)
struct TwoProcessTests {
    @Test func `two processes follow the map that the other one made larger`() async throws {
        let temporary = try TemporaryStore(options: PingPong.options)
        let path = temporary.path
        let directory = try TemporaryDirectory()
        let note = directory.path("begun")
        let begun = try ProcessSign.make(at: note)

        async let other = #expect(processExitsWith: .success) {
            [path = path as String, note = note as String] in
            let store = try Store.open(at: path, options: PingPong.options)
            try ProcessSign(at: note).give()
            let end = PingPong.end
            while try PingPong.goesOn(store, when: 1, until: end) { sched_yield() }
            try store.close()
        }
        // On a thread of its own: tests that wait for the end of a pipe that the other process has
        // inherited can hold every thread of the pool until it ends.
        let store = temporary.store
        try await withCheckedThrowingContinuation { (turns: CheckedContinuation<Void, any Error>) in
            let thread = Thread {
                turns.resume(
                    with: Result {
                        try begun.wait()
                        let end = PingPong.end
                        while try PingPong.goesOn(store, when: 0, until: end) { sched_yield() }
                    })
            }
            thread.start()
        }
        _ = await other

        try temporary.store.close()
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        #expect(size?.intValue ?? 0 > 8 * PingPong.options.initialMapSize)
        #expect(try Store.verify(path: path).isSound)
    }

    @Test func `J13 a reader that was killed does not make the file grow`() async throws {
        let temporary = try TemporaryStore(options: .counting(verification: .off))
        let (store, path) = (temporary.store, temporary.path)
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("0")])]))

        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
            try store.read { _ in
                _ = kill(getpid(), SIGKILL)
            }
        }
        let sizeBefore = try store.statistics().fileSize
        for number in 1...600 {
            let (old, new) = (Value.string("\(number - 1)"), Value.string("\(number)"))
            try store.commit(
                SaveRequest(changes: [store.update(skill, "title", from: old, to: new)]))
        }

        // Each entry leaves about half a kilobyte. If the dead reader still counted, no page would
        // be reused, and each entry would cost about ten pages.
        let growth = try store.statistics().fileSize - sizeBefore
        #expect(growth < 4 << 20, "\(growth) bytes")
    }

    @Test func `J13 two recorders at the same time never take the same object number`() throws {
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let inputs = try ["left", "right"].map { side in
            try recorder.writeInput((1...150).map { Recorder.entry("\(side)-\($0)") }, to: side)
        }

        let children = try inputs.map {
            try ChildProcess(BuiltTool.daybook, recorder.arguments, input: $0)
        }
        let acknowledged = try children.map { try Acknowledgement.parse($0.remainingLines()) }
        let endings = children.map { $0.wait() }

        #expect(endings == [.exited(0), .exited(0)])
        #expect(acknowledged.map(\.count) == [150, 150])
        let numbers = Set(acknowledged.joined().map(\.sequence))
        #expect(numbers == Set(2...301))
        try recorder.check(acknowledged.flatMap { $0 })
        let store = try Store.open(at: recorder.path, options: StoreOptions(isReadOnly: true))
        var objects: Set<ObjectID> = []
        var inserts = 0
        try store.entries(from: SequenceNumber(2)) { entry in
            objects.formUnion(entry.changes.map(\.object))
            inserts += entry.changes.count
            return .proceed
        }
        #expect(objects.count == inserts)
        #expect(try store.read { try $0.world(of: "Item") } == 600)
        try store.close()
        #expect(try recorder.findings() == [])
    }

    @Test func `J13 a reader sees each entry of another process as soon as it is acknowledged`()
        throws
    {
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let reader = try Store.open(at: recorder.path, options: StoreOptions(isReadOnly: true))
        let child = try ChildProcess(BuiltTool.daybook, recorder.arguments)

        for number in 1...100 {
            try child.write(Recorder.entry("\(number)"))
            let line = try #require(child.nextLine())
            let promise = try #require(try Acknowledgement.parse([line]).first)
            #expect(try reader.head().rawValue == promise.sequence)
            #expect(try reader.headDigest().hexadecimal == promise.digest)
            #expect(try reader.read { try $0.world(of: "Item") } == 2 * number)
        }

        try child.endInput()
        #expect(child.wait() == .exited(0))
        try reader.close()
        #expect(try recorder.findings() == [])
    }
}

/// Two processes that save in turns, with entries that outgrow their initial maps.
enum PingPong {
    static let turns: UInt64 = 120

    static let options = StoreOptions(
        initialMapSize: 256 << 10, durability: .relaxed, verification: .off)

    /// The end of waiting for the other process. It may start late when many tests run
    /// concurrently.
    static var end: ContinuousClock.Instant { .now + .seconds(1_200) }

    /// Saves if the number of entries leaves `remainder` when divided by two.
    ///
    /// - Returns: Whether there are more turns.
    static func goesOn(
        _ store: Store, when remainder: UInt64, until end: ContinuousClock.Instant
    ) throws -> Bool {
        guard ContinuousClock.now < end else {
            throw StoreError(.busy, "The other process does not take its turn.")
        }
        let head = try store.head().rawValue
        if head > turns { return false }
        guard head % 2 == remainder else { return true }
        let text = String(repeating: "turn \(head) ", count: 4_000)
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string(text)])]))
        let saved = SequenceNumber(head + 1)
        let count = try store.read(at: saved) { try $0.world(of: "Skill") }
        guard count == Int(head) else {
            throw StoreError(.corrupt, "There are \(count) skills after entry \(saved).")
        }
        return true
    }
}
