import DaybookTestSupport
import Foundation
import Testing

/// Undo, redo and restore with several entries, with later ones and with deleted objects.
@Suite struct UndoCommandTests {
    /// Entry 4 renames a book and entry 5 deletes another.
    private static let edits = """
        {"op":"update","object":"Book/5","values":{"title":"Uno"}}
        {"op":"save","author":"Bob","time":"2003-03-03T00:00:00Z"}
        {"op":"delete","object":"Book/6"}
        {"op":"save","author":"Bob","time":"2003-03-04T00:00:00Z"}

        """
    /// Entry 6 renames the first book again.
    private static let later = """
        {"op":"update","object":"Book/5","values":{"title":"Eins"}}
        {"op":"save","author":"Cleo","time":"2004-04-04T00:00:00Z"}

        """

    private func library(_ more: String...) throws -> LibraryStore {
        let library = try LibraryStore()
        for lines in more { try #require(try library.record(lines).status == 0) }
        return library
    }

    @Test func `blame after the undo of a delete names who wrote, and who brought it back`() throws
    {
        let library = try library(Self.edits)
        let before = try library.run(["blame", "library.daybook", "Book/6.title"])
        #expect(before.status == 2, "It is deleted.")
        let undone = try library.run([
            "undo", "library.daybook", "5", "--author", "Cleo", "--note", "Still lent",
        ])
        try #require(undone.status == 0, "\(undone.talk)")

        let text = try library.run(["blame", "library.daybook", "Book/6"])
        let json = try library.run([
            "blame", "library.daybook", "Book/6.title", "--output", "jsonl",
        ])
        let untouched = try library.run(["blame", "library.daybook", "Book/5"])

        let title = try #require(text.lines.first { $0.contains(" title ") })
        #expect(text.lines.first?.contains("brought back by") == true)
        #expect(title.contains("    3  2002-02-02 09:00:00 UTC  Ada "), "\(title)")
        #expect(title.contains(#""Two""#) && title.contains("entry 6, Cleo"), "\(title)")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any])
        #expect(object["sequence"] as? Int == 3 && object["author"] as? String == "Ada")
        let back = try #require(object["broughtBackBy"] as? [String: Any])
        #expect(back["sequence"] as? Int == 6 && back["author"] as? String == "Cleo")
        #expect(back["note"] as? String == "Still lent" && back["time"] is String)
        #expect(!untouched.text.contains("brought back by"))
    }

    @Test func `a run of entries is undone and made again as one`() throws {
        let library = try library(Self.edits)
        let before = try library.run(["fetch", "library.daybook", "Item", "--output", "jsonl"])

        try library.expect(["undo", "library.daybook", "4..5", "--dry-run"], equals: "run-dry-run")
        #expect(try library.head() == 5)
        try library.expect(
            ["undo", "library.daybook", "4..5", "--note", "Both"], equals: "run-done")
        let shown = try library.run(["show", "library.daybook", "head"])
        #expect(shown.text.contains("undoes    entries 4 to 5\n"))
        try library.expect(["redo", "library.daybook", "4"], equals: "one-of-run")
        try library.expect(["redo", "library.daybook", "4..5"], equals: "run-done")

        let after = try library.run(["fetch", "library.daybook", "Item", "--output", "jsonl"])
        #expect(before.text == after.text)
    }

    @Test func `an undo of several entries is exported and loaded as it was`() throws {
        let library = try library(Self.edits)
        let undone = try library.run(
            ["undo", "library.daybook", "4..5", "--output", "jsonl"])
        #expect(undone.text.contains(#""undoes":[4,5]}"#))

        let export = try library.run(["export", "library.daybook", "--format", "jsonl"])
        let loaded = try library.run(["load", "copy.daybook"], input: export.text)
        let copy = try library.run(["export", "copy.daybook", "--format", "jsonl"])

        #expect(loaded.status == 0, "\(loaded.talk)")
        #expect(export.lines.last?.contains(#""undoes":[4,5],"kind":"undo""#) == true)
        #expect(copy.text == export.text)
        #expect(try library.run(["verify", "copy.daybook"]).status == 0)
    }

    @Test(arguments: ["[5,4]", "[5]", "[0,4]", "0", "\"4\"", "[4,5,6]"])
    func `an export that undoes no run is refused with the place`(undoes: String) throws {
        let library = try library(Self.edits)
        #expect(try library.run(["undo", "library.daybook", "4..5"]).status == 0)
        let export = try library.run(["export", "library.daybook", "--format", "jsonl"])
        let broken = export.text.replacing(#""undoes":[4,5]"#, with: "\"undoes\":\(undoes)")

        let loaded = try library.run(["load", "copy.daybook"], input: broken)

        #expect(loaded.status == 2)
        #expect(loaded.talk.contains("undoes"))
        #expect(loaded.talk.contains("or a list of the first and last of several"))
    }

    @Test func `what later entries have touched blocks, is kept or is overwritten`() throws {
        let library = try library(Self.edits, Self.later)
        let bytes = try library.bytes

        try library.expect(["undo", "library.daybook", "4..5"], equals: "run-blocked")
        try library.expect(
            ["undo", "library.daybook", "4..5", "--dry-run"], equals: "run-blocked-dry-run")
        try library.expect(
            [
                "undo", "library.daybook", "4..5", "--dry-run", "--on-conflict", "keep-later",
            ], equals: "keep-later-dry-run")
        try library.expect(
            ["undo", "library.daybook", "4", "--on-conflict", "keep-later"],
            equals: "nothing-left")
        #expect(try library.bytes == bytes)

        let kept = try library.run([
            "undo", "library.daybook", "4..5", "--on-conflict", "keep-later", "--output", "jsonl",
        ])
        #expect(kept.status == 0)
        #expect(
            kept.text.contains(
                #""leftOut":[{"entry":6,"author":"Cleo","object":"Book/5","property":"title""#))
        #expect(try title(in: library) == "Eins")
        try library.expect(
            ["undo", "library.daybook", "4", "--on-conflict", "overwrite"], equals: "overwrite")
        #expect(try title(in: library) == "One")
    }

    private func title(in library: LibraryStore) throws -> String? {
        let found = try library.run([
            "fetch", "library.daybook", "Book", "--where", "isbn == '1'", "--output", "jsonl",
        ])
        return found.text.firstMatch(of: #/"title":"([^"]*)"/#).map { String($0.1) }
    }

    @Test func `what has been undone is not undone again`() throws {
        let library = try library(Self.edits)
        #expect(try library.run(["undo", "library.daybook", "5"]).status == 0)

        try library.expect(["undo", "library.daybook", "5"], equals: "already")
    }

    @Test func `a dry run refuses what the undo would refuse`() throws {
        let library = try LibraryStore(content: "")
        let model = """
            {"entities": [
              {"name": "Team", "relationships": [
                {"name": "players", "destination": "Player", "toMany": true, "inverse": "team",
                 "minCount": 2}]},
              {"name": "Player", "relationships": [
                {"name": "team", "destination": "Team", "inverse": "players"}]}]}
            """
        let lines = """
            {"op":"insert","entity":"Team","ref":"t"}
            {"op":"insert","entity":"Player","values":{"team":{"ref":"t"}}}
            {"op":"insert","entity":"Player","values":{"team":{"ref":"t"}}}
            {"op":"insert","entity":"Player"}
            {"op":"save"}
            {"op":"update","object":"Player/4","values":{"team":{"object":"Team/1"}}}
            {"op":"save"}
            {"op":"update","object":"Player/2","values":{"team":null}}
            {"op":"save"}

            """
        try Data(model.utf8).write(to: library.folder.url.appending(path: "team.json"))
        let made = try library.run(["init", "team.daybook", "--model", "team.json"])
        try #require(made.status == 0, "\(made.talk)")
        let recorded = try library.run(["record", "team.daybook"], input: lines)
        try #require(recorded.status == 0, "\(recorded.talk)")

        let dry = try library.run(["undo", "team.daybook", "3", "--dry-run"])
        let undo = try library.run(["undo", "team.daybook", "3"])

        #expect(undo.status == 2)
        #expect(undo.talk.contains("'players' of Team/1"))
        #expect(dry.status == undo.status)
        #expect(dry.talk == undo.talk)
        #expect(dry.text.isEmpty)
    }

    @Test(arguments: [
        ("4..", "a range such as 42..45"), ("..4", "a range such as 42..45"),
        ("2..3..3", "a range such as 42..45"), ("", "a range such as 42..45"),
        ("3..2", "The range ends before it begins."),
        ("head..2", "The range ends before it begins."),
        ("0", "There is no entry 0: the journal has entries 1 to 3."),
        ("0..2", "There is no entry 0: the journal has entries 1 to 3."),
        ("2..4", "There is no entry 4: the journal has entries 1 to 3."),
        ("4-5", "There is no tag '4-5'"), ("1999-01-01", "No entry is as old as that."),
    ])
    func `a run that is none is a usage error`(text: String, expected: String) throws {
        let library = try LibraryStore()
        let bytes = try library.bytes

        for command in ["undo", "redo"] {
            let result = try library.run([command, "library.daybook", text])

            #expect(result.status == 2)
            #expect(result.talk.contains(expected), "\(result.talk)")
        }
        #expect(try library.bytes == bytes)
    }

    @Test func `entries to undo and to redo are named by head, tag and time, too`() throws {
        let library = try library(Self.edits)
        try #require(try library.run(["tag", "library.daybook", "renamed", "4"]).status == 0)

        let both = try library.run([
            "undo", "library.daybook", "renamed..2003-03-04", "--dry-run",
        ])
        let last = try library.run(["undo", "library.daybook", "head"])
        let again = try library.run(["redo", "library.daybook", "2003-03-04"])
        let tagged = try library.run(["undo", "library.daybook", "renamed"])

        #expect(both.text.contains("updated Book/5") && both.text.contains("inserted Book/6"))
        #expect(last.text.hasPrefix("Entry 6 takes entry 5 back: "), "\(last.talk)")
        #expect(again.text.hasPrefix("Entry 7 takes entry 6 back: "), "\(again.talk)")
        #expect(tagged.text.hasPrefix("Entry 8 takes entry 4 back: "), "\(tagged.talk)")
    }

    @Test func `members are shown in the order in which they stand`() throws {
        let people = ["Cid", "Dan", "Eve", "Fay"]
        let inserts = people.map {
            #"{"op":"insert","entity":"Person","values":{"name":"\#($0)"}}"#
        }
        func authors(_ names: [String]) -> String {
            let list = names.map { #"{"match":{"name":"\#($0)"}}"# }.joined(separator: ",")
            return #"{"op":"update","object":"Book/7","values":{"authors":[\#(list)]}}"#
        }
        let save = #"{"op":"save"}"#
        let library = try library(
            (inserts + [save, authors(people), save, authors(people.reversed()), save])
                .joined(separator: "\n"))

        let set = try library.run(["show", "library.daybook", "5"])
        let turned = try library.run(["show", "library.daybook", "6"])

        let first = try #require(set.text.firstMatch(of: /with (.*)\n/)).1
        let second = try #require(turned.text.firstMatch(of: /in another order: (.*)\n/)).1
        let names = first.split(separator: ", ")
        let moved = second.split(separator: ", ")
        #expect(names == ["Person/9", "Person/10", "Person/11", "Person/12"])
        #expect(moved.count > 1)
        #expect(moved == names.reversed().filter { moved.contains($0) })
    }

    // MARK: - Restore

    @Test func `a deleted object comes back with its references`() throws {
        let library = try library(Self.edits)
        let before = try library.run(["fetch", "library.daybook", "Book", "--at", "4"])

        try library.expect(
            ["restore", "library.daybook", "Book/6", "--dry-run"], equals: "dry-run")
        #expect(try library.head() == 5)
        try library.expect(["restore", "library.daybook", "Book/6"], equals: "done")
        let shown = try library.run(["show", "library.daybook", "head"])

        #expect(shown.text.contains("note      Restored Book/6\n"))
        #expect(shown.text.contains("undoes    entry 5\n"))
        #expect(try library.run(["fetch", "library.daybook", "Book"]).text == before.text)
    }

    @Test func `an object is set back to an entry or a time`() throws {
        let library = try library(Self.edits, Self.later)

        try library.expect(
            ["restore", "library.daybook", "Book/5", "--at", "2002-12-31", "--dry-run"],
            equals: "at-time-dry-run")
        let result = try library.run([
            "restore", "library.daybook", "Book/5", "--at", "4", "--output", "jsonl",
        ])

        #expect(result.text.contains(#""restores":"Book/5"}"#))
        #expect(try title(in: library) == "Uno")
    }

    @Test func `what cannot be restored is named and nothing is changed`() throws {
        let library = try library(Self.edits)
        let taken = #"{"op":"insert","entity":"Book","values":{"isbn":"2","title":"Thief"}}"#
        try #require(
            try library.record(
                taken + "\n" + #"{"op":"save","author":"Cleo","time":"2005-05-05T00:00:00Z"}"#
            ).status == 0)
        let bytes = try library.bytes

        try library.expect(["restore", "library.daybook", "Book/6"], equals: "taken")
        try library.expect(["restore", "library.daybook", "Book/5"], equals: "not-deleted")
        try library.expect(["restore", "library.daybook", "Book/99"], equals: "never")
        try library.expect(
            ["restore", "library.daybook", "Book/5", "--at", "2"], equals: "not-yet")

        #expect(try library.bytes == bytes)
    }
}
