import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// A small app through eight versions: the store of each version opens with the newest model.
///
/// What the objects are then is worked out by `expected.py` from the exports alone.
@Suite(.serialized)
struct EvolutionFixtureTests {
    @Test(arguments: 1...EvolutionFixture.stages)
    func `the script works out from the exports what is kept as expected`(stage: Int) throws {
        let lines = try EvolutionFixture.expected(stage)

        let text = lines.map { $0 + "\n" }.joined()
        try Fixture.expect(Data(text.utf8), equals: "evolution/v\(stage).expected")
    }

    @Test(arguments: 1...EvolutionFixture.stages)
    func `the command brings the store of a version to the newest model`(stage: Int) throws {
        let app = try EvolutionFixture(stage: stage)

        try app.run(["migrate", app.path, "--model", EvolutionFixture.newest.path])

        #expect(try app.fetched() == expected(stage))
        try checkJournal(app)
    }

    @Test(arguments: 1...EvolutionFixture.stages)
    func `a program of the newest version opens the store of a version`(stage: Int) throws {
        let app = try EvolutionFixture(stage: stage)

        let store = try app.openNewest()

        #expect(try EvolutionFixture.read(store) == expected(stage))
        try store.close()
        try checkJournal(app)
    }

    @Test func `a store file of the fourth version opens with the newest model`() throws {
        let app = try EvolutionFixture(copying: "v4.daybook")

        let store = try app.openNewest()

        #expect(try EvolutionFixture.read(store) == expected(4))
        try store.close()
        try checkJournal(app)
    }

    // In the sixth version something is hidden that the newest model has again.
    @Test(arguments: [1, 2, 3, 4, 5, 7, 8])
    func `the newest store shows the end of each version in its own model`(stage: Int) throws {
        let app = try EvolutionFixture(stage: EvolutionFixture.stages)
        let last = try EvolutionFixture.export(through: stage).split(separator: "\n").count

        let past = try app.fetched(["--at", "\(last)"])

        let expected = try EvolutionFixture.expected(stage, ["--past"])
        #expect(try past == canonical(expected))
    }

    @Test func `the versions take every kind of step`() throws {
        let app = try EvolutionFixture(stage: EvolutionFixture.stages)
        let store = try Store.open(at: app.path, options: StoreOptions(isReadOnly: true))

        let versions = try store.modelHistory().versions.map(\.schema)

        let steps = zip(versions, versions.dropFirst()).flatMap { $1.steps(from: $0) }
        // A custom stage is a closure of a program; the others came later. All have tests of their own.
        let others: Set<ModelStep.Kind> = [
            .customStage, .changeCardinality, .changeDerivation, .changeRequirements,
            .changeLaws,
        ]
        #expect(Set(steps.map(\.kind)) == Set(ModelStep.Kind.allCases).subtracting(others))
        try store.close()
    }

    // MARK: - Checks

    private func expected(_ stage: Int) throws -> Set<String> {
        let text = try Fixture.data("evolution/v\(stage).expected")
        return try canonical(
            String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    private func canonical(_ lines: [String]) throws -> Set<String> {
        Set(try lines.map { try EvolutionFixture.canonical(Data($0.utf8)) })
    }

    /// Checks that the store verifies, and that its journal makes it again from nothing: the same
    /// records, and the same entries byte for byte.
    private func checkJournal(_ app: EvolutionFixture) throws {
        let report = try Store.verify(path: app.path)
        #expect(report.isSound, "\(report.findings)")
        let again = app.directory.url.appending(path: "again.daybook").path
        let replayed = try app.run(["replay", app.path, "--into", again])
        #expect(replayed.last?.hasSuffix("the store holds exactly this.") == true, "\(replayed)")
        let export = ["--format", "jsonl", "--confidential", "show"]
        #expect(
            try app.run(["export", app.path] + export) == app.run(["export", again] + export))
    }
}
