import DaybookTestSupport
import Foundation
import Testing

/// Attacks on the check of a store itself.
@Suite struct VerificationProcessTests {
    private let library: LibraryStore
    private var file: URL { library.folder.url.appending(path: "library.daybook") }

    init() throws {
        library = try LibraryStore()
    }

    private func damage() throws {
        var bytes = try library.bytes
        let note = try #require(bytes.range(of: Data("Furniture".utf8)))
        bytes[note.lowerBound] ^= 1
        try bytes.write(to: file)
    }

    private func shell(_ line: String) throws -> ToolResult {
        try Tool.shell("cd '\(library.folder.url.path)'\n\(line)")
    }

    @Test(arguments: ["DAYBOOK_VERIFICATION_PROCESS=1", "DAYBOOK_VERIFICATION_PROCESS=verify"])
    func `a mark in the environment does not make a damaged store sound`(mark: String) throws {
        try damage()

        let result = try shell("\(mark) $DAYBOOK verify library.daybook")

        #expect(result.status == 3)
        #expect(result.lines.last == "1 finding.", "\(result.text)")
    }

    @Test func `the process that checks tells its result in its exit code, too`() throws {
        let sound = try library.run(["verification-process", "library.daybook", "60.0"])
        try damage()
        let damaged = try library.run(["verification-process", "library.daybook", "60.0"])

        #expect(sound.status == 0)
        #expect(damaged.status == 3)
    }

    @Test func `a file exchanged after the check is not what a checkpoint is compared with`()
        throws
    {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let made = try shell(
            """
            $DAYBOOK keygen example.org/library --into key > key.pub
            $DAYBOOK checkpoint library.daybook -k key > checkpoint
            """)
        try #require(made.status == 0, "\(made.talk)")

        // Only the checking process may open the store, and it opens it for one read: the tracer
        // does not follow child processes, and never sees it.
        let result = try shell(
            """
            '\(strace.path)' -qq -o trace -e trace=open,openat,openat2 \\
                $DAYBOOK verify library.daybook --checkpoint checkpoint --key key.pub
            echo "exit $?"
            grep -c checkpoint trace
            grep library.daybook trace
            """)

        #expect(result.lines.dropLast().last == "exit 0", "\(result.text)\(result.talk)")
        #expect(result.lines.last == "1", "\(result.text)")
    }

    @Test(arguments: ["KILL", "TERM", "HUP"])
    func `a check that is ended from outside is not damage`(signal: String) throws {
        let result = try injecting("signal=\(signal)")

        #expect(result.status == 4, "\(result.text)\(result.talk)")
        #expect(result.text.isEmpty)
        let sentence = "error: The check of 'library.daybook' was ended from outside"
        #expect(result.talk.contains(sentence), "\(result.talk)")
        #expect(!result.talk.contains("damage"), "\(result.talk)")
    }

    @Test(arguments: ["SEGV", "BUS", "TRAP"])
    func `a check that what it reads has ended is a finding`(signal: String) throws {
        let result = try injecting("signal=\(signal)")

        #expect(result.status == 3, "\(result.text)\(result.talk)")
        #expect(result.text.hasSuffix("1 finding.\n"))
    }

    @Test func `a copy whose check is ended from outside is not called unsound`() throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        var ended = 0
        for number in 1...30 {
            let result = try shell(
                """
                rm -f copy*
                '\(strace.path)' -f -qqq -o /dev/null -e trace=pread64 \\
                    -e inject=pread64:signal=KILL:when=\(number) \\
                    $DAYBOOK backup library.daybook copy
                """)

            // The signal ends the first process, or the second, or none.
            #expect([137, 4, 0].contains(result.status), "\(number): \(result.talk)")
            #expect(!result.talk.contains("not sound"), "\(number): \(result.talk)")
            if result.status == 4 { ended += 1 }
            if result.status == 0 { break }
        }
        #expect(ended > 0)
    }

    /// Verifies while a signal arrives at the first read of a page.
    private func injecting(_ injection: String) throws -> ToolResult {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        return try shell(
            """
            '\(strace.path)' -f -qqq -o /dev/null -P library.daybook -e trace=pread64 \\
                -e inject=pread64:\(injection):when=1 $DAYBOOK verify library.daybook
            """)
    }

    @Test(arguments: [
        ["verify"], ["backup", "copy"], ["compact", "--into", "copy"], ["bisect", "--run", "true"],
    ])
    func `without descriptors to be had, a second program ends with a sentence`(
        words: [String]
    ) throws {
        let prlimit = try #require(BuiltTool.system("prlimit"))
        let line = ([words[0], "library.daybook"] + words.dropFirst()).joined(separator: " ")
        // The same answer at both ends is a finding for bisect, and no error.
        let fine: Set<Int32> = words[0] == "bisect" ? [1] : [0]

        for limit in 4...24 {
            let result = try shell(
                "rm -f copy; '\(prlimit.path)' --nofile=\(limit) $DAYBOOK \(line) > said")

            // Below a certain number not even the libraries can be loaded.
            if result.talk.contains("loading shared libraries") { continue }
            #expect(
                fine.union([2, 3, 4]).contains(result.status), "\(limit): \(result.talk)")
            #expect(
                fine.contains(result.status) || result.talk.contains("error: "),
                "\(limit): \(result.talk)")
            let said = try String(
                contentsOf: library.folder.url.appending(path: "said"), encoding: .utf8)
            #expect(!said.contains("damaged"), "\(limit): \(said)")
        }
    }

    @Test func `a pipe in place of a store is not waited for`() throws {
        let result = try shell("mkfifo pipe; timeout 20 $DAYBOOK verify pipe")

        #expect(result.status == 3)
        #expect(result.talk.contains("'pipe' is not a regular file"), "\(result.talk)")
    }

    @Test func `with a checkpoint, it is said that tags and the identifier are in none`() throws {
        let result = try shell(
            """
            $DAYBOOK keygen example.org/library --into key > key.pub
            $DAYBOOK checkpoint library.daybook -k key > checkpoint
            $DAYBOOK tag library.daybook v1 2 > /dev/null
            $DAYBOOK verify library.daybook --checkpoint checkpoint --key key.pub
            """)

        #expect(result.status == 0)
        #expect(
            result.lines.last?.hasSuffix(
                "Tags, cursors, the store's identifier and whatever else is kept beside the "
                    + "journal are in no checkpoint.") == true, "\(result.text)")
    }
}
