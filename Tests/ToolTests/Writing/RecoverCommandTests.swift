import DaybookTestSupport
import Foundation
import Testing

/// `daybook recover`.
@Suite struct RecoverCommandTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    @Test func `a store that is whole is recovered whole, also without its first pages`() throws {
        let whole = try library.run(["recover", "library.daybook", "--into", "new.daybook"])
        #expect(whole.status == 0, "\(whole.talk)")
        #expect(
            whole.text.hasPrefix(
                "Recovered all 3 entries into 'new.daybook'; the journal is the same"))
        var bytes = try library.bytes
        bytes.replaceSubrange(0..<8_192, with: Data(count: 8_192))
        try bytes.write(to: library.folder.url.appending(path: "damaged.daybook"))

        let torn = try library.run(["recover", "damaged.daybook", "-o", "other.daybook"])

        #expect(torn.status == 1)
        #expect(
            torn.lines == [
                "Recovered 3 entries as they were into 'other.daybook'; the tag 'recovered' stands at the last "
                    + "of them.",
                "The file does not say any more how many entries there were.",
                "Tags, cursors and kept values were lost, and the store has a new identifier.",
            ])
        for copy in ["new.daybook", "other.daybook"] {
            #expect(try library.run(["verify", copy]).status == 0)
            #expect(
                try library.run(["export", copy, "-f", "jsonl"]).output
                    == library.run(["export", "library.daybook", "-f", "jsonl"]).output)
        }
    }

    @Test func `recovery is whole only if no entry is lost, whichever page is`() throws {
        let lines = (4...60).flatMap { number in
            [
                #"{"op":"insert","entity":"Shelf","values":{"label":"\#(number)"}}"#,
                #"{"op":"save"}"#,
            ]
        }
        #expect(try library.record(lines.joined(separator: "\n")).status == 0)
        let bytes = try library.bytes
        var wholeCount = 0
        for page in 2..<bytes.count / 4_096 {
            var damaged = bytes
            let range = page * 4_096..<(page + 1) * 4_096
            damaged.replaceSubrange(range, with: Data(count: 4_096))
            try damaged.write(to: library.folder.url.appending(path: "damaged.daybook"))

            let result = try library.run([
                "recover", "damaged.daybook", "--into", "\(page).daybook",
            ])

            if result.status == 0 {
                wholeCount += 1
                #expect(
                    result.text.hasPrefix("Recovered all 60 entries"), "page \(page): \(result)")
            }
        }
        #expect(wholeCount > 0)
    }

    @Test func `what is missing, carried out again and left out is told`() throws {
        let lines = [
            #"{"op":"insert","entity":"Shelf","values":{"label":"Lost"}}"#, #"{"op":"save"}"#,
            #"{"op":"insert","entity":"Shelf","values":{"label":"Later"}}"#, #"{"op":"save"}"#,
            #"{"op":"update","entity":"Shelf","match":{"label":"Lost"},"values":{"label":"Gone"}}"#,
        ]
        _ = try library.record(lines.joined(separator: "\n"))
        var bytes = try library.bytes
        // The label stands in the entry, and in rows and indexes, from which nothing is taken.
        var place = bytes.startIndex
        while let found = bytes.range(of: Data("Lost".utf8), in: place..<bytes.endIndex) {
            bytes[found.lowerBound] = 0x6C
            place = found.upperBound
        }
        try bytes.write(to: library.folder.url.appending(path: "damaged.daybook"))

        let result = try library.run(["recover", "damaged.daybook", "--into", "new.daybook"])

        #expect(result.status == 1)
        #expect(
            result.lines == [
                "Recovered 3 entries as they were into 'new.daybook'; the tag 'recovered' stands at the last of "
                    + "them.",
                "Missing: entry 4.", "Missing: entry 6.",
                "Carried out again: 1 entry, up to entry 5, which is entry 4 now.",
            ])
        let json = try library.run([
            "recover", "damaged.daybook", "--into", "json.daybook", "--output", "json",
        ])
        let document = try #require(
            try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
        #expect(document["complete"] as? Bool == false)
        #expect(document["unchanged"] as? Int == 3 && document["repeated"] as? Int == 1)
        let log = try library.run(["log", "new.daybook", "--output", "jsonl", "-n", "1"])
        #expect(log.text.contains(#""recovered":"entry 5, digest "#))
        #expect(try library.run(["verify", "new.daybook"]).status == 0)
    }

    @Test func `a name that is taken and a file that is no store are refused, and nothing is left`()
        throws
    {
        try Data("no store".utf8).write(to: library.folder.url.appending(path: "text"))
        for (words, status) in [
            (["recover", "library.daybook", "--into", "text"], 2),
            (["recover", "text", "--into", "new.daybook"], 3),
            (["recover", "nothing", "--into", "new.daybook"], 3), (["recover", "text"], 2),
        ] {
            let result = try library.run(words)
            #expect(result.status == Int32(status), "\(words): \(result.talk)")
            #expect(result.talk.hasPrefix("error: "))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)
        #expect(files.sorted() == ["library.daybook", "library.daybook-lock", "text"])
    }
}
