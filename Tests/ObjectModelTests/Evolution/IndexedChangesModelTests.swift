import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

/// An index of changes in a model: its file, its bytes, its steps, and the plans that use it.
@Suite struct IndexedChangesModelTests {
    private static let text = """
        {"entities":[{"name":"A","attributes":[{"name":"n","type":"int64"}],"indexesChanges":true},\
        {"name":"B","superentity":"A","attributes":[{"name":"m","type":"int64"}]},\
        {"name":"C","attributes":[{"name":"n","type":"int64"}]}]}
        """

    @Test func `a model file says it, and reads back`() throws {
        let model = try ManagedObjectModel(json: Self.text)

        #expect(model.entities.map(\.indexesChanges) == [true, false, false])
        #expect(model.json(.oneLine) == Self.text)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model)
        var plain = model
        plain.entities[0].indexesChanges = false
        #expect(
            model.differences(from: plain) == [
                "'A' is with an index of changes, but without an index of changes in the store."
            ])
    }

    @Test(
        arguments: [[2, 128, 1, 1, 65, 0, 0, 0, 0, 0], [2, 128, 1, 1, 65, 0, 0, 0, 0, 2]]
            as [[UInt8]])
    func `only the canonical bytes are read`(bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try ManagedObjectModel(canonicalBytes: bytes) }
    }

    @Test func `to begin and to end it are compatible steps`() throws {
        var before = model(entity("A", [attribute("n", .int64)]))
        var after = before
        after.entities[0].indexesChanges = true
        let version = try ModelVersion(first: before)
        let second = try version.evolved(to: after, in: 2)
        before.entities[0].indexesChanges = false

        let steps = Schema(second).steps(from: Schema(version))
        let back = Schema(try second.evolved(to: before, in: 3)).steps(from: Schema(second))

        #expect(steps.map(\.description) == ["index the changes of 'A'"])
        #expect(back.map(\.description) == ["drop the index of the changes of 'A'"])
        #expect((steps + back).map(\.kind) == [.addIndex, .dropIndex])
        #expect((steps + back).map(\.isCompatible) == [true, true])
    }

    @Test func `a step tells where an index begins and ends for existing objects by inheritance`()
        throws
    {
        func steps(
            _ before: [EntityDescription], _ after: [EntityDescription]
        ) throws -> [String] {
            let version = try ModelVersion(first: ManagedObjectModel(entities: before))
            let next = try version.evolved(to: ManagedObjectModel(entities: after), in: 2)
            return Schema(next).steps(from: Schema(version)).map(\.description)
        }
        func indexed(_ entity: EntityDescription) -> EntityDescription {
            var indexed = entity
            indexed.indexesChanges = true
            return indexed
        }
        let (top, other) = (entity("Top"), entity("E", [attribute("n", .int64)]))
        let below = entity("E", under: "Top", [attribute("n", .int64)])

        // The whole tree begins, and one step says so.
        #expect(
            try steps([top, below], [indexed(top), below]) == ["index the changes of 'Top'"])
        #expect(
            try steps([indexed(top), other], [indexed(top), below]) == [
                "make 'E' a kind of 'Top'", "index the changes of 'E'",
            ])
        #expect(
            try steps([other], [indexed(top), below]) == [
                "make 'E' a kind of 'Top'", "index the changes of 'E'", "add entity 'Top'",
            ])
        // What is inherited too neither begins nor ends.
        #expect(
            try steps([indexed(top), indexed(below)], [indexed(top), below]) == ["annotate 'E'"])
    }

    private func plan(
        _ name: String, _ text: String, records: [String: Int] = [:], missing: Set<String> = []
    ) throws -> FilterPlan {
        let schema = try Schema(try ManagedObjectModel(json: Self.text))
        let entity = try #require(schema.entity(named: name))
        let filter = try Filter(parsing: text, for: entity, in: schema)
        return try FilterPlan(
            filter, of: entity.family,
            FixedEstimates(schema, total: 100_000, records: records, missing: missing))
    }

    @Test func `where every object was changed, the index is less to read than all versions`()
        throws
    {
        let records = ["n": 100_000]
        let ofAll = try plan("A", "n DECREASED", records: records)
        let ofOne = try plan("A", "n DECREASED BY 'ada'", records: records)

        for plan in [ofAll, ofOne] {
            if case .changeIndex = plan.access {} else { Issue.record("\(plan.access)") }
        }
        #expect(ofAll.count == 100_000)
        #expect(ofOne.count < ofAll.count)
    }

    @Test func `conditions that the index answers are not tried again, unless others might be met`()
        throws
    {
        let records = ["n": 100, "m": 100]
        let both = try plan("B", "n DECREASED AND m CHANGED", records: records)
        let either = try plan("B", "n DECREASED OR m CHANGED", records: records)

        if case .union = either.access {} else { Issue.record("\(either.access)") }
        #expect(!both.met.isEmpty)
        #expect(either.met.isEmpty)
        #expect(either.cost > both.cost)
    }

    @Test(arguments: [
        ("A", "n DECREASED"), ("B", "m CHANGED BY 'ada'"), ("B", "n INCREASED SINCE 3 UNTIL 9"),
        ("A", "n > 5 AND n DECREASED"), ("A", "n DECREASED OR n INCREASED"),
    ])
    func `questions about changes are planned by the index`(name: String, text: String) throws {
        let schema = try Schema(try ManagedObjectModel(json: Self.text))

        let explanation = try plan(name, text).explanation(in: schema)

        #expect(explanation.contains("index of the changes of '"), "\(explanation)")
    }

    @Test func `without the index only the entries since a moment are looked at`() throws {
        for (name, text, isServed) in [
            ("C", "n DECREASED", false), ("C", "n DECREASED SINCE 3", true),
            ("A", "NOT n DECREASED", false),
        ] {
            let access = try plan(name, text).access
            let isWalk = if case .scan = access { true } else { false }
            #expect(isWalk != isServed, "\(text)")
        }
        if case .changes = try plan("A", "n DECREASED SINCE 3", missing: ["n"]).access {
        } else {
            Issue.record("An index that the store does not have is not used.")
        }
        if case .scan = try plan("A", "n DECREASED", missing: ["n"]).access {
        } else {
            Issue.record("Without a moment there are no entries to begin with.")
        }
    }
}
