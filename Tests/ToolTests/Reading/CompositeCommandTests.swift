import DaybookTestSupport
import Foundation
import Testing

/// Composite attributes in the command: `home.city` wherever a property is named, an object in JSON.
@Suite struct CompositeCommandTests {
    private static let model = """
        {"entities":[{"name":"Person","attributes":[
        {"name":"name","type":"string","unique":true},
        {"name":"home","type":"composite","elements":[
        {"name":"street","type":"string"},{"name":"city","type":"string","indexed":true},
        {"name":"place","type":"composite","elements":[{"name":"latitude","type":"double"}]}]}],
        "relationships":[{"name":"host","destination":"Person"}]}]}
        """

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try write("model.json", Self.model)
        try expectSuccess(["init", "people.daybook", "--model", "model.json"])
        try expectSuccess(
            ["record", "people.daybook"],
            input: """
                {"op":"insert","entity":"Person","ref":"ada","values":{"name":"Ada",\
                "home":{"street":"Main Street","city":"Bern","place":{"latitude":46.9}}}}
                {"op":"insert","entity":"Person","values":{"name":"Bob","home.city":"Rome",\
                "host":{"ref":"ada"}}}
                {"op":"save","author":"Ada","time":"2001-01-01T00:00:00Z"}
                {"op":"update","entity":"Person","match":{"home":{"city":"Bern"}},\
                "values":{"home":{"city":"Basel"}}}
                {"op":"save","author":"Eve","time":"2001-01-02T00:00:00Z"}

                """)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
    }

    private func run(_ words: [String], input: String? = nil) throws -> ToolResult {
        try Tool.run(words, input: input.map { Data($0.utf8) }, in: folder.url)
    }

    @discardableResult
    private func expectSuccess(
        _ words: [String], input: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try run(words, input: input)
        #expect(result.status == 0, "\(result.talk)", sourceLocation: sourceLocation)
        return result.text
    }

    private func fetch(_ options: String...) throws -> [String] {
        try run(["fetch", "people.daybook", "Person", "--output", "jsonl"] + options).lines
    }

    @Test func `an object in JSON sets the elements that it names, and no others`() throws {
        #expect(
            try fetch("--where", "name == 'Ada'") == [
                #"{"object":"Person/1","entity":"Person","values":{"home.city":"Basel","#
                    + #""home.place.latitude":46.9,"home.street":"Main Street","host":null,"#
                    + #""name":"Ada"}}"#
            ])
    }

    private static let givenTwice = [
        (#"{"home":{"city":"Bonn"},"home.city":"Oslo"}"#, "in 'home' and as 'home.city'"),
        (#"{"home.city":"Oslo","home":{"city":"Bonn"}}"#, "as 'home.city' and in 'home'"),
        (#"{"home.city":"Oslo","home":null}"#, "as 'home.city' and in 'home'"),
    ]

    @Test(arguments: givenTwice)
    func `a recorded line that gives an element twice is refused`(
        values: String, spellings: String
    ) throws {
        let message = "'home.city' is given twice, \(spellings). Leave out one."
        let lines = [
            #"{"op":"insert","entity":"Person","values":\#(values)}"#,
            #"{"op":"update","object":"Person/1","values":\#(values)}"#,
            #"{"op":"delete","entity":"Person","match":\#(values)}"#,
        ]

        for line in lines {
            let result = try run(["record", "people.daybook"], input: "\n" + line + "\n")
            #expect(result.status == 2)
            #expect(result.talk == "error: line 2: \(message)\n")
        }
        #expect(try fetch().count == 2)
    }

    @Test func `elements of a composite attribute in another are not given twice either`() throws {
        let result = try run(
            ["record", "people.daybook"],
            input: """
                {"op":"insert","entity":"Person","values":{"home":{"place":{"latitude":1},\
                "place.latitude":2}}}

                """)

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: line 1: 'home.place.latitude' is given twice, in 'home.place' and as \
                'home.place.latitude'. Leave out one.

                """)
    }

    @Test(arguments: givenTwice)
    func `an imported event that gives an element twice is refused`(
        values: String, spellings: String
    ) throws {
        let event = #"{"before":null,"after":\#(values),"op":"c","source":{"table":"Person"}}"#

        let result = try run(
            ["import", "people.daybook", "--format", "debezium"], input: "\n" + event + "\n")

        #expect(result.status == 2)
        #expect(
            result.talk.contains(
                "line 2: 'home.city' is given twice, \(spellings). Leave out one."),
            "\(result.talk)")
        #expect(try fetch().count == 2)
    }

    @Test func `elements are asked for and sorted by, also through a relationship`() throws {
        #expect(try fetch("--where", "home.city == 'Rome'").count == 1)
        #expect(try fetch("--where", "host.home.city == 'Basel'").count == 1)
        #expect(try fetch("--where", "home.place.latitude > 46").count == 1)
        let sorted = try fetch("--sort", "-home.city")
        #expect(sorted.first?.contains(#""name":"Bob""#) == true)
        #expect(try fetch("--sort", "host.home.city").count == 2)
        let result = try run(["fetch", "people.daybook", "Person", "--sort", "home"])
        #expect(result.status == 2)
        #expect(result.talk.contains("'home' is a composite attribute: name one of its elements"))
    }

    @Test func `log, diff and blame name elements by their paths`() throws {
        #expect(
            try expectSuccess(["show", "people.daybook", "3"]).contains("home.city"))
        #expect(
            try run(["diff", "people.daybook", "2", "3"]).text.contains("home.city"))
        let blame = try expectSuccess(["blame", "people.daybook", "Person/1"])
        #expect(
            blame.split(separator: "\n").contains { $0.contains("home.city") && $0.contains("Eve") }
        )
        #expect(
            blame.split(separator: "\n").contains {
                $0.contains("home.street") && $0.contains("Ada")
            })
    }

    @Test func `columns of a table are elements`() throws {
        try expectSuccess(
            [
                "import", "people.daybook", "-f", "csv", "-e", "Person", "--map",
                "town=home.city",
            ], input: "name,home.street,town\nCem,Side Street,Oslo\n")
        #expect(
            try fetch("--where", "home.street == 'Side Street' AND home.city == 'Oslo'").count == 1)
    }

    @Test func `an export is loaded with all elements, and other formats have them`() throws {
        for format in ["jsonl", "csv", "debezium", "cloudevents", "html", "prov", "git"] {
            let text = try expectSuccess(["export", "people.daybook", "--format", format])
            #expect(text.contains("home.city"), "\(format)")
        }
        try expectSuccess(["export", "people.daybook", "--format", "sqlite", "--into", "db"])
        let database = try Data(contentsOf: folder.url.appending(path: "db"))
        #expect(database.range(of: Data("home.city".utf8)) != nil)
        let exported = try expectSuccess(["export", "people.daybook", "--format", "jsonl"])
        try expectSuccess(["load", "copy.daybook"], input: exported)
        #expect(
            try expectSuccess(["export", "copy.daybook", "--format", "jsonl"]) == exported)
        #expect(
            try expectSuccess(["verify", "copy.daybook"])
                == expectSuccess(["verify", "people.daybook"]))
        let hidden = try expectSuccess(
            ["export", "people.daybook", "--format", "jsonl", "--hide", "Person.home"])
        #expect(!hidden.contains("Main Street") && !hidden.contains("Basel"))
        #expect(hidden.contains("Bob"))
    }

    @Test func `a composite attribute is renamed as one, and keeps its values and their past`()
        throws
    {
        let renamed = Self.model.replacing(#""name":"home""#, with: #""name":"address""#)
        try write("renamed.json", renamed)

        let steps = try expectSuccess([
            "migrate", "people.daybook", "--model", "renamed.json", "--rename",
            "Person.home=address",
        ])

        #expect(steps.contains("address.city"))
        #expect(try fetch("--where", "address.city == 'Basel'").count == 1)
        #expect(try fetch("--at", "2", "--where", "address.city == 'Bern'").count == 1)
        #expect(
            try expectSuccess(["model", "people.daybook"]).contains(#""type": "composite""#))
        try expectSuccess(["undo", "people.daybook", "4"])
        #expect(try fetch("--where", "home.city == 'Basel'").count == 1)
        try expectSuccess(["verify", "people.daybook"])
    }

    @Test func `an element is renamed by its path`() throws {
        try write("renamed.json", Self.model.replacing(#""name":"city""#, with: #""name":"town""#))
        try expectSuccess([
            "migrate", "people.daybook", "--model", "renamed.json", "--rename",
            "Person.home.city=home.town",
        ])
        #expect(try fetch("--where", "home.town == 'Basel'").count == 1)
    }
}
