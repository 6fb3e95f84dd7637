import Foundation
import TestSupport
import Testing

/// What undo, redo and restore do with several entries, with later ones and with deleted objects.
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

    @Test(arguments: ["5..4", "0", "4..", "..4", "4..5..6", "4-5", ""])
    func `a run that is none is a usage error`(text: String) throws {
        let library = try LibraryStore()

        let result = try library.run(["undo", "library.daybook", text])

        #expect(result.status == 2)
        #expect(result.talk.contains("a range such as 42..45"))
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
