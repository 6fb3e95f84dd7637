import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

/// Exports of a store whose entity was renamed, and got a derived attribute and one with a default.
@Suite struct MigratedExportTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        let old = #"{"entities":[{"name":"A","attributes":[{"name":"k","type":"string"}]}]}"#
        let new = """
            {"entities":[{"name":"AA","renamingIdentifier":"A","attributes":[
              {"name":"k","type":"string"},{"name":"new","type":"string","default":"d"},
              {"name":"upper","type":"string","derived":"uppercase:(k)"}]}]}
            """
        for (name, model) in [("old.json", old), ("new.json", new)] {
            try Data(model.utf8).write(to: folder.url.appending(path: name))
        }
        for line in [
            "init s --model old.json", "add s A k=x", "add s A k=y", "migrate s --model new.json",
            "set s AA/1 k=z",
        ] {
            let result = try run(line)
            try #require(result.status == 0, "\(line): \(result.talk)")
        }
    }

    private func run(_ line: String) throws -> ToolResult {
        try Tool.run(line.split(separator: " ").map(String.init), in: folder.url)
    }

    /// The patches carried out, as far as this store needs: a new root, and members that are added, tested
    /// and replaced.
    private func carryOut(_ lines: [String]) throws -> [[String: [String: [String: String]]]] {
        var document: [String: [String: [String: String]]] = [:]
        return try lines.map { line in
            let operations = try #require(
                JSONSerialization.jsonObject(with: Data(line.utf8)) as? [[String: Any]])
            for operation in operations {
                let path = try #require(operation["path"] as? String).split(separator: "/").map(
                    String.init)
                let (name, value) = (operation["op"] as? String, operation["value"])
                switch path.count {
                case 0: document = try #require(value as? [String: [String: [String: String]]])
                case 2: document[path[0]]?[path[1]] = try #require(value as? [String: String])
                default:
                    let now = document[path[0]]?[path[1]]?[path[2]]
                    let told = try #require(value as? String)
                    if name == "test" { #expect(now == told, "\(line)") }
                    document[path[0]]?[path[1]]?[path[2]] = told
                }
            }
            return document
        }
    }

    @Test func `patches lead from each state to the next, across the migration`() throws {
        let lines = try run("export s --format json-patch").lines

        let states = try carryOut(lines)

        #expect(
            states == [
                ["A": [:]], ["A": ["1": ["k": "x"]]],
                ["A": ["1": ["k": "x"], "2": ["k": "y"]]],
                [
                    "AA": [
                        "1": ["k": "x", "new": "d", "upper": "X"],
                        "2": ["k": "y", "new": "d", "upper": "Y"],
                    ]
                ],
                [
                    "AA": [
                        "1": ["k": "z", "new": "d", "upper": "Z"],
                        "2": ["k": "y", "new": "d", "upper": "Y"],
                    ]
                ],
            ])
    }

    @Test func `patches of a filtered export tell nothing of what the filter leaves out`() throws {
        let lines = try run("export s --format json-patch --object AA/1").lines

        #expect(lines.count == 3)
        #expect(
            lines.allSatisfy {
                !$0.contains("AA/2") && !$0.contains(#""y""#) && !$0.contains(#""Y""#)
            })
    }

    @Test func `change events have the tables, objects and columns of their entries`() throws {
        let events = try run("export s --format debezium").lines.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }

        let tables = events.map { ($0["source"] as? [String: Any])?["table"] as? String }
        #expect(tables == ["A", "A", "AA", "AA", "AA"])
        let rows = events.map { $0["after"] as? [String: String] }
        #expect(rows.first == ["_id": "A/1", "k": "x"])
        #expect(rows.last == ["_id": "AA/1", "k": "z", "new": "d", "upper": "Z"])
    }

    @Test func `a file of an object has one name, also where the renaming is left out`() throws {
        let whole = try run("export s --format git").lines
        let filtered = try run("export s --format git --object AA/1").lines

        func commands(_ lines: [String]) -> [String] {
            lines.filter { $0.hasPrefix("M ") || $0.hasPrefix("D ") || $0 == "deleteall" }
                .map { $0.replacing("100644 inline ", with: "") }
        }
        #expect(
            commands(whole) == [
                "M model.json", "M A/1.json", "M A/2.json", "deleteall", "M model.json",
                "M AA/1.json", "M AA/2.json", "M AA/1.json",
            ])
        #expect(
            commands(filtered) == [
                "M A/1.json", "M model.json", "D A/1.json", "M AA/1.json", "D A/1.json",
                "M AA/1.json",
            ])
    }

    @Test func `versions in a document of provenance have the names of their entries`() throws {
        let text = try run("export s --format prov").text

        #expect(text.contains(#""store:A/1@2":{"prov:label":"A/1","#))
        #expect(
            text.contains(
                #"{"prov:generatedEntity":"store:AA/1@4","prov:usedEntity":"store:A/1@2","#))
    }

    @Test func `comma-separated values have what a migration changes`() throws {
        let lines = try run("export s --format csv").text.split(separator: "\r\n")
            .filter { $0.hasPrefix("4,") }

        #expect(
            lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).dropFirst(7) }
                == [
                    ["model", "", "", "", "", ""], ["update", "AA/1", "AA", "upper", "", "X"],
                    ["update", "AA/2", "AA", "upper", "", "Y"],
                ])
    }

    @Test(arguments: [("cloudevents", "id"), ("ocsf", "uid")])
    func `no two events have one identity`(format: String, name: String) throws {
        let lines = try run("export s --format \(format)").lines

        let identifiers = try lines.map { line in
            let event = try #require(
                JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let place = format == "ocsf" ? event["metadata"] as? [String: Any] : event
            return try #require(place?[name] as? String)
        }

        // Four of the model and the objects, and three of the migration.
        #expect(identifiers.count == 7)
        #expect(Set(identifiers).count == identifiers.count, "\(identifiers)")
    }

    @Test func `an object has one name in the database, and each moment its objects`() throws {
        #expect(try run("export s --format sqlite --into x.sqlite").status == 0)
        let database = try Connection(path: folder.url.appending(path: "x.sqlite").path)
        func objects(_ query: String) throws -> [String] {
            try database.statement(query).rows().map { row in
                guard case .text(let text)? = row.first else { return "" }
                return text
            }
        }

        #expect(try objects("SELECT object FROM current_AA ORDER BY 1") == ["AA/1", "AA/2"])
        for entry in 3...5 {
            let then = "valid_from <= \(entry) AND (valid_to > \(entry) OR valid_to IS NULL)"
            #expect(
                try objects("SELECT object FROM versions_AA WHERE \(then) ORDER BY 1")
                    == ["AA/1", "AA/2"])
        }
        #expect(try objects("SELECT k FROM current_AA ORDER BY object") == ["z", "y"])
    }
}
