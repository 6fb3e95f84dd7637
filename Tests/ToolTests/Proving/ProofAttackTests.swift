import DaybookTestSupport
import Foundation
import Testing

/// The attacks of `AttackTests` on the command: its messages and exit codes.
@Suite struct ProofAttackTests {
    private let library: LibraryStore

    /// A store of three entries, a pair of keys and a checkpoint.
    init() throws {
        library = try LibraryStore()
        try keygen("example.org/library", "private.key", "public.key")
        try checkpoint(into: "first.checkpoint")
    }

    private func file(_ name: String) -> URL { library.folder.url.appending(path: name) }

    private func keygen(_ name: String, _ secret: String, _ known: String) throws {
        let made = try library.run(["keygen", name, "--into", secret])
        try #require(made.status == 0, "\(made.talk)")
        try made.output.write(to: file(known))
    }

    private func checkpoint(into name: String) throws {
        let result = try library.run(["checkpoint", "library.daybook", "--key", "private.key"])
        try #require(result.status == 0, "\(result.talk)")
        try result.output.write(to: file(name))
    }

    private func recordOne(_ label: String) throws {
        let line = #"{"op":"insert","entity":"Shelf","values":{"label":"\#(label)"}}"#
        try #require(try library.record(line).status == 0)
    }

    private func verify(_ options: [String]) throws -> ToolResult {
        try library.run(["verify", "library.daybook"] + options)
    }

