import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// New states beside old ones, rivals, and removal.
@Suite struct ProjectionVersionTests {
    private let followed: FollowedStore
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
    }

    /// Counts entries, so many for each.
    private func counts(
        _ step: Int = 1, version: Int = 1, in container: PersistentContainer? = nil
    ) throws -> JournalProjection<String, Int> {
        let container = container ?? followed.container
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        return try store.project("counts", version: version, as: [String: Int].self) { _, state in
            state["entries", default: 0] += step
        }
    }

    /// Saves entries of which each fills a page.
    private func saveLong(_ count: Int) throws {
        let note = String(repeating: "long ", count: 60_000)
        for _ in 0..<count { try followed.save(note: note) { _ = Deposit(context: $0) } }
    }

    // MARK: - Versions

    @Test func `a new version is built beside the old one, which answers until then`() throws {
        try saveLong(3)
        let old = try counts()
        try old.catchUp()
        let new = try counts(10, version: 2)
        var work = ProjectionWork(new, rebuilding: false)

        var seen: [Int?] = []
        while try store.projections().first?.current.version == 1 {
            seen.append(try new.value(for: "entries"))
            _ = try work.step()
        }

        // The first entry sets the model.
        #expect(seen.count > 2)
        #expect(seen.allSatisfy { $0 == 4 })
        #expect(try new.contents().state == ["entries": 40])
        #expect(try new.contents().at == store.head())
        #expect(try new.read { state, _ in state.version } == 2)
        while try work.step() != .done {}
        #expect(try store.store.discardedStates().isEmpty)
        #expect(try records() == 1)
    }

    @Test func `the old version goes on while the new one is built`() throws {
        try saveLong(3)
        let old = try counts()
        try old.catchUp()
        var work = ProjectionWork(try counts(10, version: 2), rebuilding: false)
        _ = try work.step()
        let entry = try followed.open("Ada").entry

        let reached = try old.catchUp()

        #expect(reached == entry)
        #expect(try old.contents().state == ["entries": 5])
        while try work.step() != .done {}
        #expect(try old.contents().state == ["entries": 50])
    }

    @Test func `an older version is refused once a newer one has taken over`() throws {
        try followed.open("Ada")
        let old = try counts()
        try old.catchUp()
        try counts(10, version: 3).catchUp()
        try followed.open("Bob")

        let errors = [
            #expect(throws: StoreError.self) { try old.catchUp() },
            #expect(throws: StoreError.self) { try old.rebuild() },
            #expect(throws: StoreError.self) { try counts(5, version: 2).catchUp() },
        ]

        #expect(errors.allSatisfy { $0?.code == .projectionSuperseded })
        #expect(errors[0]?.message.contains("version 3 in the store") == true)
        #expect(try old.contents().state == ["entries": 20])
    }

    @Test func `a version that is overtaken while it is built gives way`() throws {
        try saveLong(3)
        try counts().catchUp()
        var second = ProjectionWork(try counts(10, version: 2), rebuilding: false)
        _ = try second.step()
        let third = try counts(100, version: 3)
        var work = ProjectionWork(third, rebuilding: false)
        _ = try work.step()

        let error = #expect(throws: StoreError.self) { try second.step() }

        let rebuilt = #expect(throws: StoreError.self) { try counts().rebuild() }

        #expect(error?.code == .projectionSuperseded)
        #expect(rebuilt?.code == .projectionSuperseded)
        #expect(try store.projections().first?.successor?.version == 3)
        while try work.step() != .done {}
        #expect(try third.contents().state == ["entries": 400])
        #expect(try records() == 1)
    }

    @Test func `a version with other types reads the old state only where it can`() throws {
        try followed.open("Ada")
        try counts().catchUp()
        let byNumber = try store.project("counts", version: 2, as: [Int: String].self) {
            entry, state in
            state[Int(entry.sequence.rawValue)] = "seen"
        }

        let before = #expect(throws: StoreError.self) { try byNumber.value(for: 1) }
        try byNumber.catchUp()

        #expect(before?.code == .unreadableValue)
        #expect(try byNumber.value(for: 2) == "seen")
    }

    // MARK: - Rebuilding

    @Test func `a rebuild gives the same state, and readers have the old one meanwhile`() throws {
        try saveLong(3)
        let counts = try counts()
        try counts.catchUp()
        // Something the fold has not made.
        let task = try store.store.foldTask(of: "counts", version: 1, .string, rebuilds: false)
        let wrong = [StateRecord(key: Array("entries".utf8), value: Array("7".utf8))]
        _ = try store.store.keep(StatePage(task, to: task.place, wrong))
        try #require(try counts.value(for: "entries") == 7)

        let reached = try counts.rebuild()

        #expect(reached == (try store.head()))
        #expect(try counts.contents().state == ["entries": 4])
        #expect(try records() == 1)
    }

    @Test func `a rebuild that was cut off goes on, and the state stays up to date`() throws {
        try saveLong(3)
        let counts = try counts()
        try counts.catchUp()
        _ = try store.store.beginState(of: "counts", version: 1, .string)
        var rebuilding = ProjectionWork(counts, rebuilding: true)
        _ = try rebuilding.step()
        let entry = try followed.open("Ada").entry
        var work = ProjectionWork(counts, rebuilding: false)

        _ = try work.step()
        let between = try counts.contents()
        while try work.step() != .done {}

        #expect(between.at == entry)
        #expect(between.state == ["entries": 5])
        #expect(try counts.contents().state == ["entries": 5])
        #expect(try store.projections().first?.successor == nil)
        #expect(try records() == 1)
    }

    @Test func `a rebuild of what was never folded is its first run`() throws {
        try followed.open("Ada")

        try counts().rebuild()

        #expect(try counts().contents().state == ["entries": 2])
    }

    // MARK: - Rivals

    @Test func `of two that fold the same entries one is kept`() throws {
        try followed.open("Ada")
        let mine = try counts()
        let container = try followed.another()
        let other = try counts(in: container)
        for _ in 0..<3 {
            let task = try store.store.foldTask(of: "counts", version: 1, .string, rebuilds: false)
            var reading = mine.entries(after: task.place)
            let entries = try #require(try reading.next())
            let page = try #require(try mine.fold(entries, through: reading.reached, task))
            try other.catchUp()

            let kept = try store.store.keep(page)

            #expect(kept == nil)
            try followed.open("Bob")
        }
        try mine.catchUp()
        #expect(try mine.contents().state == ["entries": 5])
    }

    @Test func `many threads that fold at once count every entry once`() throws {
        let stores = try (0..<3).map { _ in try followed.another() }
        let rivals = try stores.map { try counts(in: $0) }

        let folding = rivals.map { rival in
            Thread.running {
                while try rival.catchUp().rawValue < 41 {}
            }
        }
        for number in 0..<40 { try followed.open("\(number)") }
        for thread in folding { try thread.value() }

        #expect(try counts().contents().state == ["entries": 41])
    }

    // MARK: - Removal

    @Test func `a removed projection is gone with its records`() throws {
        try followed.open("Ada")
        try counts().catchUp()
        let many = try store.project("many", as: [Int: Int].self) { entry, state in
            for number in 0..<20_000 { state[number] = number }
        }
        try many.catchUp()

        try store.removeProjection(named: "many")
        try store.removeProjection(named: "never")

        #expect(try store.projections().map(\.name) == ["counts"])
        #expect(try store.store.discardedStates().isEmpty)
        #expect(try records() == 1)
        #expect(try many.position() == .zero)
        #expect(try counts().contents().state == ["entries": 2])
    }

    @Test func `a removal that was cut off is finished later`() throws {
        try followed.open("Ada")
        let many = try store.project("many", as: [Int: Int].self) { entry, state in
            for number in 0..<20_000 { state[number] = number }
        }
        try many.catchUp()
        try store.store.writing { [meta = store.store.parts.tables.meta] transaction in
            var list = try StoreMetadata.states(meta, in: transaction)
            list.remove("many")
            try StoreMetadata.setStates(list, meta, in: transaction)
        }
        #expect(try store.store.removeSomeDiscardedStates())
        let left = try records()
        #expect(try Store.verify(path: followed.url.path).isSoundApartFromGaps)

        try counts().catchUp()

        #expect(left > 0 && left < 20_000)
        #expect(try records() == 1)
    }

    @Test func `a program that still folds a removed projection begins again`() throws {
        try followed.open("Ada")
        let counts = try counts()
        try counts.catchUp()
        try store.removeProjection(named: "counts")

        try counts.catchUp()

        #expect(try counts.contents().state == ["entries": 2])
    }

    /// How many records the table of states has.
    private func records() throws -> Int {
        let table = try #require(try store.store.stateTable())
        return try store.store.reading { try $0.count(table) }
    }
}
