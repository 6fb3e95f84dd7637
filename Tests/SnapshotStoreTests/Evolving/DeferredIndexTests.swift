import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Indexes that are built after the model that wants them is in force, part by part.
struct DeferredIndexTests {
    private struct Ended: Error {}

    private static let newer = [
        entity("A", [attribute("x", indexed: true), attribute("u", unique: true)]),
        entity("B", under: "A", [attribute("y", .int64, indexed: true)]),
    ]

    private func open(
        _ evolving: Evolving, _ entities: [EntityDescription], _ indexes: IndexBuilding
    ) throws -> Store {
        var options = StoreOptions.counting()
        options.migration = .automatic
        options.indexes = indexes
        options.verification = .afterCommit
        return try TestStore.open(
            at: evolving.temporary.path, model: ManagedObjectModel(entities: entities),
            options: options)
    }

    /// A store of twenty objects of each entity whose new model waits for two indexes.
    private func waiting() throws -> (evolving: Evolving, store: Store, objects: [ObjectID]) {
        let evolving = try Evolving(
            entity("A", [attribute("x"), attribute("u")]),
            entity("B", under: "A", [attribute("y", .int64)]))
        var objects: [ObjectID] = []
        for number in 0..<40 {
            let values: [String: Value] = [
                "x": number % 7 == 0 ? .null : .string("\(number % 5)"), "u": .string("\(number)"),
            ]
            objects.append(try evolving.store.add(number % 2 == 0 ? "A" : "B", values))
        }
        return (evolving, try open(evolving, Self.newer, .deferred), objects)
    }

    private func expectSame(
        _ store: Store, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let report = try store.verify()
        #expect(report.isSound, "\(report.findings) \(report.gaps)", sourceLocation: sourceLocation)
        for value in 0..<5 {
            let found = try store.found("A", "x == '\(value)'")
            let expected = try store.found("A", "x LIKE '\(value)'")
            #expect(found.sorted() == expected.sorted(), sourceLocation: sourceLocation)
        }
    }

    @Test func `an index that is put off is not asked until it is complete`() throws {
        let (evolving, store, objects) = try waiting()

        #expect(try store.pendingIndexes() == ["x", "y"])
        #expect(try store.found("A", "x == '1'").count == 7)
        #expect(try store.found("A", "u == '3'") == [objects[3]])
        try expectSame(store)
        try store.buildIndexes()

        #expect(try store.pendingIndexes() == [])
        #expect(try store.found("A", "x == '1'").count == 7)
        try store.expectSound()
        try store.close()
        _ = evolving
    }

    @Test func `what is saved between the parts of an index stands in it`() throws {
        let (evolving, store, objects) = try waiting()
        var parts = 0

        while try !store.pendingIndexes().isEmpty {
            do {
                try store.buildIndexes(objectsAtOnce: 3) { _, _ in throw Ended() }
            } catch is Ended {
                parts += 1
            }
            // Before and behind the place that the index has got to.
            let (first, last) = (objects[parts % 40], objects[(parts * 17 + 20) % 40])
            if try store.read({ try $0.exists(first) }) {
                try store.set(first, "x", .string("\(parts % 5)"))
            }
            if parts % 3 == 0, try store.read({ try $0.exists(last) }) { try store.remove(last) }
            try store.add(parts % 2 == 0 ? "A" : "B", ["x": .string("new")])
            try expectSame(store)
        }

        #expect(parts > 10)
        #expect(try store.found("A", "x == 'new'").count == parts)
        try store.expectSound()
        try store.close()
        _ = evolving
    }

    @Test func `a program that is stopped half way leaves the rest to the next one`() throws {
        let (evolving, store, _) = try waiting()
        #expect(throws: Ended.self) {
            try store.buildIndexes(objectsAtOnce: 5) { _, _ in throw Ended() }
        }
        try store.close()

        let deferring = try open(evolving, Self.newer, .deferred)
        #expect(try deferring.pendingIndexes() == ["x", "y"])
        try expectSame(deferring)
        try deferring.close()
        let building = try open(evolving, Self.newer, .immediate)

        #expect(try building.pendingIndexes() == [])
        try building.expectSound()
        try building.close()
    }

    @Test func `a change of the model first completes what is being built`() throws {
        let (evolving, store, objects) = try waiting()
        #expect(throws: Ended.self) {
            try store.buildIndexes(objectsAtOnce: 5) { _, _ in throw Ended() }
        }

        let wider = try open(
            evolving, Self.newer + [entity("C", [attribute("z", indexed: true)])], .deferred)
        #expect(try wider.pendingIndexes() == ["z"])
        let head = try wider.head()
        try wider.commit(try wider.undoRequest(of: head))
        #expect(try wider.pendingIndexes() == [])

        #expect(try wider.found("A", "x == '1'").count == 7)
        try store.remove(objects[0])
        try wider.expectSound()
        try wider.close()
        try store.close()
    }

    @Test func `progress grows to the end, part by part`() throws {
        let (evolving, store, _) = try waiting()
        let reports = Reports()

        try store.buildIndexes(objectsAtOnce: 4) { reports.add($0, $1) }

        let all = reports.all
        #expect(all.count > 10)
        #expect(all.allSatisfy { $0.done <= $0.total })
        #expect(all.last.map { $0.done == $0.total } == true)
        try store.close()
        _ = evolving
    }

    @Test func `a rebuild completes what is being built`() throws {
        let (evolving, store, _) = try waiting()

        try store.rebuild()

        #expect(try store.pendingIndexes() == [])
        try store.expectSound()
        try store.close()
        _ = evolving
    }
}
