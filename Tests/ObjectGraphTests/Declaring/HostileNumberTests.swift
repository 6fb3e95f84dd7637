import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Numbers that no sensible program uses. None of them may crash it.
@Suite struct HostileNumberTests {
    private static let counts = [.min, .min + 1, -1, 0, 1, 2, 3, .max - 1, .max] as [Int]

    @Test(arguments: counts, counts)
    func `B11 no limit and no offset of a request stops the program`(
        limit: Int, offset: Int
    ) throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Bob", "Cyd"])
        try store.inContext { (context) throws in
            for hasPending in [false, true] {
                if hasPending { Employee(context: context).firstName = "Dan" }
                let all = hasPending ? ["Ada", "Bob", "Cyd", "Dan"] : ["Ada", "Bob", "Cyd"]
                for order in [[], [.ascending("lastName")], [.descending("firstName")]]
                    as [[FetchOrder<Employee>]]
                {
                    for batch in [0, limit] {
                        var request = FetchRequest<Employee>()
                        request.limit = limit
                        request.offset = offset
                        request.order = order
                        request.fetchBatchSize = batch
                        request.includesPropertyValues = batch == 0

                        guard limit >= 0 else {
                            #expect(throws: QueryError.self) { try context.fetch(request) }
                            #expect(throws: QueryError.self) { try context.count(request) }
                            continue
                        }
                        let found = try context.fetch(request)
                        let count = try context.count(request)

                        // A limit of 0 means no limit.
                        let rest = all.dropFirst(max(0, offset))
                        let wanted = limit == 0 ? rest.count : rest.prefix(limit).count
                        #expect(found.count == wanted)
                        #expect(count == wanted)
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            .max, .max - 1, 1 << 63, 0, 1,
        ] as [UInt64])
    func `B11 no number of a moment stops the program`(number: UInt64) throws {
        let refused = try refusals(of: .sequence(SequenceNumber(number)))

        if number > 2 { #expect(refused == 9) }
    }

    @Test(
        arguments: [
            1e300, -1e300, .infinity, -.infinity, .nan, 9_223_372_036_854.775, 9.3e12, -9.3e12,
        ] as [Double])
    func `B11 no date of a moment stops the program`(seconds: Double) throws {
        let refused = try refusals(of: .date(Date(timeIntervalSince1970: seconds)))

        #expect(refused < 9)
    }

    /// The number of refused requests for a moment of the past.
    private func refusals(of moment: Moment) throws -> Int {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let container = store.container
        var refused = 0

        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                refused += 1
            }
        }
        attempt {
            let past = try container.context(at: moment)
            _ = try past.performAndWait { try past.fetch(FetchRequest<Employee>()).count }
        }
        attempt { _ = try container.speculativeContext(at: moment) }
        attempt { _ = try container.differences(from: moment, to: moment) }
        attempt { _ = try container.differences(from: moment, to: .head) }
        attempt { _ = try container.differences(from: .head, to: moment) }
        attempt { _ = try container.firstEntry(from: moment, to: moment) { _ in true } }
        attempt { _ = try container.firstEntry(from: moment, to: .head) { _ in false } }
        attempt { _ = try container.previewRestore(of: ids[0], at: moment) }
        attempt { _ = try container.restore(ids[0], at: moment) }

        return refused
    }

    @Test(arguments: [0, 1, 2, 1 << 63, .max - 1, .max] as [UInt64])
    func `B11 no number of an entry stops the program`(number: UInt64) throws {
        let store = try StaffStore()
        try store.hire(["Ada"])
        let container = store.container
        let entry = SequenceNumber(number)
        let persistent = container.persistentStoreCoordinator.persistentStores[0]
        var refused = 0

        func attempt(_ body: () throws -> Void) {
            do {
                try body()
            } catch {
                refused += 1
            }
        }
        for range in [entry...entry, .zero...entry, entry...SequenceNumber(.max)] {
            attempt { _ = try container.previewUndo(of: range) }
            attempt { _ = try container.previewRedo(of: range) }
            attempt { try container.undo(range) }
            attempt { try container.redo(range) }
        }
        attempt { try container.undo(entry) }
        attempt { try container.redo(entry) }
        try store.inContext { (context) throws in
            attempt { _ = try context.undo(entry: entry) }
            attempt { _ = try context.undo(entries: entry...SequenceNumber(.max)) }
        }
        attempt { _ = try container.setTag("hostile", at: .sequence(entry)) }
        if number > 2 { #expect(refused == 17) }
        #expect(try persistent.head() >= SequenceNumber(2))
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 9.3e12, -9.3e12])
    func `B11 no date of a save and no date of a property stops the program`(
        seconds: Double
    ) throws {
        let store = try StaffStore()
        let date = Date(timeIntervalSince1970: seconds)
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            do {
                try context.save(at: date)
            } catch {
                context.rollback()
            }
            let request = FetchRequest<Employee>(
                where: Condition("salary == %@ OR salary < %@", seconds, seconds))
            do {
                _ = try context.fetch(request)
            } catch {
                #expect(!"\(error)".isEmpty)
            }
        }
    }
}
