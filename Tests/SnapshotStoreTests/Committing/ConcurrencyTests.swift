import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookSnapshotStore

struct ConcurrencyTests {
    @Test func `saves on many threads each get their own number and are all durable`() throws {
        let temporary = try TemporaryStore(options: .counting(durability: .durable))
        let store = temporary.store
        let threads = 8
        let perThread = 10
        let sequences = Mutex<[SequenceNumber]>([])
        let failures = Mutex<[String]>([])

        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            do {
                for _ in 0..<perThread {
                    let skill = try store.newObject("Skill")
                    let result = try store.commit(
                        SaveRequest(changes: [store.insert(skill, ["title": .string("x")])]))
                    guard let sequence = result.sequence else { continue }
                    let digest = try store.entry(sequence).digest
                    if digest != result.digest { failures.withLock { $0.append("\(sequence)") } }
                    sequences.withLock { $0.append(sequence) }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        try store.close()
        let reopened = try TestStore.open(at: temporary.path)

        #expect(failures.withLock(\.self).isEmpty)
        let numbers = sequences.withLock(\.self).map(\.rawValue).sorted()
        #expect(numbers == Array(2...UInt64(threads * perThread + 1)))
        #expect(try reopened.world().count == threads * perThread)
        try reopened.close()
    }

    @Test func `two openings of one store never give out the same object number`() throws {
        let temporary = try TemporaryStore()
        let other = try TestStore.open(at: temporary.path)
        var seen: Set<UInt64> = []

        for _ in 0..<6_000 {
            #expect(seen.insert(try temporary.store.allocateObjectNumber()).inserted)
            #expect(seen.insert(try other.allocateObjectNumber()).inserted)
        }
        try other.close()
    }

    @Test func `unused object numbers are given back on closing`() throws {
        let temporary = try TemporaryStore()
        let first = try temporary.store.allocateObjectNumber()
        try temporary.store.close()

        let store = try TestStore.open(at: temporary.path)

        #expect(try store.allocateObjectNumber() == first + 1)
        try store.close()
    }

    @Test func `one opening reads what the other saves`() throws {
        let temporary = try TemporaryStore()
        let other = try TestStore.open(at: temporary.path)
        let skill = try other.newObject("Skill")

        try other.commit(SaveRequest(changes: [other.insert(skill, ["title": .string("x")])]))

        #expect(try temporary.store.head() == SequenceNumber(2))
        #expect(try temporary.store.read { try $0.exists(skill) })
        try other.close()
    }

    @Test func `listeners are told after the entry can be read, until they cancel`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let heard = Mutex<[SequenceNumber]>([])
        let subscription = store.subscribe { sequence in
            do {
                let head = try store.head()
                heard.withLock { $0.append(min(head, sequence)) }
            } catch {
                Issue.record(error)
            }
        }
        for title in ["a", "b"] {
            let skill = try store.newObject("Skill")
            try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string(title)])]))
        }

        subscription.cancel()
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("c")])]))

        #expect(heard.withLock(\.self) == [SequenceNumber(2), SequenceNumber(3)])
    }

    @Test func `recording times never go back when the clock does`() throws {
        let clock = Counter(1_000_000, step: -1_000)
        var options = StoreOptions.counting()
        options.clock = { clock.next() }
        let temporary = try TemporaryStore(options: options)
        let store = temporary.store
        for _ in 0..<3 {
            let skill = try store.newObject("Skill")
            try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("x")])]))
        }

        var times: [Int64] = []
        try store.entries { entry in
            times.append(entry.recordedAt)
            return .proceed
        }

        #expect(times == times.sorted())
    }
}
