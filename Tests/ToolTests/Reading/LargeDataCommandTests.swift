import DaybookTestSupport
import Foundation
import Testing

/// Large data on the command line.
@Suite struct LargeDataCommandTests {
    private static let model = """
        {"entities":[{"name":"Photo","attributes":[
          {"name":"image","type":"data"},{"name":"secret","type":"data","confidential":true},
          {"name":"title","type":"string"}]}]}
        """
    private static let image = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) })
    private static let small = Data([1, 2, 3])

    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        #expect(try run(["init", "album", "--model", "model.json"]).status == 0)
        let image = Self.image.base64EncodedString()
        let lines = """
            {"op":"insert","entity":"Photo","ref":"a","values":{"image":"\(image)","title":"Dawn"}}
            {"op":"save"}
            {"op":"update","match":{"title":"Dawn"},"entity":"Photo","values":{"image":"AQID"}}
            {"op":"insert","entity":"Photo","values":{"image":"\(image)","title":"Copy"}}
            {"op":"save"}

            """
        let recorded = try run(["record", "album"], input: Data(lines.utf8))
        #expect(recorded.status == 0, "\(recorded.talk)")
    }

    private func run(_ arguments: [String], input: Data? = nil) throws -> ToolResult {
        try Tool.run(arguments, input: input, in: folder.url)
    }

    @Test func `the bytes of a value are written as they are, now and then`() throws {
        let now = try run(["data", "album", "Photo/1.image"])
        let then = try run(["data", "album", "Photo/1.image", "--at", "2"])
        let into = try run(["data", "album", "Photo/2.image", "--into", "dawn.bin"])

        #expect(now.status == 0, "\(now.talk)")
        #expect(now.output == Self.small)
        #expect(then.output == Self.image)
        #expect(into.status == 0 && into.output.isEmpty)
        #expect(try Data(contentsOf: folder.url.appending(path: "dawn.bin")) == Self.image)
    }

    @Test(arguments: ["Photo/1", "Photo/1.title", "Photo/1.secret", "Photo/9.image"])
    func `what has no bytes is wrong usage`(name: String) throws {
        let result = try run(["data", "album", name])

        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.talk.hasPrefix("error: "))
    }

    @Test func `other commands show the number of bytes and the digest`() throws {
        for words in [["show", "album", "2"], ["fetch", "album", "Photo"], ["log", "album"]] {
            let result = try run(words)
            #expect(result.status == 0, "\(words): \(result.talk)")
            #expect(result.output.count < 5_000, "\(words)")
        }
        let shown = try run(["show", "album", "2", "--output", "json"]).text
        #expect(shown.contains("\"large:2000000:"))
        let reference = try #require(
            shown.split(separator: "\"").first { $0.hasPrefix("large:2000000:") })
        let found = try run([
            "fetch", "album", "Photo", "--where", "image == \"\(reference)\"", "--output", "jsonl",
        ])
        #expect(found.status == 0, "\(found.talk)")
        #expect(found.lines.count == 1)
        #expect(try run(["stats", "album"]).text.contains("chunks"))
    }

    @Test func `an export has the bytes once, and the store loaded from it is the same`() throws {
        let exported = try run(["export", "album", "--format", "jsonl", "--confidential", "show"])
        let again = Data(exported.output)

        let loaded = try run(["load", "copy"], input: again)

        #expect(loaded.status == 0, "\(loaded.talk)")
        let parts = exported.lines.filter { $0.hasPrefix("{\"data\":") }
        #expect(parts.count == 3)
        #expect(exported.lines.allSatisfy { $0.utf8.count < 1_100_000 })
        #expect(
            try run(["export", "copy", "--format", "jsonl", "--confidential", "show"]).output
                == again)
        #expect(try run(["verify", "copy"]).status == 0)
        #expect(try run(["data", "copy", "Photo/2.image"]).output == Self.image)
    }

    @Test func `an export in parts is that of the whole`() throws {
        let whole = try run(["export", "album", "--format", "jsonl"])
        var parts = try run(["export", "album", "--format", "jsonl", "--to", "2", "--resume", "c"])
            .output
        parts += try run(["export", "album", "--format", "jsonl", "--resume", "c"]).output

        #expect(parts == whole.output)
    }

    @Test func `confidential bytes are in no export that leaves them out`() throws {
        let secret = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let line = """
            {"op":"insert","entity":"Photo","values":{"secret":"\(secret.base64EncodedString())"}}
            """
        #expect(try run(["record", "album"], input: Data(line.utf8)).status == 0)

        let shown = try run(["export", "album", "-f", "jsonl", "--confidential", "show"]).text
        let hidden = try run(["export", "album", "-f", "jsonl"]).text

        #expect(shown.contains("large:70000:"))
        #expect(!hidden.contains("large:70000:"))
        #expect(!hidden.contains(secret.prefix(300).base64EncodedString()))
    }

    @Test func `an export whose bytes were altered or left out is not loaded`() throws {
        let lines = try run(["export", "album", "--format", "jsonl", "--confidential", "show"])
            .lines
        let first = try #require(lines.firstIndex { $0.hasPrefix("{\"data\":") })
        func load(_ change: (inout [String]) -> Void) throws -> ToolResult {
            var changed = lines
            change(&changed)
            return try run(
                ["load", "copy"], input: Data((changed.joined(separator: "\n") + "\n").utf8))
        }

        let altered = try load {
            $0[first].replace("AAAAAAAA", with: "AAAAAAAB", maxReplacements: 1)
        }
        let shorter = try load { $0.remove(at: first + 1) }
        let without = try load { $0.removeAll { $0.hasPrefix("{\"data\":") } }
        let leading = try load { $0.insert($0.remove(at: first), at: 0) }

        #expect(altered.status == 3, "\(altered.talk)")
        #expect(shorter.status == 2, "\(shorter.talk)")
        #expect(without.status == 3, "\(without.talk)")
        #expect(leading.status == 2, "\(leading.talk)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("copy")))
    }

    @Test(arguments: ["csv", "sqlite", "debezium", "html", "prov", "git"])
    func `other formats have references`(format: String) throws {
        let result = try run(["export", "album", "--format", format, "--into", "out"])

        #expect(result.status == 0, "\(result.talk)")
        let size = try FileManager.default.attributesOfItem(atPath: folder.path("out"))[.size]
        #expect(try #require(size as? Int) < 300_000)
    }

    @Test func `replaying into a new store and copies have the bytes`() throws {
        #expect(try run(["replay", "album", "--into", "again"]).status == 0)
        #expect(try run(["backup", "album", "saved"]).status == 0)
        #expect(try run(["compact", "album", "--into", "smaller"]).status == 0)

        for copy in ["again", "saved", "smaller"] {
            #expect(try run(["data", copy, "Photo/2.image"]).output == Self.image, "\(copy)")
            #expect(try run(["verify", copy]).status == 0, "\(copy)")
        }
    }

    @Test func `undo brings large data back`() throws {
        #expect(try run(["undo", "album", "3"]).status == 0)

        #expect(try run(["data", "album", "Photo/1.image"]).output == Self.image)
        #expect(try run(["verify", "album"]).status == 0)
    }

    // MARK: - Files and imports

    private func record(_ line: String, _ options: String...) throws -> ToolResult {
        try run(["record", "album"] + options, input: Data((line + "\n").utf8))
    }

    private func makeFiles() throws {
        let photos = folder.url.appending(path: "photos")
        try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
        try Self.image.write(to: photos.appending(path: "dawn.bin"))
        try Self.small.write(to: photos.appending(path: "small.bin"))
        try Data().write(to: photos.appending(path: "empty.bin"))
        try Data("secret".utf8).write(to: folder.url.appending(path: "outside.bin"))
    }

    @Test(arguments: [("dawn.bin", image), ("small.bin", small), ("empty.bin", Data())])
    func `a recorded value may be the bytes of a file`(name: String, bytes: Data) throws {
        try makeFiles()

        let result = try record(
            #"{"op":"insert","entity":"Photo","values":{"image":{"file":"\#(name)"}}}"#,
            "--files", "photos")

        #expect(result.status == 0, "\(result.talk)")
        #expect(try run(["data", "album", "Photo/3.image"]).output == bytes)
        #expect(try run(["verify", "album"]).status == 0)
    }

    @Test(arguments: ["../outside.bin", "/etc/hostname", "none.bin", ".", "a/../../outside.bin"])
    func `a file that is not in the folder is refused, and nothing is recorded`(
        name: String
    ) throws {
        try makeFiles()
        let head = try run(["log", "album"]).text

        let result = try record(
            #"{"op":"insert","entity":"Photo","values":{"image":{"file":"\#(name)"}}}"#,
            "--files", "photos")

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 1"), "\(result.talk)")
        #expect(try run(["log", "album"]).text == head)
    }

    private func makeLinks() throws {
        try makeFiles()
        let links = [
            ("out.bin", "../outside.bin"), ("way", ".."), ("host", "/etc/hostname"),
            ("loop", "loop"), ("near.bin", "small.bin"), ("pipe.bin", "pipe"),
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("photos/\(name)"), withDestinationPath: target)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("album of links"), withDestinationPath: "photos")
        try #require(mkfifo(folder.path("photos/pipe"), 0o600) == 0)
    }

    @Test(
        arguments: ["out.bin", "way/outside.bin", "host", "loop", "near.bin/../../outside.bin"],
        ["photos", "album of links"])
    func `no link leads out of the folder of files`(name: String, files: String) throws {
        try makeLinks()
        let head = try run(["log", "album"]).text

        let result = try record(
            #"{"op":"insert","entity":"Photo","values":{"image":{"file":"\#(name)"}}}"#,
            "--files", files)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 1: 'image' is wrong: "), "\(result.talk)")
        #expect(try run(["log", "album"]).text == head)
    }

    @Test func `links within the folder of files are followed, and so is the folder itself`() throws
    {
        try makeLinks()

        let result = try record(
            #"{"op":"insert","entity":"Photo","values":{"image":{"file":"near.bin"}}}"#,
            "--files", "album of links")

        #expect(result.status == 0, "\(result.talk)")
        #expect(try run(["data", "album", "Photo/3.image"]).output == Self.small)
    }

    @Test(arguments: ["pipe", "pipe.bin"])
    func `a pipe in the folder of files is refused at once, and not waited for`(
        name: String
    ) throws {
        try makeLinks()
        let line = #"{"op":"insert","entity":"Photo","values":{"image":{"file":"\#(name)"}}}"#

        // Nobody ever writes into the pipe: a program that opens it is ended after a minute.
        let result = try Tool.shell(
            """
            cd '\(folder.url.path)' && echo '\(line)' |
                timeout -k 5 60 "$DAYBOOK" record album --files photos
            """)

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: line 1: 'image' is wrong: '\(name)' is not a regular file.

                """)
    }

    @Test func `no file is read unless a folder is named`() throws {
        try makeFiles()

        let result = try record(
            #"{"op":"insert","entity":"Photo","values":{"image":{"file":"photos/small.bin"}}}"#)

        #expect(result.status == 2)
        #expect(result.talk.contains("'--files FOLDER'"), "\(result.talk)")
    }

    @Test func `the entries of another store are imported with their large data`() throws {
        let exported = try run(["export", "album", "--format", "jsonl", "--confidential", "show"])
        #expect(try run(["init", "other", "--model", "model.json"]).status == 0)

        let imported = try run(["import", "other", "--format", "jsonl"], input: exported.output)

        #expect(imported.status == 0, "\(imported.talk)")
        #expect(try run(["data", "other", "Photo/1.image"]).output == Self.small)
        #expect(try run(["data", "other", "Photo/1.image", "--at", "2"]).output == Self.image)
        #expect(try run(["data", "other", "Photo/2.image"]).output == Self.image)
        #expect(try run(["verify", "other"]).status == 0)
        let again = try run(["import", "other", "--format", "jsonl"], input: exported.output)
        #expect(again.status == 0, "\(again.talk)")
    }

    @Test func `an import whose bytes were left out or altered is refused`() throws {
        let lines = try run(["export", "album", "--format", "jsonl", "--confidential", "show"])
            .lines
        let first = try #require(lines.firstIndex { $0.hasPrefix("{\"data\":") })
        #expect(try run(["init", "other", "--model", "model.json"]).status == 0)
        func importing(_ change: (inout [String]) -> Void) throws -> ToolResult {
            var changed = lines
            change(&changed)
            return try run(
                ["import", "other", "--format", "jsonl"],
                input: Data((changed.joined(separator: "\n") + "\n").utf8))
        }

        let shorter = try importing { $0.remove(at: first + 1) }
        let open = try importing { $0 = Array($0.prefix(first + 1)) }
        let altered = try importing {
            $0[first].replace("AAAAAAAA", with: "AAAAAAAB", maxReplacements: 1)
        }
        let without = try importing { $0.removeAll { $0.hasPrefix("{\"data\":") } }

        for result in [shorter, open, altered, without] {
            #expect(result.status != 0)
            #expect(result.talk.hasPrefix("error: "), "\(result.talk)")
        }
        #expect(try run(["verify", "other"]).status == 0)
    }

    @Test func `rows of a table have large data as base64 text or by reference`() throws {
        let shown = try run(["show", "album", "2", "--output", "json"]).text
        let reference = try #require(
            shown.split(separator: "\"").first { $0.hasPrefix("large:2000000:") })
        let other = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let table = "title,image\nNew,\(other.base64EncodedString())\nKnown,\(reference)\n"

        let result = try run(
            ["import", "album", "--format", "csv", "--entity", "Photo"], input: Data(table.utf8))

        #expect(result.status == 0, "\(result.talk)")
        #expect(try run(["data", "album", "Photo/3.image"]).output == other)
        #expect(try run(["data", "album", "Photo/4.image"]).output == Self.image)
        #expect(try run(["verify", "album"]).status == 0)
    }
}
