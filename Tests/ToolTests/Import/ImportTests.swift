import DaybookTestSupport
import Foundation
import Testing

/// Entries from the change streams of other stores.
@Suite struct ImportTests {
    // MARK: - Round trips

    @Test(arguments: ["debezium", "jsonl"], [1, 2, 3, 4] as [UInt64])
    func `what is exported and imported is the same in every entry`(
        format: String, seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 25)
        let folder = try ScratchFolder()
        let copying = try Tool.shell(
            """
            cd '\(folder.url.path)'
            $DAYBOOK model '\(history.temporary.path)' > model.json
            $DAYBOOK init copy.daybook --model model.json > /dev/null
            $DAYBOOK export '\(history.temporary.path)' -f \(format) > stream
            $DAYBOOK import copy.daybook -f \(format) < stream
            """)
        try #require(copying.status == 0, "seed \(seed): \(copying.talk)")

        let original = try Tool.run(["export", history.temporary.path, "-f", "debezium"])
        let copy = try Tool.run(["export", "copy.daybook", "-f", "debezium"], in: folder.url)

        let expected = try EnvelopeSteps(original.lines)
        let found = try EnvelopeSteps(copy.lines)
        #expect(found.count == expected.count, "seed \(seed)")
        #expect(found.count > 10, "seed \(seed)")
        #expect(
            found.comparable(calling: found.names(of: expected)) == expected.comparable(),
            "seed \(seed)")
    }

    @Test(arguments: ["debezium", "jsonl"])
    func `a history with something of everything comes back`(format: String) throws {
        let folder = try ScratchFolder()
        let root = Fixture.folder.deletingLastPathComponent().path
        let copying = try Tool.shell(
            """
            cd '\(folder.url.path)'
            '\(root)/Tools/check-exports/make-history' original.daybook 2> /dev/null
            $DAYBOOK model original.daybook > model.json
            $DAYBOOK init copy.daybook --model model.json > /dev/null
            $DAYBOOK export original.daybook -f \(format) --confidential show > stream
            $DAYBOOK import copy.daybook -f \(format) < stream
            """)
        try #require(copying.status == 0, "\(copying.talk)")

        let show = ["-f", "debezium", "--confidential", "show"]
        let original = try Tool.run(["export", "original.daybook"] + show, in: folder.url)
        let copy = try Tool.run(["export", "copy.daybook"] + show, in: folder.url)

        let expected = try EnvelopeSteps(original.lines)
        let found = try EnvelopeSteps(copy.lines)
        #expect(found.count == 10)
        #expect(found.comparable(calling: found.names(of: expected)) == expected.comparable())
        #expect(copy.text.contains("hush-1842"))
    }

    @Test(arguments: ["debezium", "jsonl"])
    func `the whole export of a store whose model has changed is imported`(
        format: String
    ) throws {
        let folder = try ScratchFolder()
        let made = try Tool.shell(
            """
            cd '\(folder.url.path)'
            echo '{"entities":[{"name":"A","attributes":[{"name":"x","type":"int64"}]}]}' > old.json
            echo '{"entities":[{"name":"A","attributes":[{"name":"x","type":"int64"},
                {"name":"h","type":"string"}]}]}' > new.json
            $DAYBOOK init original.daybook --model old.json > /dev/null
            $DAYBOOK add original.daybook A x=1 > /dev/null
            $DAYBOOK migrate original.daybook --model new.json > /dev/null
            $DAYBOOK add original.daybook A x=2 h=q > /dev/null
            $DAYBOOK init copy.daybook --model new.json > /dev/null
            $DAYBOOK export original.daybook -f \(format) | $DAYBOOK import copy.daybook -f \(format)
            """)
        try #require(made.status == 0, "\(made.talk)")
        let found = try Tool.run(
            ["fetch", "copy.daybook", "A", "--sort", "x", "--output", "jsonl"], in: folder.url)
        #expect(found.lines.count == 2)
        #expect(found.lines.last?.contains(#""h":"q""#) == true, "\(found.text)")
    }

    @Test(arguments: ["debezium", "jsonl"])
    func `a stream that is imported again adds nothing`(format: String) throws {
        let story = try ImportStory(exportingAs: format)
        try #require(try story.run("import copy.daybook -f \(format)").status == 0)
        let head = try story.head()

        let again = try story.run("import copy.daybook -f \(format)")

        #expect(again.status == 0)
        #expect(again.text == "Nothing was imported.\n")
        #expect(again.talk.hasPrefix("warning: "), "\(again.talk)")
        #expect(
            again.talk.hasSuffix(
                " were passed over: this table was imported up to there.\n"))
        #expect(try story.head() == head)
    }

    @Test(arguments: ["debezium", "jsonl"])
    func `a stream that was cut off goes on where it ended`(format: String) throws {
        let whole = try ImportStory(exportingAs: format)
        try #require(try whole.run("import copy.daybook -f \(format)").status == 0)
        let story = try ImportStory(exportingAs: format)
        // Inside of a step of the source, which is then dropped.
        let cut = story.stream.prefix(story.stream.count * 2 / 3)

        let first = try story.run("import copy.daybook -f \(format)", input: cut)
        let second = try story.run("import copy.daybook -f \(format)")

        #expect(first.status == 2)
        #expect(first.talk.contains("error: line "))
        #expect(second.status == 0, "\(second.talk)")
        #expect(try story.head() == whole.head())
        for entity in ["Country", "Subdivision", "Union"] {
            let line = "fetch copy.daybook \(entity) --output jsonl"
            #expect(try story.run(line).text == whole.run(line).text)
        }
    }

    @Test func `time, author and note are kept, and the context says import`() throws {
        let story = try ImportStory(exportingAs: "debezium")
        try #require(try story.run("import copy.daybook -f debezium").status == 0)

        let entry = try story.run("show copy.daybook 2 --output jsonl")

        #expect(entry.text.contains(#""time":"1974-12-15T00:00:00Z""#))
        #expect(entry.text.contains(#""author":"registry","note":"First edition""#))
        #expect(entry.text.contains(#""context":"import""#))
    }

    @Test func `an entry that undoes others says so in the store it is imported into`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        // So that entries get other numbers here.
        let country = #"{"op":"insert","entity":"Country","values":{"alpha2":"ZZ","name":"Z"}}"#
        try #require(try story.run("record copy.daybook", input: Data(country.utf8)).status == 0)

        try #require(try story.run("import copy.daybook -f jsonl").status == 0)

        let original = String(decoding: story.stream, as: UTF8.self)
        try #require(original.matches(of: /"undoes":(\d+)/).map(\.1) == ["9"])
        let log = try story.run("log copy.daybook --output jsonl").text
        #expect(log.matches(of: /"undoes":(\d+)/).map(\.1) == ["10"], "\(log)")
        let redone = try story.run("redo copy.daybook 10")
        #expect(redone.status == 0, "\(redone.talk)")
    }

    @Test func `what undoes entries of an earlier import says nothing of it`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        let lines = story.stream.split(separator: 0x0A)
        let first = Data(lines.prefix(9).joined(separator: [0x0A])) + [0x0A]
        try #require(try story.run("import copy.daybook -f jsonl", input: first).status == 0)

        try #require(try story.run("import copy.daybook -f jsonl").status == 0)

        let log = try story.run("log copy.daybook --output jsonl").text
        #expect(!log.contains("\"undoes\""), "\(log)")
    }

    @Test func `an export whose entry undoes a later one is refused`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        let text = String(decoding: story.stream, as: UTF8.self)
        let forged = text.replacing("\"undoes\":9", with: "\"undoes\":[9,18446744073709551615]")
        try #require(forged != text)

        let result = try story.run("import copy.daybook -f jsonl", input: Data(forged.utf8))

        #expect(result.status == 2)
        #expect(result.talk.contains("an entry can only undo earlier ones"), "\(result.talk)")
    }

    @Test func `a dry run says what would be and changes nothing`() throws {
        let story = try ImportStory(exportingAs: "debezium")
        let before = try story.head()

        let result = try story.run("import copy.daybook -f debezium --dry-run")

        #expect(result.status == 0)
        #expect(result.text.hasPrefix("Would import 9 entries, 2 to 10: "))
        #expect(result.talk == "Nothing was changed: this was a dry run.\n")
        #expect(try story.head() == before)
    }

    // MARK: - Output of connectors

    @Test func `envelopes of connectors are understood`() throws {
        let shop = try ImportShop()

        let result = try shop.run(
            "import shop.daybook -f debezium --table public.customers=Customer --table orders=Order",
            input: """
                {"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[\
                {"field":"since","type":"int32","name":"io.debezium.time.Date"},\
                {"field":"credit","type":"bytes","name":"org.apache.kafka.connect.data.Decimal",\
                "parameters":{"scale":"2"}}]}]},"payload":{"before":null,"after":{"email":"a@x",\
                "since":19000,"credit":"JxA=","active":1},"source":{"version":"3.6","connector":"postgresql",\
                "name":"shop","ts_ms":1700000000000,"snapshot":"first","db":"shop",\
                "schema":"public","table":"customers","txId":5,"lsn":100},"op":"r",\
                "ts_ms":1700000000001}}
                {"ts_ms":1700000000002}
                {"status":"BEGIN","id":"6:200","ts_ms":1700000000002,"event_count":null}
                {"before":null,"after":{"number":1,"customer":"a@x"},"source":{"name":"shop",\
                "db":"shop","schema":"public","table":"orders","ts_ms":1700000001000,"txId":6,\
                "lsn":200},"op":"c"}
                {"before":null,"after":{"number":2,"customer":"a@x"},"source":{"name":"shop",\
                "db":"shop","schema":"public","table":"orders","ts_ms":1700000001000,"txId":6,\
                "lsn":201},"op":"c"}
                {"status":"END","id":"6:201","event_count":2}
                {"before":{"number":1},"after":null,"source":{"name":"shop","db":"shop",\
                "schema":"public","table":"orders","ts_ms":1700000002000,"txId":7,"lsn":300},\
                "op":"d"}
                null

                """)

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.text == "Imported 3 entries, 2 to 4: 3 inserted, 1 deleted.\n")
        let customers = try shop.run("fetch shop.daybook Customer --output jsonl")
        #expect(
            customers.text.contains(
                #""active":true,"credit":"100","email":"a@x","since":"2022-01-08T00:00:00Z""#)
        )
        let orders = try shop.run("fetch shop.daybook Order --output jsonl")
        #expect(orders.lines.count == 1)
        #expect(orders.text.contains(#""customer":"Customer/1","number":2"#))
        let past = try shop.run("fetch shop.daybook Order --count --at 3")
        #expect(past.text == "2\n")
    }

    @Test func `a state is read again until it is there as a whole`() throws {
        let shop = try ImportShop()
        let rows = ["a", "b", "c"].map { shop.state(of: "\($0)@x") }

        let first = try shop.importing(rows[0] + "\n" + rows[1] + "\nnonsense")
        let second = try shop.importing(rows.joined(separator: "\n"))
        let third = try shop.importing(rows.joined(separator: "\n"))

        #expect(first.status == 2)
        #expect(second.text == "Imported 2 entries, 3 to 4: 2 inserted.\n")
        #expect(third.text == "Nothing was imported.\n")
    }

    @Test func `a stream that tells only the time is not remembered`() throws {
        let shop = try ImportShop()
        let line = shop.insert("a@x", at: 1).replacing(#","lsn":1"#, with: "")
        try #require(line.contains("ts_ms"))

        let first = try shop.importing(line)
        let second = try shop.importing(line)
        let third = try shop.importing(line.replacing("a@x", with: "b@x"))

        #expect(first.text == "Imported entry 2: 1 inserted.\n")
        #expect(second.status == 5)
        #expect(second.talk.contains("line 1: 'email' must be unique"))
        #expect(third.text == "Imported entry 3: 1 inserted.\n")
    }

    @Test func `an empty list and null leave a relationship empty`() throws {
        let atlas = try AtlasStore()
        func union(_ name: String, _ members: String) -> String {
            #"{"op":"c","after":{"name":"\#(name)","members":\#(members)},"#
                + #""source":{"table":"Union"}}"# + "\n"
        }
        let input = union("None", "[]") + union("Null", "null") + union("Both", #"["TR","FR"]"#)

        let result = try atlas.run("import STORE -f debezium", input: Data(input.utf8))

        #expect(result.text == "Imported 3 entries, 11 to 13: 3 inserted.\n")
        let unions = try atlas.run("fetch STORE Union --output jsonl")
        #expect(unions.text.contains(#""members":[],"name":"None""#))
        #expect(unions.text.contains(#""members":[],"name":"Null""#))
        #expect(unions.text.contains(#""members":["Country/2","Country/1"],"name":"Both""#))
    }

    @Test func `columns that are not known are passed over when that is asked for`() throws {
        let shop = try ImportShop()
        let line = shop.insert("a@x", at: 1).replacing(
            #""email""#, with: #""shoeSize":43,"email""#)

        let refused = try shop.importing(line)
        let taken = try shop.importing(line, "--ignore-unknown")

        #expect(refused.status == 2)
        #expect(refused.talk.contains("line 1: 'Customer' has no property 'shoeSize'"))
        #expect(taken.text == "Imported entry 2: 1 inserted.\n")
    }

    @Test func `a stream that repeats itself is taken when that is asked for`() throws {
        let shop = try ImportShop()
        let lines = [shop.insert("a@x", at: 1), shop.insert("b@x", at: 2)]
        let input = (lines + lines + [shop.insert("c@x", at: 3)]).joined(separator: "\n")

        let result = try shop.importing(input, "--skip-repeated")

        #expect(result.text == "Imported 3 entries, 2 to 4: 3 inserted.\n")
        #expect(result.talk == "2 events repeat earlier ones and were passed over.\n")
    }

    @Test func `an event that comes late is not said to have been imported`() throws {
        let shop = try ImportShop()
        let early = [shop.insert("a@x", at: 1), shop.insert("d@x", at: 4)]
        try #require(try shop.importing(early.joined(separator: "\n")).status == 0)
        let late = [shop.insert("b@x", at: 2), shop.insert("c@x", at: 3)]

        let several = try shop.importing(
            (late + [shop.insert("e@x", at: 5)]).joined(separator: "\n"))
        let one = try shop.importing(late[0])

        #expect(several.status == 0)
        #expect(several.text == "Imported entry 4: 1 inserted.\n")
        #expect(
            several.talk
                == "warning: 2 events of 'Customer' in 'shop/shop' at or before lsn 4 were passed "
                + "over: this table was imported up to there.\n")
        #expect(
            one.talk
                == "warning: 1 event of 'Customer' in 'shop/shop' at or before lsn 5 was passed "
                + "over: this table was imported up to there.\n")
    }

    @Test func `what somebody else has changed is overruled only when that is asked for`() throws {
        let shop = try ImportShop()
        try #require(try shop.importing(shop.insert("a@x", at: 1)).status == 0)
        let record = try shop.run(
            "record shop.daybook",
            input: #"{"op":"update","entity":"Customer","match":{"email":"a@x"},"#
                + #""values":{"credit":"7"}}"#)
        try #require(record.status == 0, "\(record.talk)")
        let update = shop.update("a@x", credit: "5", to: "6", at: 2)

        let refused = try shop.importing(update)
        let taken = try shop.importing(update, "--ignore-before")

        #expect(refused.status == 5)
        #expect(refused.talk.hasPrefix("error: line 1: 'credit' of 'Customer/1' is not what"))
        #expect(taken.text == "Imported entry 4: 1 updated.\n")
    }

    @Test func `each entry is acknowledged with its digest`() throws {
        let shop = try ImportShop()

        let result = try shop.importing(shop.insert("a@x", at: 1), "--output jsonl")

        #expect(result.text.wholeMatch(of: /\{"sequence":2,"digest":"[0-9a-f]{64}"\}\n/) != nil)
    }

    // MARK: - Exports that move a cursor

    @Test func `an export whose output is lost is repeated`() throws {
        let atlas = try AtlasStore()
        let lost = try Tool.shell(
            "cd '\(atlas.folder.url.path)' && "
                + "$DAYBOOK export atlas.daybook -f cloudevents --resume feed > /dev/full")

        let first = try atlas.run("export STORE -f cloudevents --resume feed")
        let second = try atlas.run("export STORE -f cloudevents --resume feed")

        #expect(lost.status != 0)
        #expect(first.text == (try atlas.run("export STORE -f cloudevents")).text)
        #expect(!first.text.isEmpty)
        #expect(second.text.isEmpty)
    }

    // MARK: - Delete rules

    @Test(arguments: ["jsonl", "debezium"])
    func `what a list of a deleted object led to stays, as in the source`(format: String) throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Chapter","attributes":[{"name":"k","type":"string","unique":true}],
              "relationships":[{"name":"parts","destination":"Part","toMany":true,"ordered":true,
                "inverse":"chapter","deleteRule":"cascade"}]},
             {"name":"Part","attributes":[{"name":"n","type":"string","unique":true}],
              "relationships":[{"name":"chapter","destination":"Chapter","inverse":"parts"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        func run(_ line: String, input: Data? = nil) throws -> ToolResult {
            let result = try Tool.run(
                line.split(separator: " ").map(String.init), input: input, in: folder.url)
            #expect(result.status == 0, "\(line): \(result.talk)")
            return result
        }
        _ = try run("init a --model model.json")
        let lines = [
            #"{"op":"insert","entity":"Part","values":{"n":"kept"}}"#,
            #"{"op":"insert","entity":"Part","ref":"p","values":{"n":"gone"}}"#, #"{"op":"save"}"#,
            #"{"op":"insert","entity":"Chapter","values":{"k":"1","parts":[{"object":"Part/1"}]}}"#,
            #"{"op":"save"}"#,
        ]
        _ = try run("record a", input: Data(lines.joined(separator: "\n").utf8))
        _ = try run("undo a 3")
        let cascade = [
            #"{"op":"insert","entity":"Chapter","ref":"c","values":{"k":"2","parts":[{"object":"Part/2"}]}}"#,
            #"{"op":"save"}"#, #"{"op":"delete","ref":"c"}"#,
        ]
        _ = try run("record a", input: Data(cascade.joined(separator: "\n").utf8))
        let kept = try run("fetch a Part --format csv --column n").text
        #expect(kept == "n\r\nkept\r\n")
        _ = try run("init b --model model.json")

        let stream = try run("export a --format \(format)")
        _ = try run("import b --format \(format)", input: stream.output)

        #expect(try run("fetch b Part --format csv --column n").text == kept)
        #expect(try run("fetch b Chapter --count").text == "0\n")
    }
}