    /// Makes the store again with a different past of at least as many entries.
    private func forgePast() throws {
        for name in ["library.daybook", "library.daybook-lock"] {
            let path = file(name)
            if FileManager.default.fileExists(atPath: path.path) {
                try FileManager.default.removeItem(at: path)
            }
        }
        let model = Fixture.folder.appending(path: "models/library.json").path
        try #require(try library.run(["init", "library.daybook", "--model", model]).status == 0)
        try #require(
            try library.record(LibraryStore.content.replacing("\"Bob\"", with: "\"Eve\""))
                .status == 0)
        try recordOne("C")
    }

    @Test func `Attack 2: a past written anew and signed with the same key is found`() throws {
        try forgePast()
        try checkpoint(into: "forged.checkpoint")

        let own = try verify(["--checkpoint", "forged.checkpoint", "--key", "public.key"])
        let old = try verify(["--checkpoint", "first.checkpoint", "--key", "public.key"])
        let next = try library.run([
            "checkpoint", "library.daybook", "--key", "private.key", "--previous",
            "first.checkpoint",
        ])
        let proof = try library.run([
            "prove", "library.daybook", "2", "--checkpoint", "first.checkpoint",
        ])
        let tiles = try library.run([
            "tiles", "library.daybook", "--into", "tiles", "--checkpoint", "first.checkpoint",
        ])

        // The forger's own checkpoint proves nothing: only an earlier one does.
        #expect(own.status == 0)
        for result in [old, next, proof, tiles] {
            #expect(result.status == 1)
            #expect(
                (result.text + result.talk).contains(
                    "The journal was rewritten: its first 3 entries are not those of the "
                        + "checkpoint."))
        }
        #expect(next.output.isEmpty)
        #expect(proof.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: file("tiles").path))
    }

    @Test func `Attack 3: a store that was cut off is fine by itself, and that is said`() throws {
        let before = try library.bytes
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        try before.write(to: file("library.daybook"))

        let alone = try verify([])
        let json = try verify(["--output", "jsonl"])
        let known = try verify(["--checkpoint", "second.checkpoint", "--key", "public.key"])

        #expect(alone.status == 0)
        #expect(alone.talk.contains("Truncation is not excluded"))
        #expect(json.text.contains(#""checkpoint":null"#))
        #expect(known.status == 1)
        #expect(known.text.contains("The journal was cut off or rolled back"))
        #expect(!known.talk.contains("Truncation is not excluded"))
    }

    @Test func `Attack 3: a store that was cut off and continued is found`() throws {
        let before = try library.bytes
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        try before.write(to: file("library.daybook"))
        for label in ["forged", "and", "more"] { try recordOne(label) }

        let alone = try verify([])
        let known = try verify(["--checkpoint", "second.checkpoint", "--key", "public.key"])

        #expect(alone.status == 0)
        #expect(known.status == 1)
        #expect(known.text.contains("The journal was rewritten: its first 4 entries"))
    }

    @Test func `Attack 4: with a key nothing unsigned passes`() throws {
        let signed = try String(contentsOf: file("first.checkpoint"), encoding: .utf8)
        let text = try #require(signed.range(of: "\n\n")).lowerBound
        try Data((signed[..<text] + "\n").utf8).write(to: file("bare.checkpoint"))
        let witness =
            signed[..<text] + "\n\n\u{2014} example.org/witness "
            + Data(repeating: 7, count: 68).base64EncodedString() + "\n"
        try Data(witness.utf8).write(to: file("foreign.checkpoint"))

        let none = try verify(["--key", "public.key"])
        let demanded = try verify(["--require-signed"])
        let bare = try verify(["--checkpoint", "bare.checkpoint", "--key", "public.key"])
        let foreign = try verify(["--checkpoint", "foreign.checkpoint", "--key", "public.key"])

        for result in [none, demanded] {
            #expect(result.status == 2)
            #expect(result.talk.contains("add '--checkpoint FILE'"))
        }
        #expect(bare.status == 2)
        #expect(bare.talk.contains("has no signatures"))
        #expect(foreign.status == 1)
        #expect(foreign.talk.contains("not signed by 'example.org/library'"))
        for result in [none, demanded, bare, foreign] { #expect(!result.text.contains("Fine")) }
    }

    @Test func `Attack 5: the wrong key never passes`() throws {
        for (name, said) in [
            ("example.org/library", "not signed by 'example.org/library'"),
            ("example.org/other", "not signed by 'example.org/other'"),
        ] {
            let number = name.count
            try keygen(name, "other\(number).key", "other\(number).pub")

            let result = try verify([
                "--checkpoint", "first.checkpoint", "--key", "other\(number).pub",
            ])

            #expect(result.status == 1)
            #expect(result.talk.contains(said))
        }
    }

    @Test func `Attack 5: times that jump give no false alarm`() throws {
        for (index, time) in [
            "2031-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2001-01-01T00:00:00Z",
        ]
        .enumerated() {
            let lines = """
                {"op":"insert","entity":"Shelf","values":{"label":"T\(index)"}}
                {"op":"save","time":"\(time)"}

                """
            try #require(try library.record(lines).status == 0)
        }

        let result = try verify(["--checkpoint", "first.checkpoint", "--key", "public.key"])

        #expect(result.status == 0)
        #expect(result.text.contains("Fine: 6 entries"))
    }

    @Test func `Attack 6: an index after the last, and one that cannot be counted, are refused`()
        throws
    {
        let proof = try library.run([
            "prove", "library.daybook", "2", "--checkpoint", "first.checkpoint", "--entry",
            "2.entry",
        ])
        for (index, status) in [
            ("3", Int32(1)), ("18446744073709551615", 1), ("18446744073709551616", 2), ("-1", 2),
            ("01", 2),
        ] {
            let forged = proof.text.replacing("index 1\n", with: "index \(index)\n")
            try Data(forged.utf8).write(to: file("forged.tlog-proof"))

            let result = try library.run([
                "check", "forged.tlog-proof", "--entry", "2.entry", "--key", "public.key",
            ])

            #expect(result.status == status, "\(index): \(result.talk)")
            #expect(result.output.isEmpty)
        }
    }

    // MARK: - Bad input

    /// A command whose one file is replaced by garbage.
    struct BadFile: Sendable, CustomTestStringConvertible {
        let words: [String]
        let option: String

        var testDescription: String { "\(words[0]) \(option)" }

        /// The command line with the wrong file.
        func line(with name: String) -> [String] {
            var line = words
            if let place = line.firstIndex(of: option) {
                line[place + (option.hasPrefix("-") ? 1 : 0)] = name
            }
            return line
        }
    }

    private static let badFiles = [
        (["checkpoint", "library.daybook", "--key", "private.key"], ["library.daybook", "--key"]),
        (
            [
                "checkpoint", "library.daybook", "--key", "private.key", "--previous",
                "first.checkpoint",
            ], ["--previous"]
        ),
        (
            ["prove", "library.daybook", "2", "--checkpoint", "first.checkpoint"],
            ["library.daybook", "--checkpoint"]
        ),
        (
            ["check", "2.tlog-proof", "--entry", "2.entry", "--key", "public.key"],
            ["2.tlog-proof", "--entry", "--key"]
        ),
        (
            [
                "verify", "library.daybook", "--checkpoint", "first.checkpoint", "--key",
                "public.key",
            ], ["library.daybook", "--checkpoint", "--key"]
        ),
        (
            [
                "tiles", "library.daybook", "--into", "tiles", "--checkpoint", "first.checkpoint",
                "--key", "public.key",
            ], ["library.daybook", "--into", "--checkpoint", "--key"]
        ),
    ].flatMap { words, options in options.map { BadFile(words: words, option: $0) } }

    private static let garbage: [(name: String, bytes: Data?)] = [
        ("empty", Data()), ("line", Data("garbage\n".utf8)),
        ("binary", Data([0xFF, 0, 0xC3, 0x28])),
        ("large", Data(repeating: 0x41, count: 1 << 21)),
        ("breaks", Data(repeating: 10, count: 999)),
        ("missing", nil),
    ]

    @Test(arguments: badFiles)
    func `garbage for any file is named, and none ends the command otherwise`(
        bad: BadFile
    ) throws {
        let proof = try library.run([
            "prove", "library.daybook", "2", "--checkpoint", "first.checkpoint", "--entry",
            "2.entry",
        ])
        try proof.output.write(to: file("2.tlog-proof"))

        for (name, bytes) in Self.garbage where !(bad.option == "--into" && bytes == nil) {
            try bytes?.write(to: file(name))
            let result = try library.run(bad.line(with: name))

            // A file that is not a store is unreadable; a different entry is a finding.
            let expected: Set<Int32> =
                switch bad.option {
                case "library.daybook": [3]
                case "--entry": name == "missing" ? [2] : [1]
                default: [2]
                }
            #expect(expected.contains(result.status), "\(name): \(result.status) \(result.talk)")
            #expect(result.output.isEmpty, "\(name): \(result.text)")
            #expect(result.talk.contains("error: "), "\(name): \(result.talk)")
        }
    }

    @Test(arguments: ["", " ", "a b", "a+b", "a\u{1}b"])
    func `a name that no note can carry makes no key`(name: String) throws {
        let result = try library.run(["keygen", name, "--into", "new.key"])

        #expect(result.status == 2)
        #expect(!FileManager.default.fileExists(atPath: file("new.key").path))
    }

    @Test func `a private key is told apart from a public one and never printed`() throws {
        let secret = try String(contentsOf: file("private.key"), encoding: .utf8)

        let swapped = try verify(["--checkpoint", "first.checkpoint", "--key", "private.key"])
        let signing = try library.run(["checkpoint", "library.daybook", "--key", "public.key"])

        for result in [swapped, signing] {
            #expect(result.status == 2)
            #expect(!(result.text + result.talk).contains(secret.suffix(20).dropLast()))
        }
    }

    @Test func `tiles are exported, added to, and refused for another journal`() throws {
        let words = [
            "tiles", "library.daybook", "--into", "tiles", "--key", "public.key", "--checkpoint",
        ]
        let first = try library.run(words + ["first.checkpoint"])
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        let second = try library.run(words + ["second.checkpoint", "--output", "jsonl"])
        let smaller = try library.run(words + ["first.checkpoint"])

        #expect(first.status == 0)
        #expect(
            first.text
                == "The folder covers 3 entries, 0 before. Tiles written: 1. "
                + "Bundles written: 1.\n")
        #expect(second.status == 0)
        #expect(second.text.contains(#""size":4,"previousSize":3,"tiles":1,"bundles":1"#))
        #expect(smaller.status == 1)
        let names = try FileManager.default.subpathsOfDirectory(atPath: file("tiles").path)
        #expect(
            Set(names).isSuperset(of: [
                "checkpoint", "tile/0/000.p/3", "tile/0/000.p/4", "tile/entries/000.p/3",
                "tile/entries/000.p/4",
            ]))
    }
}
