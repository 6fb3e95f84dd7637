import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite struct ConcurrencyTests {
    /// What the threads of a test report.
    private final class Reports: Sendable {
        let sequences = Mutex<[[SequenceNumber]]>([])
        let failures = Mutex<[String]>([])
    }

    @Test func `contexts on their own threads save side by side and lose nothing`() throws {
        let office = try OfficeStore()
        let container = office.container
        let reports = Reports()
        let threads = 4
        let saves = 40

        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let context = container.newBackgroundContext()
            context.performAndWait {
                do {
                    var own: [SequenceNumber] = []
                    var people: [Person] = []
                    for number in 0..<saves {
                        let person = Person(context: context)
                        person.first = "\(thread)"
                        person.last = "\(number)"
                        people.append(person)
                        people[number / 2].age = number
                        if let sequence = try context.save() { own.append(sequence) }
                    }
                    reports.sequences.withLock { $0.append(own) }
                } catch {
                    reports.failures.withLock { $0.append("\(error)") }
                }
            }
        }

        #expect(reports.failures.withLock { $0 } == [])
        let sequences = reports.sequences.withLock { $0 }
        let all = sequences.flatMap { $0 }.map(\.rawValue).sorted()
        #expect(all == Array(2...UInt64(threads * saves + 1)))
        for own in sequences { #expect(own == own.sorted()) }
        let store = container.persistentStoreCoordinator.persistentStores[0].store
        let before = try store.projectionDigest()
        try store.rebuild()
        #expect(try store.projectionDigest() == before)
        var links: [Digest] = []
        var previous = try store.entry(SequenceNumber(1)).digest
        for number in all {
            let entry = try store.entry(SequenceNumber(number))
            #expect(entry.previous == previous)
            previous = entry.digest
            links.append(previous)
        }
        #expect(try store.headDigest() == links.last)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let people = try context.fetch(FetchRequest<Person>())
            let names = Set(people.map { "\($0.first) \($0.last)" })
            #expect(names.count == threads * saves)
            for person in people {
                let number = try #require(Int(person.last))
                let last = [number * 2 + 1, number * 2].first { $0 < saves }
                #expect(person.age == (last ?? (number == 0 ? 0 : nil)))
            }
        }
    }

    @Test func `contexts that edit different properties at once both keep their edits`() throws {
        let office = try OfficeStore()
        let container = office.container
        let rounds = 60
        let first = container.newBackgroundContext()
        let id = try first.performAndWait { () throws in
            let person = Person(context: first)
            try first.save()
            return person.objectID
        }
        let reports = Reports()

        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            let context = container.newBackgroundContext()
            context.performAndWait {
                do {
                    for number in 1...rounds {
                        let person = try context.existingObject(with: id)
                        let key = thread == 0 ? "first" : "last"
                        person.setStoredValue(.string("\(number)"), forKey: key)
                        try context.save()
                    }
                } catch {
                    reports.failures.withLock { $0.append("\(error)") }
                }
            }
        }

        #expect(reports.failures.withLock { $0 } == [])
        try first.performAndWait {
            _ = try first.mergeChanges()
            let person = try #require(try first.existingObject(with: id) as? Person)
            #expect(person.first == "\(rounds)")
            #expect(person.last == "\(rounds)")
        }
    }

    @Test(arguments: 1...6)
    func `a context that merges automatically ends where the store ends`(seed: UInt64) throws {
        let office = try OfficeStore()
        let container = office.container
        let reader = container.newBackgroundContext()
        reader.retainsRegisteredObjects = true
        reader.performAndWait { reader.automaticallyMergesChangesFromParent = true }
        let writers = (0..<2).map { _ in container.newBackgroundContext() }
        for writer in writers {
            writer.performAndWait {
                writer.automaticallyMergesChangesFromParent = true
                writer.mergePolicy = .mergeByPropertyObjectTrump
            }
        }
        var random = SeededGenerator(seed: seed)

        for round in 0..<60 {
            let writer = writers[Int.random(in: 0...1, using: &random)]
            try writer.performAndWait {
                let teams = try writer.fetch(FetchRequest<Team>())
                let people = try writer.fetch(FetchRequest<Person>())
                let team = teams.randomElement(using: &random)
                let person = people.randomElement(using: &random)
                switch Int.random(in: 0...5, using: &random) {
                case 0: Team(context: writer).size = round
                case 1: Person(context: writer).team = team
                case 2: person?.age = round
                case 3: person?.team = team
                case 4: team?.people = Set(people.prefix(3))
                default:
                    if let person { writer.delete(person) }
                }
                try writer.save()
            }
            for other in writers + [reader] {
                // What was posted before this runs before it: the queue is drained.
                other.performAndWait {}
            }
            let fresh = container.newBackgroundContext()
            let expected = try staff(of: fresh)
            for context in writers + [reader] {
                #expect(try staff(of: context) == expected, "seed \(seed), round \(round)")
            }
        }
    }

    /// Who is on which team, from both sides, as a context has it.
    private func staff(of context: ManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            let people = try context.fetch(FetchRequest<Person>()).map { person in
                "\(person.objectID) \(person.age ?? -1) "
                    + (person.team.map { "\($0.objectID)" } ?? "")
            }
            let teams = try context.fetch(FetchRequest<Team>()).map { team in
                "\(team.objectID) \(team.size) "
                    + team.people.map { "\($0.objectID)" }.sorted().joined(separator: " ")
            }
            return people.sorted() + teams.sorted()
        }
    }
}
