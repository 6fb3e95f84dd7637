import CDaybookLMDB
import DaybookLMDB
import DaybookTestSupport
import Foundation
import Testing

/// One data file and one lock file belong together, whatever process opens them by whatever name.
/// Exit tests are the other process.
@Suite(.serialized)
struct FilePairTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
    }

    private static let options = EnvironmentOptions(
        tables: ["a"], patience: LockPatience(limit: .milliseconds(50)))

    private static func open(_ path: String, readOnly: Bool = false) throws -> Environment {
        var options = options
        options.readOnly = readOnly
        return try Environment.open(at: path, options: options)
    }

    private static func put(_ environment: Environment, _ key: String) throws {
        let table = try environment.table("a")
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, key.bytes.span.bytes, .insertOnly)
        }
    }

    private static func count(_ environment: Environment) throws -> Int {
        let table = try environment.table("a")
        return try environment.read { try $0.count(table) }
    }

    /// Fails in the other process unless opening is refused.
    private static func expectInUse(
        _ path: String, readOnly: Bool = false, saying words: String...
    ) throws {
        do {
            let environment = try open(path, readOnly: readOnly)
            fatalError("\(environment.path) was opened")
        } catch let error as LMDBError {
            precondition(error.code == .alreadyOpen, error.message)
            for word in words { precondition(error.message.contains(word), error.message) }
        }
    }

    // MARK: - Several names

    @Test func `a symbolic link has no lock file of its own`() throws {
        let link = directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")

        let environment = try Self.open(link)
        try Self.put(environment, "one")

        #expect(environment.path.hasSuffix("/file"))
        #expect(FileManager.default.fileExists(atPath: path + "-lock"))
        #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
    }

    @Test func `two processes write together through a symbolic link`() async throws {
        let link = directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let environment = try Self.open(path)
        try Self.put(environment, "here")

        await #expect(processExitsWith: .success) { [link = link as String] in
            let environment = try Self.open(link)
            try Self.put(environment, "there")
        }

        try Self.put(environment, "here again")
        #expect(try Self.count(environment) == 3)
    }

    @Test
    func `a hard link is refused with the other name while another process has the file open`()
        async throws
    {
        let other = directory.path("hard")
        let environment = try Self.open(path)
        try FileManager.default.linkItem(atPath: path, toPath: other)

        await #expect(processExitsWith: .success) {
            [other = other as String, path = path as String] in
            for readOnly in [false, true] {
                try Self.expectInUse(other, readOnly: readOnly, saying: "'\(path)'", "process ")
            }
        }

        try Self.put(environment, "one")
        #expect(try Self.count(environment) == 1)
    }

    @Test func `a hard link can be opened once nobody has the other name open, killed or not`()
        async throws
    {
        let other = directory.path("hard")
        try Self.put(try Self.open(path), "one")
        try FileManager.default.linkItem(atPath: path, toPath: other)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Self.open(path)
            try Self.put(environment, "two")
            _ = kill(getpid(), SIGKILL)
        }

        let environment = try Self.open(other)

        #expect(try Self.count(environment) == 2)
    }

    @Test func `a child that was forked while the file was open does not keep it in use`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let (path, other) = (directory.path("file"), directory.path("hard"))
            func openAndCopyDescriptors() throws -> [Int32] {
                let environment = try Self.open(path)
                try Self.put(environment, "one")
                // As in the child after a fork.
                return withExtendedLifetime(environment) {
                    (3..<64 as Range<Int32>).map { dup($0) }
                }
            }
            let copies = try openAndCopyDescriptors()
            try FileManager.default.linkItem(atPath: path, toPath: other)

            let again = try Self.open(other)
            let count = try Self.count(again)
            precondition(count == 1)
            for copy in copies where copy >= 0 { close(copy) }
        }
    }

    @Test func `a file mounted elsewhere by itself is refused while the first one is open`()
        async throws
    {
        let mounted = try BindMount(path, onFile: directory.path("mounted"))
        defer { withExtendedLifetime(mounted) {} }
        let environment = try Self.open(path)

        await #expect(processExitsWith: .success) { [other = mounted.path as String] in
            try Self.expectInUse(other, saying: "with another lock file")
        }

        try Self.put(environment, "one")
    }

    @Test func `a folder mounted elsewhere is the same place`() async throws {
        let environment = try Self.open(path)
        let mounted = try BindMount(directory.url.path, onFolder: directory.path("mounted"))
        defer { withExtendedLifetime(mounted) {} }

        await #expect(processExitsWith: .success) { [other = mounted.path + "/file" as String] in
            let environment = try Self.open(other)
            try Self.put(environment, "there")
        }

        try Self.put(environment, "here")
        #expect(try Self.count(environment) == 2)
    }

    @Test func `a file whose lock file was deleted is refused to others while it is open`()
        async throws
    {
        let environment = try Self.open(path)
        try FileManager.default.removeItem(atPath: path + "-lock")

        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.expectInUse(path, saying: "its lock file was deleted")
        }

        try Self.put(environment, "one")
    }

    @Test func `a reader who cannot have a lock file is refused while others write`() async throws {
        let environment = try Self.open(path)
        let mounted = try BindMount(directory.url.path, onFolder: directory.path("mounted"))
        defer { withExtendedLifetime(mounted) {} }
        try mounted.makeReadOnly()

        await #expect(processExitsWith: .success) { [other = mounted.path + "/file" as String] in
            try Self.expectInUse(other, readOnly: true, saying: "cannot be written here")
        }

        try Self.put(environment, "one")
    }

    @Test func `who writes waits for a reader that has no lock file`() async throws {
        try Self.put(try Self.open(path), "one")
        let mounted = try BindMount(directory.url.path, onFolder: directory.path("mounted"))
        defer { withExtendedLifetime(mounted) {} }
        try mounted.makeReadOnly()
        let reader = try Self.open(mounted.path + "/file", readOnly: true)

        await #expect(processExitsWith: .success) {
            [path = path as String, process = getpid() as Int32] in
            do {
                let environment = try Self.open(path)
                fatalError("\(environment.path) was opened")
            } catch let error as LMDBError {
                precondition(error.code == .locked, error.message)
                precondition(error.message.hasPrefix("Process \(process) ('"), error.message)
                precondition(error.message.contains("has no lock file"), error.message)
            }
        }

        #expect(try Self.count(reader) == 1)
    }

    @Test func `a file is not removed or replaced while it is open under another name`()
        async throws
    {
        let environment = try Self.open(path)
        let other = directory.path("hard")
        try FileManager.default.linkItem(atPath: path, toPath: other)
        try Data("other".utf8).write(to: directory.url.appending(path: "new"))

        await #expect(processExitsWith: .success) {
            [other = other as String, new = directory.path("new") as String] in
            #expect(throws: LMDBError.self) { try Environment.remove(at: other) }
            #expect(throws: LMDBError.self) { try Environment.replace(at: other, withFileAt: new) }
            precondition(access(other, F_OK) == 0 && access(new, F_OK) == 0)
        }

        try Self.put(environment, "one")
    }

    // MARK: - A file that disappears

    @Test(arguments: ["deleted", "moved"])
    func `nothing is written to a file that was taken away while it was open`(how: String) throws {
        let environment = try Self.open(path)
        try Self.put(environment, "one")
        let aside = directory.path("aside")
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        if how == "deleted" { try FileManager.default.removeItem(atPath: aside) }

        let refusal = #expect(throws: LMDBError.self) { try Self.put(environment, "two") }

        #expect(refusal?.code == .replaced)
        #expect(refusal?.message.contains("deleted or moved") == true)
        #expect(try Self.count(environment) == 1)
        guard how == "moved" else { return }
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        try Self.put(environment, "two")
        #expect(try Self.count(environment) == 2)
    }

    @Test func `who has a replaced file open writes neither to it nor to the new one`() async throws
    {
        let environment = try Self.open(path)
        for number in 1...9 { try Self.put(environment, "\(number)") }
        let copy = directory.path("copy")
        try environment.copy(to: copy, compacting: true)
        #expect(rename(copy, path) == 0)

        let refusal = #expect(throws: LMDBError.self) { try Self.put(environment, "lost") }
        #expect(refusal?.code == .replaced)
        let sameProcess = #expect(throws: LMDBError.self) { try Self.open(path) }
        #expect(sameProcess?.code == .alreadyOpen)
        // The lock file of the old one has the number of the next transaction.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Self.open(path)
            for number in 10...14 { try Self.put(environment, "\(number)") }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Self.open(path)
            let count = try Self.count(environment)
            precondition(count == 14)
            try Self.put(environment, "15")
        }
        #expect(try PageCheck.run(path: path).allSatisfy { $0.severity != .damage })
        #expect(try Self.count(environment) == 9)
    }

    @Test func `a replaced file can be opened again once the old one is closed`() throws {
        var environment: Environment? = try Self.open(path)
        try Self.put(try #require(environment), "one")
        let copy = directory.path("copy")
        try environment?.copy(to: copy, compacting: true)
        #expect(rename(copy, path) == 0)
        environment = nil

        let new = try Self.open(path)

        try Self.put(new, "two")
        #expect(try Self.count(new) == 2)
    }

    // MARK: - Readers

    @Test func `readers are told apart by another number than that of their process`() async throws
    {
        let environment = try Self.open(path)
        try Self.put(environment, "one")
        #expect(try Self.count(environment) == 1)

        // LMDB locks the byte of its own number for each process that reads. Another process asks,
        // because a process is never told of its own locks.
        await #expect(processExitsWith: .success) {
            [lockFile = path + "-lock" as String, reader = getpid() as Int32] in
            let file = Foundation.open(lockFile, O_RDWR)
            precondition(file >= 0)
            func lock(of bytes: Range<Int>) -> flock {
                var lock = flock()
                lock.l_type = Int16(F_WRLCK)
                lock.l_whence = Int16(SEEK_SET)
                lock.l_start = bytes.lowerBound
                lock.l_len = bytes.count
                precondition(fcntl(file, F_GETLK, &lock) == 0)
                return lock
            }
            let processNumbers = lock(of: 1..<1 << 23)
            precondition(processNumbers.l_type == F_UNLCK, "\(processNumbers)")
            let numbers = lock(of: 1 << 23..<1 << 31)
            precondition(numbers.l_type == F_WRLCK && numbers.l_len == 1, "\(numbers)")
            precondition(numbers.l_pid == reader, "\(numbers), process \(reader)")
        }
        withExtendedLifetime(environment) {}
    }

    // MARK: - Standard descriptors

    @Test(arguments: 0..<8)
    func `a program without standard streams never prints into the file`(closed: Int) async {
        await #expect(processExitsWith: .success) { [closed = closed as Int] in
            let directory = try TemporaryDirectory()
            let path = directory.path("file")
            for stream in 0...2 where closed & (1 << stream) != 0 { close(Int32(stream)) }

            let environment = try Self.open(path)
            for stream in 0...2 as ClosedRange<Int32> where closed & (1 << stream) != 0 {
                _ = write(stream, "a warning", 9)
            }
            try Self.put(environment, "one")

            let count = try Self.count(environment)
            precondition(count == 1)
            for stream in 0...2 as ClosedRange<Int32> where closed & (1 << stream) != 0 {
                precondition(lseek(stream, 0, SEEK_END) == 0, "\(stream) is a file.")
            }
        }
    }
}

/// A file or folder mounted at a second location, as in containers, until this value is released.
private final class BindMount {
    let path: String

    convenience init(_ source: String, onFile path: String) throws {
        // Both must exist to be mounted.
        for path in [source, path] { try Data().write(to: URL(fileURLWithPath: path)) }
        try Data().write(to: URL(fileURLWithPath: source + "-lock"))
        try self.init(source, on: path)
    }

    convenience init(_ source: String, onFolder path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        try self.init(source, on: path)
    }

    private init(_ source: String, on path: String) throws {
        self.path = path
        try Self.run("mount", ["--bind", source, path])
    }

    func makeReadOnly() throws {
        try Self.run("mount", ["-o", "remount,bind,ro", path])
    }

    private static func run(_ name: String, _ arguments: [String]) throws {
        let program = try #require(BuiltTool.system(name), "'\(name)' must be installed.")
        let ran = try ChildProcess.run(program, arguments)
        try #require(
            ran.ending == .exited(0), "These tests need the right to mount: \(ran.talk)")
    }

    deinit {
        #expect(throws: Never.self) { try Self.run("umount", ["-l", path]) }
    }
}
