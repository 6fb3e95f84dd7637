import DaybookTestSupport
import Foundation
import Testing

/// Unusable stores: one sentence, the right exit code, the file unchanged.
@Suite struct UnusableStoreTests {
    /// Every command that opens a store, without the store.
    static let commands: [[String]] = [
        ["record"], ["fetch", "Shelf"], ["undo", "2"], ["redo", "2"], ["replay"], ["verify"],
        ["log"], ["stats"], ["export", "--format", "jsonl"], ["blame", "Shelf/1"],
        ["bisect", "Shelf", "--where", "TRUEPREDICATE"], ["document"], ["tag"], ["tag", "v1"],
    ]

    private let library: LibraryStore
    private var file: URL { library.folder.url.appending(path: "library.daybook") }

    init() throws {
        library = try LibraryStore()
    }

    private func expectRefusal(
        _ words: [String], _ path: String = "library.daybook", status: Int32 = 3,
        saying part: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = FileManager.default.contents(atPath: file.path)
        let line = [words[0], path] + words.dropFirst()

        let result = try library.run(
            line, input: #"{"op":"insert","entity":"Shelf","values":{"label":"X"}}"#)

        #expect(result.status == status, "\(line)", sourceLocation: sourceLocation)
        // Findings of a check go to standard output, a refusal to standard error.
        let said = result.talk + result.text
        #expect(said.contains(part), "\(line): \(said)", sourceLocation: sourceLocation)
        if !result.talk.isEmpty, words != ["verify"] {
            #expect(
                result.talk.wholeMatch(of: /error: [^\n]+\n/) != nil, "\(result.talk)",
                sourceLocation: sourceLocation)
        }
        #expect(
            FileManager.default.contents(atPath: file.path) == before, "\(line)",
            sourceLocation: sourceLocation)
    }

    @Test(arguments: commands)
    func `a file that is not there is not made`(words: [String]) throws {
        try expectRefusal(words, "none.daybook", saying: "There is no file 'none.daybook'")

        #expect(
            !FileManager.default.fileExists(
                atPath: library.folder.url.appending(path: "none.daybook").path))
    }

    @Test(arguments: commands)
    func `a file of something else is refused`(words: [String]) throws {
        try Data(String(repeating: "This is a letter. ", count: 1_000).utf8).write(to: file)

        try expectRefusal(words, saying: "not a Daybook store")
    }

    @Test(arguments: commands)
    func `an empty file is refused`(words: [String]) throws {
        try Data().write(to: file)
        try FileManager.default.removeItem(atPath: file.path + "-lock")

        try expectRefusal(words, saying: "not a Daybook store")
    }

    @Test(arguments: commands)
    func `a folder is refused`(words: [String]) throws {
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)

        try expectRefusal(words, saying: "not a Daybook store")
    }

    @Test(arguments: commands)
    func `a truncated store is refused`(words: [String]) throws {
        try library.bytes.prefix(20_000).write(to: file)

        try expectRefusal(words, saying: words == ["verify"] ? "not in the file" : "truncated")
    }

    /// Makes the store say that it has another format than the one there is, 1.
    private func setFormat(_ format: UInt8) throws {
        var bytes = try library.bytes
        // The number follows its name, and a digest of both follows the number.
        let name = Data("format".utf8)
        let digest = try Tool.shell(
            "printf 'format\\0\\0\\0\\\(format)' | sha256sum | xxd -r -p"
        ).output
        let place = try #require(bytes.range(of: name + Data([0, 0, 0, 1])))
        bytes.replaceSubrange(
            place.lowerBound..<place.upperBound + digest.count,
            with: name + [0, 0, 0, format] + digest)
        try bytes.write(to: file)
    }

    @Test(arguments: commands, [0, 2, 4])
    func `a store of another format is refused with both numbers`(
        words: [String], format: UInt8
    ) throws {
        try setFormat(format)

        try expectRefusal(
            words,
            saying: "says that it has format \(format), and this version of Daybook reads format 1")
    }

    @Test(.enabled(if: Privileges.canActAsNobody), arguments: commands)
    func `a store without permission is refused`(words: [String]) throws {
        let path = file.path
        let tool = library.folder.url.appending(path: "daybook").path
        // Not copied by this process: a child that another test starts meanwhile would have the copy open for writing.
        let copied = try Tool.shell("cp '\(Tool.url.path)' '\(tool)'")
        #expect(copied.status == 0, "\(copied.talk)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let before = try library.bytes
        let line = ([words[0], path] + words.dropFirst()).joined(separator: " ")

        let result = try Tool.shell("\(Privileges.asNobody) '\(tool)' \(line) < /dev/null")

        #expect(result.status == 3, "\(result.talk)")
        #expect(
            result.talk.wholeMatch(of: /error: [^\n]*[Pp]ermi[^\n]*\n/) != nil,
            "\(result.talk)")
        #expect(try library.bytes == before)
    }

    @Test(.enabled(if: Privileges.canMount))
    func `a full disk keeps what was acknowledged and says so`() throws {
        let disk = library.folder.url.appending(path: "disk").path
        let model = Fixture.folder.appending(path: "models/library.json").path
        let result = try Tool.shell(
            """
            mkdir '\(disk)' && mount -t tmpfs -o size=1m tmpfs '\(disk)' || exit 99
            trap "cd /; umount '\(disk)'" EXIT
            cd '\(disk)'
            $DAYBOOK init full.daybook --model '\(model)' > /dev/null || exit 98
            for i in $(seq 2000); do
                printf '{"op":"insert","entity":"Shelf","values":{"label":"%01000d"}}\\n' $i
                echo '{"op":"save"}'
            done | $DAYBOOK record full.daybook --output jsonl > ../acknowledged
            echo "exit ${PIPESTATUS[1]}"
            wc -l < ../acknowledged
            $DAYBOOK fetch full.daybook Shelf --count
            $DAYBOOK verify full.daybook > /dev/null 2> /dev/null
            echo "verify $?"
            """)

        let lines = result.lines
        try #require(lines.count == 4, "\(result.text)\(result.talk)")
        #expect(lines[0] == "exit 2")
        #expect(lines[1] == lines[2])
        #expect((Int(lines[1]) ?? 0) > 0)
        #expect(lines[3] == "verify 0")
        #expect(result.talk.contains("full"), "\(result.talk)")
    }

    @Test(.enabled(if: Privileges.canMount))
    func `a disk too full for a new store keeps no part of one`() throws {
        let disk = library.folder.url.appending(path: "disk").path
        let model = Fixture.folder.appending(path: "models/library.json").path
        let result = try Tool.shell(
            """
            mkdir '\(disk)' && mount -t tmpfs -o size=16k tmpfs '\(disk)' || exit 99
            trap "cd /; umount '\(disk)'" EXIT
            cd '\(disk)'
            $DAYBOOK init new.daybook --model '\(model)'; echo "exit $?"
            ls
            """)

        #expect(result.lines.first == "exit 2", "\(result.text)\(result.talk)")
        #expect(result.talk.wholeMatch(of: /error: [^\n]+\n/) != nil, "\(result.talk)")
        #expect(!result.lines.contains("new.daybook"))
    }
}

/// The rights of the user who runs the tests. Root is refused no file, so another user is used.
private enum Privileges {
    static let asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"

    static let canActAsNobody = succeeds("\(asNobody) true")

    static let canMount = succeeds(
        "d=$(mktemp -d) && mount -t tmpfs -o size=16k tmpfs $d && umount $d && rmdir $d")

    private static func succeeds(_ line: String) -> Bool {
        do {
            return try Tool.shell("(\(line)) > /dev/null 2>&1").status == 0
        } catch {
            return false
        }
    }
}
