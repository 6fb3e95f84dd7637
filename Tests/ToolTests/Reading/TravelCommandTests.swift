import DaybookTestSupport
import Foundation
import Testing

/// The output of blame, bisect, tag, document and the forms of diff.
@Suite struct TravelCommandTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    @Test(
        arguments: [
            ("blame STORE Country/1", "object"), ("blame STORE Union/7", "members"),
            ("blame STORE Country/1.callingCode", "property"),
            ("blame STORE Country/1.callingCode --at 9", "past"),
            ("blame STORE Country/1.subdivisions", "derived"),
            ("blame STORE Subdivision/5 --output json", "json"),
            ("blame STORE Union/7 --output jsonl", "jsonl"),
            ("blame STORE Country/3", "deleted"), ("blame STORE Country/3 --at 4", "before-delete"),
            ("blame STORE Country/99", "no-such-object"),
            ("blame STORE Union/7 --at 6", "not-yet"),
            ("blame STORE Country/1.nmae", "no-such-property"),
            ("blame STORE Land/1", "no-such-entity"),
            ("blame STORE Country/1 --at 11", "no-such-entry"),
        ])
    func `blame is told as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("bisect STORE Country --where name=='Türkiye'", "entity"),
            ("bisect STORE Country/3 --where TRUEPREDICATE --from 2", "object"),
            ("bisect STORE Subdivision -w TRUEPREDICATE --count 3 --to 4", "count"),
            ("bisect STORE Country --where name=='Türkiye' --output jsonl", "jsonl"),
            ("bisect STORE Country --where name=='Atlantis'", "no-turn"),
            ("bisect STORE Country", "no-predicate"), ("bisect STORE", "no-subject"),
            ("bisect STORE Countri --where TRUEPREDICATE", "no-such-entity"),
            ("bisect STORE Country --where nmae=='x'", "faulty-predicate"),
            ("bisect STORE Country/1 --where TRUEPREDICATE --count 2", "count-of-one"),
            ("bisect STORE Country --where TRUEPREDICATE --count 0", "count-of-none"),
            ("bisect STORE Country --where TRUEPREDICATE --from 5 --to 3", "reversed"),
            ("bisect STORE Country --where TRUEPREDICATE --run true", "two-questions"),
        ])
    func `the entry of a turn is found as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("diff STORE 2 head --format json-patch", "json-patch"),
            ("diff STORE 0 8 --format sql", "sql"), ("diff STORE head 2 -f sql", "sql-backwards"),
            ("diff STORE 8 10 --format json-patch", "none-json-patch"),
            ("diff STORE 8 10 --format json-patch --output json", "two-forms"),
            ("diff STORE 8 10 --format xml", "no-such-form"),
        ])
    func `a difference is written for other programs as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("document STORE", "head"), ("document STORE --at 2", "past"),
            ("document STORE --at 0", "empty"), ("document STORE --at v9", "no-such-tag"),
        ])
    func `a state is printed as a document as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test func `a command of the shell judges with the codes of git`() throws {
        func bisect(_ command: String, _ options: [String] = []) throws -> ToolResult {
            try Tool.run(
                ["bisect", "atlas.daybook", "--run", command, "--output", "jsonl"] + options,
                in: atlas.folder.url)
        }

        let found = try bisect("test 7 -gt")
        let named = try bisect(
            "test $DAYBOOK_ENTRY = $1 -a -f $DAYBOOK_STORE && echo seen && test 4 -gt")
        let skipped = try bisect(
            "case $DAYBOOK_ENTRY in 4|5|6) exit 125;; [123]) exit 0;; *) exit 124;; esac;")
        let unknownEnd = try bisect("exit 125;")
        let killed = try bisect("kill -9 $$;")
        let loud = try bisect("exit 128;")
        let missing = try bisect("./no-such-program")
        let unusable = try bisect("./atlas.daybook")

        #expect(found.status == 0)
        #expect(found.text.hasPrefix(#"{"sequence":7,"#))
        #expect(
            found.talk
                == "From entry 7 on, the command says that it is so. Looked at 5 of 10 states.\n")
        #expect(named.status == 0, "\(named.talk)")
        #expect(named.text.hasPrefix(#"{"sequence":4,"#))
        #expect(named.talk.hasPrefix("seen\nseen\n"), "\(named.talk)")
        #expect(skipped.status == 1)
        #expect(
            skipped.talk.hasPrefix(
                "From one of the entries 4 to 7 on, the command says that it is so; the others "
                    + "cannot be judged."), "\(skipped.talk)")
        #expect(unknownEnd.status == 1)
        #expect(unknownEnd.talk.hasPrefix("Entry 1, at an end, cannot be judged."))
        #expect(killed.status == 2)
        #expect(killed.talk.contains("with signal 9"))
        #expect(loud.status == 2)
        #expect(loud.talk.contains("with code 128"))
        #expect(missing.status == 2)
        #expect(
            missing.talk.contains("The command cannot be run: it ended at entry 1 with code 127."))
        #expect(unusable.status == 2)
        #expect(unusable.talk.contains("with code 126."))
    }

    // MARK: - Tags

    @Test func `a tag is set, listed, moved and taken away`() throws {
        let set = try atlas.run("tag STORE v1 5 --author Ada --note Printed")
        let head = try atlas.run("tag STORE v2 --output jsonl")
        let taken = try atlas.run("tag STORE v1 6")
        let moved = try atlas.run("tag STORE v1 6 --force")
        let list = try atlas.run("tag STORE")
        let json = try atlas.run("tag STORE --output json")
        let deleted = try atlas.run("tag STORE v1 --delete")
        let missing = try atlas.run("tag STORE v1 -d")
        let rest = try atlas.run("tag STORE --output jsonl")

        #expect(set.text == "Entry 5 is tagged 'v1'.\n")
        #expect(
            head.text.hasPrefix(
                #"{"name":"v2","sequence":10,"digest":"72a2abfd3834e2533a5ba71beb242710a703bb24"#),
            "\(head.text)")
        #expect(taken.status == 2)
        #expect(
            taken.talk.contains(
                "There is a tag 'v1' already, at entry 5. Delete it first, or replace it. '--force' "
                    + "replaces it."))
        #expect(moved.text == "Entry 6 is tagged 'v1'.\n")
        #expect(
            list.text.contains(
                /^tag +entry +set +author +note\nv1 +6 +20.+ UTC\nv2 +10 +20.+ UTC$/
                    .anchorsMatchLineEndings()), "\(list.text)")
        let tags = try #require(
            try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
        #expect(tags.map { $0["name"] as? String } == ["v1", "v2"])
        #expect(tags.map { $0["sequence"] as? Int } == [6, 10])
        #expect(deleted.text == "The tag 'v1' is taken from entry 6.\n")
        #expect(missing.status == 2)
        #expect(missing.talk.contains("There is no tag 'v1'; did you mean 'v2'?"))
        #expect(rest.lines.count == 1)
    }

    @Test(
        arguments: [
            ("tag STORE 42", "number"), ("tag STORE head", "head"),
            ("tag STORE 2011-12-15", "date"), ("tag STORE a/b", "slash"),
            ("tag STORE v1 11", "no-such-entry"), ("tag STORE v1 1900-01-01", "too-old"),
            ("tag STORE v1 v2", "no-such-tag"), ("tag STORE v1 5 --delete", "delete-entry"),
            ("tag STORE --delete", "delete-nothing"), ("tag STORE", "none"),
            ("tag STORE --output json", "none-json"),
        ])
    func `what cannot be a tag is told as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
        #expect(try atlas.run("tag STORE --output jsonl").output.isEmpty)
    }

    @Test func `a tag stands wherever a place in the journal does`() throws {
        #expect(try atlas.run("tag STORE old 2").status == 0)
        #expect(try atlas.run("tag STORE new 6").status == 0)

        for (line, twin) in [
            ("diff STORE old new", "diff STORE 2 6"),
            ("show STORE new", "show STORE 6"),
            ("log STORE --since old --until new", "log STORE --since 2 --until 6"),
            ("fetch STORE Country --at old", "fetch STORE Country --at 2"),
            ("blame STORE Country/2 --at old", "blame STORE Country/2 --at 2"),
            ("document STORE --at old", "document STORE --at 2"),
            ("export STORE -f csv --from old --to new", "export STORE -f csv --from 2 --to 6"),
            (
                "bisect STORE Country/3 -w TRUEPREDICATE --from old --to new",
                "bisect STORE Country/3 -w TRUEPREDICATE --from 2 --to 6"
            ),
        ] {
            let (tagged, numbered) = (try atlas.run(line), try atlas.run(twin))
            #expect(tagged.status == numbered.status, "\(line): \(tagged.talk)")
            #expect(!tagged.output.isEmpty, "\(line)")
            #expect(tagged.output == numbered.output, "\(line)")
        }
        let mistyped = try atlas.run("fetch STORE Country --at odl")
        #expect(mistyped.status == 2)
        #expect(mistyped.talk == "error: There is no tag 'odl'; did you mean 'old'?\n")
    }

    @Test func `a part of the journal is named the same in every command`() throws {
        for (line, twin) in [
            ("log STORE --from 2 --to 4", "log STORE --since 2 --until 4"),
            ("log STORE --from=2 --until 4", "log STORE 2..4"),
            ("export STORE -f csv --since 2 --until 4", "export STORE -f csv --from 2 --to 4"),
            (
                "bisect STORE Country/3 -w TRUEPREDICATE --since 2 --until 6",
                "bisect STORE Country/3 -w TRUEPREDICATE --from 2 --to 6"
            ),
            ("replay STORE --since 2 --to 4", "replay STORE --from 2 --to 4"),
        ] {
            let (other, usual) = (try atlas.run(line), try atlas.run(twin))
            #expect(other.status == usual.status, "\(line): \(other.talk)")
            #expect(other.status < 2 && !other.output.isEmpty, "\(line): \(other.talk)")
            #expect(other.output == usual.output, "\(line)")
        }
    }

    @Test func `reading leaves every byte as it is`() throws {
        #expect(try atlas.run("tag STORE v1 5").status == 0)
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        let before = try Data(contentsOf: file)

        for line in [
            "blame STORE Country/1", "bisect STORE Country --where name=='Türkiye'", "tag STORE",
            "document STORE", "diff STORE 2 6 --format sql",
        ] {
            #expect(try [0, 1].contains(atlas.run(line).status), "\(line)")
        }

        #expect(try Data(contentsOf: file) == before)
    }
}
