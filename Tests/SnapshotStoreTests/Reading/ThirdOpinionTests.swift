import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Filters carried out on rows, evaluated value by value, and carried out by SQLite.
///
/// `DAYBOOK_SEED` runs another seed only, and `DAYBOOK_FILTERS` as many filters.
struct ThirdOpinionTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["DAYBOOK_SEED"].flatMap(UInt64.init)
    private static let seeds: [UInt64] = seed.map { [$0] } ?? [901, 902]
    private static let count = environment["DAYBOOK_FILTERS"].flatMap { Int($0) } ?? 150

    @Test(arguments: seeds)
    func `a filter finds what SQLite finds, compiled and evaluated, now and then`(
        seed: UInt64
    ) throws {
        let people = try RandomPeople(seed: seed)
        var filters = SayableFilters(people, random: SeededGenerator(seed: seed &+ 1))
        var found = 0

        for number in 0..<Self.count {
            let (entity, filter) = filters.next()
            let sql = "SELECT o.id FROM \(entity.name) o WHERE \(SQLFilter.text(filter))"
            let about = "seed \(seed), filter \(number): \(filter.text(in: people.store.schema))"
            for (sequence, database) in people.states {
                let opinion = try database.statement(sql).rows().compactMap { people.object($0[0]) }
                try people.store.read(at: sequence) { snapshot in
                    let query = Query(entity, filter: filter)
                    var evaluated: [ObjectID] = []
                    try snapshot.objects(of: entity.family) { object in
                        if try filter.matches(object, in: snapshot) { evaluated.append(object) }
                        return .proceed
                    }
                    let place: Comment = "\(about), entry \(sequence)\n\(sql)"
                    #expect(Set(evaluated) == Set(opinion), place)
                    #expect(try Set(snapshot.fetch(query)) == Set(opinion), place)
                    #expect(try snapshot.count(query) == opinion.count, place)
                    found += opinion.count
                }
            }
        }
        #expect(found > 0)
    }
}
