import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The index of an attribute that entities inherit has the objects of all of them: who asks for the first of
/// a few objects is not to walk past those of the others.
@Suite struct SharedIndexTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item", isAbstract: true,
            attributes: [
                AttributeDescription(name: "code", type: .int32, isIndexed: true),
                AttributeDescription(name: "shelf", type: .int32, defaultValue: .int(1)),
            ], indexes: [["shelf", "code"]]),
        EntityDescription(name: "Common", superentityName: "Item"),
        EntityDescription(name: "Rare", superentityName: "Item"),
    ])
    private static let commonCount = 4_000
    private let temporary: TemporaryStore
    private var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(Self.model, options: .counting(verification: .off))
        let store = temporary.store
        try store.commit(
            SaveRequest(
                changes: try (0..<Self.commonCount).map { number in
                    store.insert(
                        try store.newObject("Common"),
                        ["code": .int(Int64(number * 7_919 % Self.commonCount))])
                }))
        try store.commit(
            SaveRequest(
                changes: try (0..<12).map { number in
                    store.insert(
                        try store.newObject("Rare"),
                        ["code": .int(Int64(Self.commonCount + number % 5))])
                }))
    }

    /// The codes of the first 50 of an entity, by them alone or by the shelf and them, how they are found, and how
    /// many records are read for them.
    private func first(
        of name: String, byShelf: Bool = false
    ) throws -> (codes: [Value], explanation: String, reads: Int) {
        let entity = try #require(store.schema.entity(named: name))
        let code = try #require(entity.property(named: "code"))
        var query = Query(entity)
        query.sortings = [Sorting(FilterPath([code]))]
        if byShelf {
            let shelf = try #require(entity.property(named: "shelf"))
            query.sortings.insert(Sorting(FilterPath([shelf])), at: 0)
        }
        query.limit = 50
        let watch = ReadWatch()
        let found = try store.read(at: nil, watchedBy: watch) { try $0.fetch(query) }
        return try store.read { snapshot in
            let codes = try found.map { try snapshot.value(of: code, in: $0) }
            let reads = watch.counts.rows + watch.counts.indexRecords
            return (codes, try snapshot.explanation(of: query), reads)
        }
    }

    @Test func `the first of many objects come from the index`() throws {
        for name in ["Common", "Item"] {
            let found = try first(of: name)
            #expect(found.codes == (0..<50).map { .int($0) })
            #expect(found.explanation.hasPrefix("index of 'code' in its order"), "\(name)")
            #expect(found.reads < 200, "\(name)")
        }
    }

    @Test func `an index of several properties is walked for many objects and not for few`() throws
    {
        for name in ["Common", "Item"] {
            let found = try first(of: name, byShelf: true)
            #expect(found.codes == (0..<50).map { .int($0) })
            #expect(found.explanation.hasPrefix("index of 'shelf', 'code' in its order"), "\(name)")
            #expect(found.reads < 200, "\(name)")
        }
        let found = try first(of: "Rare", byShelf: true)
        let codes = (0..<12).map { Int64(Self.commonCount + $0 % 5) }.sorted()
        #expect(found.codes == codes.map { .int($0) })
        #expect(!found.explanation.contains("in its order"), "\(found.explanation)")
        #expect(found.reads < 100)
    }

    @Test func `the first of few objects among many others come from a look at them`() throws {
        let found = try first(of: "Rare")
        let codes = (0..<12).map { Int64(Self.commonCount + $0 % 5) }.sorted()
        #expect(found.codes == codes.map { .int($0) })
        #expect(!found.explanation.contains("in its order"), "\(found.explanation)")
        #expect(found.reads < 100)
    }
}
