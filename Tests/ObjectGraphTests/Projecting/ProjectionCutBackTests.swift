import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// Projections of a journal of which entries were cut off.
@Suite(.ownStores("The servers would bring back what is cut off."))
struct ProjectionCutBackTests {
    private let followed: FollowedStore
    private var store: Store { followed.store.store }

    init() throws {
        followed = try FollowedStore()
    }

    /// Counts the accounts of each owner.
    private func owners() throws -> JournalProjection<String, Int> {
        try followed.store.project("owners", as: [String: Int].self) { entry, state in
            for change in entry.changes(of: Deposit.self) {
                state[change.new(\Deposit.owner) ?? "nobody", default: 0] += 1
            }
        }
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test func `folding ends at the last entry when what it was to reach is cut off`() throws {
        // Each fills a page.
        let note = String(repeating: "long ", count: 60_000)
        for owner in ["Ada", "Bob", "Cyd"] {
            try followed.save(note: note) { Deposit(context: $0).owner = owner }
        }
        let owners = try owners()
        var work = ProjectionWork(owners, rebuilding: false)
        _ = try work.step()
        try #require(try owners.position() == SequenceNumber(2))

        try store.cutBack(to: SequenceNumber(3))
        var steps: [ProjectionWork<String, Int>.Step] = []
        while steps.last != .done, steps.count < 10 { steps.append(try work.step()) }

        #expect(steps.last == .done)
        #expect(try owners.contents().at == SequenceNumber(3))
        #expect(try owners.contents().state == ["Ada": 1, "Bob": 1])
    }

    @Test(arguments: [0, 1, 2])
    func `a state of entries that were cut off is not read, and built anew`(_ more: Int) throws {
        let kept = try followed.open("Ada").entry
        try followed.open("Bob")
        let owners = try owners()
        try owners.catchUp()
        try store.cutBack(to: kept)
        // Fewer entries than before, as many, and more.
        for _ in 0..<more { try followed.open("Cyd") }

        let codes = [
            code { _ = try owners.value(for: "Bob") }, code { _ = try owners.position() },
            code { try owners.catchUp() },
        ]
        #expect(codes == [.generation, .generation, .generation])
        try owners.rebuild()

        #expect(try owners.contents().state == (more == 0 ? ["Ada": 1] : ["Ada": 1, "Cyd": more]))
        #expect(try owners.contents().at == store.head())
        #expect(try store.verify().findings.map(\.message) == [])
    }

    @Test func `a rebuild that was interrupted goes on where the state before is of no use`() throws
    {
        let kept = try followed.open("Ada").entry
        try followed.open("Bob")
        let owners = try owners()
        try owners.catchUp()
        try store.cutBack(to: kept)
        _ = try store.beginState(of: "owners", version: 1, .string)
        try followed.open("Cyd")
        try followed.open("Dan")

        try owners.catchUp()

        #expect(try owners.contents().state == ["Ada": 1, "Cyd": 1, "Dan": 1])
        #expect(try store.states().first?.successor == nil)
    }
}
