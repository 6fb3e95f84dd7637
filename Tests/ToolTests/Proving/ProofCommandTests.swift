// The room of proving: checkpoints, proofs and checks, and those who would forge them.

import DaybookTestSupport
import Foundation
import Testing

/// Checkpoints and proofs, and the attacks that they prevent.
@Suite struct ProofCommandTests {
    private let library: LibraryStore

    /// A store of three entries, a pair of keys and a checkpoint.
    init() throws {
        library = try LibraryStore()
        let made = try library.run(["keygen", "example.org/library", "--into", "private.key"])
        try #require(made.status == 0, "\(made.talk)")
        try made.output.write(to: file("public.key"))
        try checkpoint(into: "first.checkpoint")
    }

    private func file(_ name: String) -> URL { library.folder.url.appending(path: name) }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: file(name), encoding: .utf8)
    }

    private func checkpoint(into name: String, _ options: [String] = []) throws {
        let words = ["checkpoint", "library.daybook", "--key", "private.key"] + options
        let result = try library.run(words)
        try #require(result.status == 0, "\(result.talk)")
        try result.output.write(to: file(name))
    }

    private func recordOne(_ label: String) throws {
        let line = #"{"op":"insert","entity":"Shelf","values":{"label":"\#(label)"}}"#
        try #require(try library.record(line).status == 0)
    }

    private func verify(
        _ checkpoint: String, _ options: [String] = ["--key", "public.key"]
    ) throws -> ToolResult {
        try library.run(["verify", "library.daybook", "--checkpoint", checkpoint] + options)
    }

    @Test func `a private key is its owner's alone and never overwritten`() throws {
        let attributes = try FileManager.default.attributesOfItem(
            atPath: file("private.key").path)
        let before = try text("private.key")

        let again = try library.run(["keygen", "example.org/library", "--into", "private.key"])

        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(again.status == 2)
        #expect(try text("private.key") == before)
        #expect(before.hasPrefix("PRIVATE+KEY+example.org/library+"))
        #expect(try text("public.key").hasPrefix("example.org/library+"))
    }

    @Test func `a store that went on from a checkpoint is fine`() throws {
        try recordOne("C")

        let result = try verify("first.checkpoint")

        #expect(result.status == 0)
        #expect(result.text.contains("The journal goes on from the checkpoint of 3 entries"))
        #expect(result.talk.isEmpty)
    }

    @Test func `without a checkpoint truncation is not excluded, and that is said`() throws {
        let result = try library.run(["verify", "library.daybook"])

        #expect(result.status == 0)
        #expect(result.talk.contains("Truncation is not excluded"))
    }

    @Test func `a store that was cut off, or put back, is found`() throws {
        let before = try library.bytes
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        try before.write(to: file("library.daybook"))

        let result = try verify("second.checkpoint")

        #expect(result.status == 1)
        #expect(result.text.contains("the checkpoint covers 4 entries, and there are 3."))
    }

    @Test func `a store that was put back and written on is found`() throws {
        let before = try library.bytes
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        try before.write(to: file("library.daybook"))
        try recordOne("forged")
        try recordOne("and more")

        let result = try verify("second.checkpoint")
        let json = try verify("second.checkpoint", ["--key", "public.key", "--output", "jsonl"])
        let signed = try library.run([
            "checkpoint", "library.daybook", "--key", "private.key", "--previous",
            "second.checkpoint",
        ])

        #expect(result.status == 1)
        #expect(result.text.contains("The journal was rewritten: its first 4 entries"))
        #expect(json.text.contains(#""sound":false"#))
        #expect(json.text.contains(#""checkpoint":{"size":4,"holds":false}"#))
        #expect(signed.status == 1)
        #expect(signed.output.isEmpty)
    }

    @Test func `a checkpoint is compared whatever is wrong beside the journal`() throws {
        let before = try library.bytes
        try recordOne("C")
        try checkpoint(into: "second.checkpoint")
        try before.write(to: file("library.daybook"))
        try damageTag()

        let fitting = try verify("first.checkpoint")
        let fittingJSON = try verify(
            "first.checkpoint", ["--key", "public.key", "--output", "jsonl"])
        let other = try verify("second.checkpoint")
        let otherJSON = try verify(
            "second.checkpoint", ["--key", "public.key", "--output", "jsonl"])

        for result in [fitting, fittingJSON, other, otherJSON] {
            #expect(result.status == 3)
            #expect(!result.talk.contains("Truncation is not excluded"))
        }
        #expect(fitting.text.contains("The journal goes on from the checkpoint of 3 entries"))
        #expect(fittingJSON.text.contains(#""checkpoint":{"size":3,"holds":true}"#))
        #expect(other.text.contains("the checkpoint covers 4 entries, and there are 3."))
        #expect(otherJSON.text.contains(#""checkpoint":{"size":4,"holds":false}"#))
    }

    @Test func `a damaged journal is not compared with a checkpoint, and that is said`() throws {
        try library.damage("Furniture")

        let result = try verify("first.checkpoint")
        let json = try verify("first.checkpoint", ["--key", "public.key", "--output", "jsonl"])

        let gap = "The checkpoint was not compared, because the journal is damaged."
        #expect(result.status == 3)
        #expect(result.text.contains(gap))
        #expect(!result.text.contains("The journal goes on from the checkpoint"))
        #expect(!result.talk.contains("Truncation is not excluded"))
        #expect(json.text.contains(gap))
        #expect(json.text.contains(#""checkpoint":{"size":3,"holds":null}"#))
    }

    private func damageTag() throws {
        let tag = try library.run(["tag", "library.daybook", "printed-in-may", "2"])
        try #require(tag.status == 0, "\(tag.talk)")
        try library.damage("printed-in-may")
    }

    @Test func `a checkpoint that was changed is refused`() throws {
        let forged = try text("first.checkpoint").replacing("\n3\n", with: "\n2\n")
        try Data(forged.utf8).write(to: file("forged.checkpoint"))

        let result = try verify("forged.checkpoint")

        #expect(result.status == 1)
        #expect(result.talk.contains("The signature by 'example.org/library' does not fit"))
    }

    @Test func `a checkpoint by somebody else is refused`() throws {
        let other = try library.run(["keygen", "example.org/library", "--into", "other.key"])
        try other.output.write(to: file("other.pub"))

        let result = try verify("first.checkpoint", ["--key", "other.pub"])

        #expect(result.status == 1)
        #expect(result.talk.contains("not signed by 'example.org/library'"))
    }

    @Test func `a checkpoint of nobody is taken with a warning, or refused when it must be signed`()
        throws
    {
        let taken = try verify("first.checkpoint", [])
        let refused = try verify("first.checkpoint", ["--require-signed"])
        let alone = try library.run(["verify", "library.daybook", "--key", "public.key"])

        #expect(taken.status == 0)
        #expect(taken.talk.contains("Anyone may have written the checkpoint"))
        #expect(refused.status == 2)
        #expect(alone.status == 2)
    }

    @Test func `a proof is checked without the store`() throws {
        let proof = try library.run([
            "prove", "library.daybook", "2", "--checkpoint", "first.checkpoint", "--entry",
            "2.entry",
        ])
        try proof.output.write(to: file("2.tlog-proof"))
        try FileManager.default.removeItem(at: file("library.daybook"))

        let result = try check("2.tlog-proof")

        #expect(proof.status == 0)
        #expect(proof.text.hasPrefix("c2sp.org/tlog-proof@v1\nindex 1\n"))
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("Fine: it is entry 2 of 3 in the journal of "))
    }

    @Test func `with the entry that set the model, what was proved can be read`() throws {
        for number in ["1", "2", "3"] {
            let proof = try library.run([
                "prove", "library.daybook", number, "--checkpoint", "first.checkpoint", "--entry",
                "\(number).entry",
            ])
            try #require(proof.status == 0, "\(proof.talk)")
            try proof.output.write(to: file("\(number).tlog-proof"))
        }
        let said = try library.run(["show", "library.daybook", "2"])
        let json = try library.run(["show", "library.daybook", "2", "--output", "jsonl"])
        try FileManager.default.removeItem(at: file("library.daybook"))

        let read = try check("2.tlog-proof", ["--model", "1.entry"])
        let line = try check("2.tlog-proof", ["--model", "1.entry", "--output", "jsonl"])
        let wrong = try check("2.tlog-proof", ["--model", "3.entry"])
        let garbage = try check("2.tlog-proof", ["--model", "public.key"])

        #expect(read.status == 0)
        #expect(read.text.contains("\n\n" + said.text + "\n"))
        #expect(read.text.contains("Its names are those that entry 1 set"))
        let entry = json.text.trimmingCharacters(in: .newlines)
        #expect(line.text.contains(#","entry":\#(entry),"model":{"sequence":1,"#))
        #expect(wrong.status == 2)
        #expect(
            wrong.talk.contains("'3.entry' is entry 3, which does not set the model of entry 2"))
        #expect(garbage.status == 3)
        #expect(garbage.talk.contains("These are not the bytes of an entry"))
    }

    @Test func `a proof or an entry that was changed is refused`() throws {
        let proof = try library.run([
            "prove", "library.daybook", "2", "--checkpoint", "first.checkpoint", "--entry",
            "2.entry",
        ])
        try Data(proof.text.replacing("index 1", with: "index 2").utf8)
            .write(to: file("other.tlog-proof"))
        try proof.output.write(to: file("2.tlog-proof"))

        let other = try check("other.tlog-proof")
        var entry = try Data(contentsOf: file("2.entry"))
        entry[entry.count - 1] ^= 1
        try entry.write(to: file("2.entry"))
        let changed = try check("2.tlog-proof")

        for result in [other, changed] {
            #expect(result.status == 1)
            #expect(result.talk.contains("The entry is not number"))
        }
    }

    @Test func `an entry after the checkpoint cannot be proved by it`() throws {
        try recordOne("C")

        let result = try library.run([
            "prove", "library.daybook", "4", "--checkpoint", "first.checkpoint",
        ])

        #expect(result.status == 2)
        #expect(result.talk.contains("Entry 4 is not among the 3 entries of the checkpoint."))
    }

    @Test(arguments: ["private.key", "2.garbage", "missing.file"])
    func `what is no proof is refused`(name: String) throws {
        try Data("garbage\n".utf8).write(to: file("2.garbage"))
        try Data("entry".utf8).write(to: file("2.entry"))

        let result = try check(name)

        #expect(result.status == 2)
        #expect(!result.talk.isEmpty)
    }

    private func check(_ proof: String, _ options: [String] = []) throws -> ToolResult {
        try library.run(
            ["check", proof, "--entry", "2.entry", "--key", "public.key"] + options)
    }
}
