import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Kills the migrating command at random moments.
@Suite(.serialized)
struct MigrationKillTests {
    /// Two models that differ in an index, a rule that objects must be changed for, a type and a name.
    private static let models = [
        """
        {"entities":[{"name":"Item","attributes":[
          {"name":"code","type":"string"},{"name":"note","type":"string"},
          {"name":"price","type":"int64"}]}]}
        """,
        """
        {"entities":[{"name":"Item","attributes":[
          {"name":"code","type":"string","unique":true},
          {"name":"remark","type":"string","optional":false,"default":"none","indexed":true,
           "renamingIdentifier":"note"},
          {"name":"price","type":"decimal"}]}]}
        """,
    ]

    @Test func `a migration killed twenty times leaves one model or the other, and goes on`() throws
    {
        let seed = TestSeed.value
        var generator = SeededGenerator(seed: seed)
        let directory = try TemporaryDirectory()
        let (base, path) = (directory.path("base.daybook"), directory.path("items.daybook"))
        let files = try Self.models.enumerated().map { index, text in
            let file = directory.path("\(index).json")
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
        let models = try Self.models.map { try ManagedObjectModel(json: $0).names }
        try makeStore(base, files[0], in: directory)
        let words = ["migrate", path, "--model", files[1]]
        var killed = 0
        var duration = Duration.milliseconds(100)

        for round in 1...20 {
            for file in [path, path + "-lock"] where FileManager.default.fileExists(atPath: file) {
                try FileManager.default.removeItem(atPath: file)
            }
            try FileManager.default.copyItem(atPath: base, toPath: path)
            let child = try ChildProcess(BuiltTool.daybook, words)
            let pause = duration * Double.random(in: 0...1, using: &generator)
            let start = ContinuousClock.now
            while ContinuousClock.now - start < pause { continue }
            child.kill()
            if child.wait() == .killed(SIGKILL) { killed += 1 }

            let report = try Store.verify(path: path)
            #expect(report.isSound, "seed \(seed), round \(round): \(report.findings)")
            let left = try names(in: path)
            #expect(models.contains(left), "seed \(seed), round \(round): \(left)")
            let again = ContinuousClock.now
            let ended = try ChildProcess.run(BuiltTool.daybook, words)
            if left == models[0] { duration = ContinuousClock.now - again }
            #expect(ended.ending == .exited(0), "seed \(seed), round \(round): \(ended.talk)")
            #expect(try names(in: path) == models[1], "seed \(seed), round \(round)")
        }

        #expect(killed > 5, "seed \(seed): too few kills hit a migration at work")
        #expect(try Store.verify(path: path).isSound)
    }

    private func makeStore(
        _ path: String, _ model: String, in directory: TemporaryDirectory
    ) throws {
        let lines = (1...500).map { number in
            #"{"op":"insert","entity":"Item","values":{"code":"\#(number)","price":\#(number)"#
                + (number % 2 == 0 ? #","note":"even"}}"# : "}}") + "\n"
        }
        let input = directory.url.appending(path: "input")
        try Data(lines.joined().utf8).write(to: input)
        for (words, file) in [(["init", path, "--model", model], nil), (["record", path], input)] {
            let ran = try ChildProcess.run(BuiltTool.daybook, words, input: file)
            try #require(ran.ending == .exited(0), "\(ran.talk)")
        }
    }

    /// The attributes of the model in force, and the sum of prices, which no step changes.
    private func names(in path: String) throws -> [String] {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { #expect(throws: Never.self) { try store.close() } }
        let schema = store.schema
        let item = try #require(schema.entity(named: "Item"))
        let price = try #require(item.property(named: "price"))
        let sum = try store.read { snapshot in
            try snapshot.fetch(Query(item)).reduce(Decimal(0)) { sum, object in
                switch try snapshot.value(of: price, in: object) {
                case .int(let number): sum + Decimal(number)
                case .decimal(let number): sum + number
                default: sum
                }
            }
        }
        #expect(sum == 125_250)
        return schema.model.names
    }
}

extension ManagedObjectModel {
    /// The attributes and their types.
    fileprivate var names: [String] {
        entities.flatMap { entity in
            entity.attributes.map { "\(entity.name).\($0.name): \($0.type.rawValue)" }
        }.sorted()
    }
}
