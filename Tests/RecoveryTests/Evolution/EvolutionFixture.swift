// The room of stores that outlive their model: those of earlier versions, programs of two versions at once,
// and migrations that are ended or go wrong. It makes stores with the command and reads them with it.

import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The store of a small app after each of its versions, from the exports in `Fixtures/evolution`.
struct EvolutionFixture {
    /// How many versions there are.
    static let stages = 8

    /// The newest model's file.
    static let newest = url("v8.json")

    let directory: TemporaryDirectory
    /// The store, with the model of its stage.
    var path: String { directory.url.appending(path: "app.daybook").path }

    /// A file of the fixtures.
    static func url(_ name: String) -> URL {
        Fixture.folder.appending(path: "evolution/\(name)")
    }

    /// The entries up to the end of a stage.
    static func export(through stage: Int) throws -> String {
        try (1...stage).map { stage in
            try String(contentsOf: url("v\(stage).jsonl"), encoding: .utf8)
        }.joined()
    }

    /// Loads the export up to the end of a stage.
    init(stage: Int) throws {
        directory = try TemporaryDirectory()
        let export = directory.url.appending(path: "export.jsonl")
        try Data(Self.export(through: stage).utf8).write(to: export)
        try run(["load", path], input: export)
    }

    /// Takes a store that was kept as it was.
    init(copying name: String) throws {
        directory = try TemporaryDirectory()
        try FileManager.default.copyItem(
            at: Self.url(name), to: URL(fileURLWithPath: path))
    }

    /// Runs the command, and expects that it succeeds.
    @discardableResult
    func run(_ arguments: [String], input: URL? = nil) throws -> [String] {
        let ran = try ChildProcess.run(BuiltTool.daybook, arguments, input: input)
        try #require(ran.ending == .exited(0), "\(arguments): \(ran.talk)")
        return ran.lines
    }

    /// Opens the store as a program of the newest version.
    func openNewest() throws -> Store {
        let model = try ManagedObjectModel(
            json: String(contentsOf: Self.newest, encoding: .utf8))
        var options = StoreOptions()
        options.migration = .automatic
        return try Store.open(at: path, model: model, options: options)
    }

    // MARK: - Objects

    /// What the objects of a stage are in the newest model, by the script that reads only exports.
    static func expected(_ stage: Int, _ options: [String] = []) throws -> [String] {
        let python = try #require(BuiltTool.system("python3"))
        let script = url("expected.py").path
        let ran = try ChildProcess.run(python, [script, "\(stage)"] + options)
        try #require(ran.ending == .exited(0), "\(ran.talk)")
        return ran.lines
    }

    /// All objects, as the command shows them, in the order of their numbers.
    func fetched(_ options: [String] = []) throws -> Set<String> {
        var lines: Set<String> = []
        for entity in ["Item", "Disc", "Author", "Loan", "Place", "Reader"] {
            for line in try run(["fetch", path, entity, "--output", "jsonl"] + options) {
                lines.insert(try Self.canonical(Data(line.utf8)))
            }
        }
        return lines
    }

    /// All objects, as the library reads them.
    static func read(_ store: Store) throws -> Set<String> {
        try store.read { snapshot in
            let schema = snapshot.schema
            var lines: Set<String> = []
            for entity in schema.entities where !entity.isAbstract {
                for object in try snapshot.fetch(Query(entity)) where object.entity == entity.number
                {
                    lines.insert(try line(object, entity, snapshot))
                }
            }
            return lines
        }
    }

    private static func line(
        _ object: ObjectID, _ entity: SchemaEntity, _ snapshot: borrowing Snapshot
    ) throws -> String {
        let schema = snapshot.schema
        var values: [(SchemaProperty, Value)] = []
        for property in entity.properties where property.slot != nil {
            values.append((property, try snapshot.value(of: property, in: object)))
        }
        var lists: [(SchemaProperty, [ObjectID])] = []
        for property in entity.storedToMany {
            lists.append((property, try snapshot.members(of: property, in: object)))
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("object")
            writer.string(schema.name(of: object))
            writer.name("entity")
            writer.string(entity.name)
            writer.name("values")
            writer.object { writer in
                for (property, value) in values {
                    writer.name(property.name)
                    writer.value(value, of: property, in: schema)
                }
                for (property, members) in lists {
                    writer.name(property.name)
                    writer.array { writer in
                        for member in members { writer.string(schema.name(of: member)) }
                    }
                }
            }
        }
        return try canonical(Data(writer.text.utf8))
    }

    /// JSON in one form: sorted, without spaces.
    static func canonical(_ json: Data) throws -> String {
        let object = try JSONSerialization.jsonObject(with: json)
        let data = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
