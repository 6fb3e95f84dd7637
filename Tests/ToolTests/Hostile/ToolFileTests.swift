import DaybookTestSupport
import Foundation
import Testing

/// Small files that commands read and make, when something is unusual about them.
@Suite struct ToolFileTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
        let made = try atlas.run("keygen example.org/atlas --into private.key")
        try #require(made.status == 0, "\(made.talk)")
        try made.output.write(to: atlas.folder.url.appending(path: "public.key"))
    }

    private func shell(_ line: String) throws -> ToolResult {
        try Tool.shell("cd '\(atlas.folder.url.path)' && \(line)")
    }

    private func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: atlas.folder.url.appending(path: name).path)
    }

    @Test func `keys, checkpoints and proofs may come from pipes`() throws {
        let result = try shell(
            """
            $DAYBOOK checkpoint atlas.daybook --key <(cat private.key) > now
            $DAYBOOK prove atlas.daybook 3 --checkpoint <(cat now) --entry 3.entry > 3.proof
            cat 3.proof | $DAYBOOK check /dev/stdin --entry <(cat 3.entry) --key <(cat public.key)
            """)

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.text.hasPrefix("Fine: it is entry 3 of 10 "))
    }

    @Test(arguments: [
        (
            "nowhere",
            "error: The private key 'nowhere' cannot be read: No such file or directory.\n"
        ),
        (".", "error: The private key '.' cannot be read: Is a directory.\n"),
        (
            "/dev/zero",
            "error: The private key '/dev/zero' is not text of a reasonable length.\n"
        ),
    ])
    func `a file that cannot be read is told in the system's words`(
        name: String, expected: String
    ) throws {
        let result = try atlas.run("checkpoint STORE --key \(name)")

        #expect(result.status == 2)
        #expect(result.talk == expected)
    }

    @Test func `a file that cannot be written is told in the system's words`() throws {
        let export = try shell(
            """
            $DAYBOOK stats atlas.daybook > stats; ulimit -f 1
            $DAYBOOK export atlas.daybook -f jsonl --into atlas.jsonl
            """)
        let tiles = try shell(
            """
            $DAYBOOK checkpoint atlas.daybook --key private.key > now; ulimit -f 1
            $DAYBOOK tiles atlas.daybook --into tiles --checkpoint now
            """)

        #expect(export.status == 2)
        #expect(export.talk == "error: 'atlas.jsonl' cannot be written: File too large.\n")
        #expect(!exists("atlas.jsonl"))
        #expect(tiles.status == 2)
        #expect(
            tiles.talk
                == "error: 'tiles/tile/entries/000.p/10' cannot be written: File too large.\n")
    }

    @Test func `a private key is not kept when the public one could not be printed`() throws {
        let full = try shell("$DAYBOOK keygen example.org/a --into a.key > /dev/full")
        let closed = try shell(
            "set -o pipefail; { $DAYBOOK keygen example.org/a --into b.key; } > >(exec true)")

        #expect(full.status == 2)
        #expect(full.talk.contains("No space left on device"))
        #expect(!exists("a.key"))
        // The reader may or may not be gone when the key is printed.
        #expect(closed.status == (exists("b.key") ? 0 : 2))
    }

    @Test func `the bytes of an entry are not kept when the proof could not be printed`() throws {
        let result = try shell(
            """
            $DAYBOOK checkpoint atlas.daybook --key private.key > now
            $DAYBOOK prove atlas.daybook 3 --checkpoint now --entry 3.entry > /dev/full
            """)

        #expect(result.status == 2)
        #expect(!exists("3.entry"))
    }

    @Test func `a dash is no name for a file of an export`() throws {
        let result = try atlas.run("export STORE -f csv --into -")

        #expect(result.status == 2)
        #expect(result.talk.contains("leave it out to write to standard output"))
        #expect(!exists("-"))
    }

    @Test(arguments: [
        "cursors atlas.daybook $'a\\tb' 3", "tail atlas.daybook --cursor $'a\\nb' -n 1",
        "export atlas.daybook -f csv --resume $'a\\eb'",
    ])
    func `a cursor has no control characters in its name`(line: String) throws {
        let result = try shell("$DAYBOOK \(line)")

        #expect(result.status == 2)
        #expect(result.talk.contains("expected a name without control characters"))
        #expect(try atlas.run("cursors STORE --output jsonl").text.isEmpty)
    }
}
