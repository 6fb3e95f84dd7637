import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What hurt migrations of the command once.
struct MigratedStoreTests {
    /// Migrates a store with these lines; returns how migrating and each command after it ended.
    private func run(
        _ old: String, _ lines: String, _ new: String, _ options: [String] = [],
        then commands: [[String]]
    ) throws -> [(ending: ChildProcess.Ending, lines: [String], talk: String)] {
        let directory = try TemporaryDirectory()
        func file(_ name: String, _ text: String) throws -> URL {
            let url = directory.url.appending(path: name)
            try Data(text.utf8).write(to: url)
            return url
        }
        let store = directory.path("s")
        let (old, new) = (try file("old", old), try file("new", new))
        let input = try file("input", lines)
        _ = try ChildProcess.run(BuiltTool.daybook, ["init", store, "--model", old.path])
        _ = try ChildProcess.run(BuiltTool.daybook, ["record", store], input: input)
        return try ([["migrate", "S", "--model", new.path] + options] + commands).map { words in
            let ran = try ChildProcess.run(
                BuiltTool.daybook, words.map { $0 == "S" ? store : $0 })
            return (ran.ending, ran.lines, ran.talk)
        }
    }

    private func model(_ entities: String) -> String { #"{"entities":[\#(entities)]}"# }

    private func insert(_ entity: String, _ values: String) -> String {
        #"{"op":"insert","entity":"\#(entity)","values":{\#(values)}}"# + "\n"
    }

    @Test func `a store whose index was dropped opens`() throws {
        let indexed = #"{"name":"P","attributes":[{"name":"a","type":"string","indexed":true}]}"#
        let ran = try run(
            model(indexed), (1...2_000).map { insert("P", #""a":"\#($0)""#) }.joined(),
            model(indexed.replacing(#","indexed":true"#, with: "")),
            then: [["fetch", "S", "P", "--count"], ["verify", "S"]])
        #expect(ran.map(\.ending) == [.exited(0), .exited(0), .exited(0)], "\(ran)")
    }

    @Test(arguments: [
        #""type":"string","unique":true"#, #""type":"string","maxLength":1"#, #""type":"int64""#,
        #""type":"string","optional":false"#,
    ])
    func `an attribute moved to a new superentity is checked there`(form: String) throws {
        let own = #","attributes":[{"name":"t","type":"string"}]"#
        let ran = try run(
            model(#"{"name":"A"\#(own)},{"name":"B"\#(own)}"#),
            insert("A", #""t":"xx""#) + insert("B", #""t":"xx""#) + insert("A", ""),
            model(
                #"{"name":"S","abstract":true,"attributes":[{"name":"t",\#(form)}]},"#
                    + #"{"name":"A","superentity":"S"},{"name":"B","superentity":"S"}"#), then: [])
        #expect(ran[0].ending == .exited(2), "\(ran)")
    }

    @Test func `objects of an entity that gets a superentity have what that requires`() throws {
        let required = #"{"name":"S","attributes":[{"name":"u","type":"string","optional":false}]}"#
        let ran = try run(
            model(required + #",{"name":"A"}"#), insert("A", ""),
            model(required + #",{"name":"A","superentity":"S"}"#), then: [])
        #expect(ran[0].ending == .exited(2), "\(ran)")
    }

    @Test func `states before and after a conversion are compared`() throws {
        let number = #"{"name":"P","attributes":[{"name":"b","type":"int64"}]}"#
        let ran = try run(
            model(number),
            insert("P", #""b":1"#) + #"{"op":"save"}"# + "\n"
                + #"{"op":"update","object":"P/1","values":{"b":2}}"#,
            model(number.replacing("int64", with: "string")),
            then: [["diff", "S", "1", "3"], ["diff", "S", "2", "3"]])
        #expect(ran[1].ending == .exited(1), "\(ran[1])")
        #expect(ran[2].lines.last == #"    b  "1" → "2""#, "\(ran[2])")
    }

    @Test func `a renaming that names nothing is refused`() throws {
        let ran = try run(
            model(#"{"name":"P","attributes":[{"name":"a","type":"string"}]}"#),
            insert("P", #""a":"x""#),
            model(#"{"name":"P","attributes":[{"name":"c","type":"string"}]}"#),
            ["--rename", "P.aa=c"], then: [])
        #expect(ran[0].ending == .exited(2), "\(ran)")
    }
}
