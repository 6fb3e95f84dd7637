import DaybookTestSupport
import Foundation
import Testing

/// What holds for a folder: `.daybook/config`.
@Suite struct ConfigurationTests {
    private let library: LibraryStore
    /// A folder two levels below that of the store.
    private let below: URL

    init() throws {
        library = try LibraryStore()
        below = library.folder.url.appending(path: "a/b")
        try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
    }

    private func configure(_ text: String, in folder: URL? = nil) throws {
        let place = (folder ?? library.folder.url).appending(path: ".daybook")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: place.appending(path: "config"))
    }

    private func run(
        _ line: String, in folder: URL? = nil, environment: String = ""
    ) throws -> ToolResult {
        try Tool.shell("cd '\((folder ?? below).path)'; \(environment) \"$DAYBOOK\" \(line)")
    }

    @Test func `lines below do without the name of the store`() throws {
        try configure("# The books\n\nstore = library.daybook\n")

        for folder in [below, library.folder.url] {
            let log = try run("log --oneline", in: folder)
            #expect(log.status == 0, "\(log.talk)")
            #expect(log.lines.count == 3)
        }
        #expect(try run("--complete fetch Boo").lines == ["Book"])
    }

    @Test
    func `entries have the author that is configured, unless the line or the environment says`()
        throws
    {
        try configure("store = library.daybook\nauthor = Grace Hopper\n")

        for line in ["add Shelf label=C", "set Shelf/1 label=Z", "undo head", "tag here"] {
            let made = try run(line)
            #expect(made.status == 0, "\(line): \(made.talk)")
        }
        #expect(
            try run("log --oneline").lines.prefix(3).allSatisfy { $0.contains("by Grace Hopper") })
        #expect(try run("tag").text.contains("Grace Hopper"))
        _ = try run("add Shelf label=D --author Ada")
        #expect(try run("log -n 1").text.contains("by Ada"))
        _ = try run("add Shelf label=E", environment: "DAYBOOK_AUTHOR=Bob")
        #expect(try run("log -n 1").text.contains("by Bob"))
        // What is asked for is not what is written.
        #expect(try run("log --oneline").lines.count == 8)
    }

    @Test func `a short name stands for a line`() throws {
        try configure(
            "store = library.daybook\nalias.recent = log --oneline --limit 1\n"
                + "alias.by = log --author 'Ada' --oneline\n")

        #expect(try run("recent").lines.count == 1)
        #expect(try run("recent --author registry").text.contains("Furniture"))
        #expect(try run("--no-pager by").lines.count == 1)
        let shell = try Tool.shell(
            "cd '\(below.path)'; printf 'recent\\n' | \"$DAYBOOK\" shell '\(library.folder.url.path)/library.daybook'"
        )
        #expect(shell.status == 0, "\(shell.talk)")
        #expect(shell.lines.count == 1)
        let wrong = try run("recnt")
        #expect(wrong.status == 2)
        #expect(wrong.talk.contains("'recent'"))
    }

    @Test func `the nearest file counts, and the environment more`() throws {
        try configure("store = gone.daybook\n")
        try configure("store = ../../library.daybook\ncolor = always\n", in: below)

        #expect(try run("log -n 1").text.contains("\u{1B}["))
        #expect(try !run("log -n 1 --color never").text.contains("\u{1B}["))
        let above = try run("log", in: library.folder.url)
        #expect(above.status != 0)
        #expect(
            try run(
                "log -n 1", in: library.folder.url, environment: "DAYBOOK_STORE=library.daybook"
            )
            .status == 0)
    }

    @Test(arguments: [
        ("stroe = a", "line 1: There is nothing called 'stroe'"),
        ("store", "line 1: 'store' is not"),
        ("\nstore =", "line 2: 'store' has no value"), ("color = red", "'color' is 'auto'"),
        ("alias.log = show head", "'log' is a command already"),
        ("alias.x = 'log", "A quote is not closed"), ("alias.x = rm -rf", "'rm' is no command"),
        ("store = a\nauthor = b\nstore = c", "line 3: 'store' stands on line 1 already."),
        ("alias.x = log\nalias.x = show", "line 2: 'alias.x' stands on line 1 already."),
        ("author = \"Ada\"", "The value of 'author' stands without quotes."),
        ("store = 'a b'", "The value of 'store' stands without quotes."),
        ("author = Ada # me", "A remark stands on a line of its own, not behind 'author'."),
        ("alias.-x = log", "cannot be a short name"), ("alias. = log", "cannot be a short name"),
    ])
    func `a mistake is told with its place, and help is there all the same`(
        text: String, message: String
    ) throws {
        try configure(text)

        let refused = try run("log")
        #expect(refused.status == 2)
        #expect(refused.talk.contains("/.daybook/config'"))
        #expect(refused.talk.contains(message), "\(refused.talk)")
        #expect(try run("help log").status == 0)
        #expect(try run("--version").status == 0)
    }

    @Test func `lines may end as in other systems`() throws {
        try configure("# Books\r\nstore = library.daybook\r\nauthor = Ada\r\n")

        #expect(try run("log -n 1").status == 0)
    }

    @Test func `a working folder that is gone is in no configuration`() throws {
        let store = library.folder.url.appending(path: "library.daybook").path
        let gone = try Tool.shell(
            "cd '\(below.path)' && rmdir '\(below.path)' && "
                + "timeout 60 \"$DAYBOOK\" log -n 1 --oneline '\(store)'")

        #expect(gone.status == 0, "\(gone.talk)")
        #expect(gone.lines.count == 1)
    }

    @Test func `a file that is too long, or no text, is refused`() throws {
        for bytes in [
            Data(repeating: UInt8(ascii: "#"), count: 70_000), Data([0xff, 0xfe, 0x00]),
        ] {
            try configure("")
            try bytes.write(to: library.folder.url.appending(path: ".daybook/config"))
            let refused = try run("log")
            #expect(refused.status == 2)
            #expect(refused.talk.contains("is no configuration"))
        }
    }

    @Test func `a pipe is no configuration, and no name is repaired`() throws {
        let place = below.appending(path: ".daybook")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let log = "log ../../library.daybook"
        let piped = try run(
            log, environment: "mkfifo .daybook/config; timeout 20")
        #expect(piped.status == 2)
        #expect(piped.talk.contains("it is a pipe"), "\(piped.talk)")
        try FileManager.default.removeItem(at: place)

        for name in ["DAYBOOK_AUTHOR", "DAYBOOK_STORE"] {
            let named = try run(log, environment: "env \(name)=$(printf 'x\\377')")
            #expect(named.status == 2, "\(name)")
            #expect(named.talk.contains("\(name) is not UTF-8"), "\(named.talk)")
        }
    }

    @Test func `a file of somebody else is not read`() throws {
        try configure("store = library.daybook\nalias.recent = undo head\n")
        let path = library.folder.url.appending(path: ".daybook/config").path
        // Only the system's user can give files away; for others there is none of somebody else to try.
        guard getuid() == 0 else { return }
        try #require(chown(path, 12_345, 12_345) == 0)

        let log = try run("log '\(library.folder.url.path)/library.daybook' --oneline")

        #expect(log.status == 0)
        #expect(log.talk.contains("belongs to somebody else"))
        #expect(try run("recent").status == 2)
    }
}
