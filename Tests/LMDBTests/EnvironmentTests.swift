import DaybookLMDB
import DaybookTestSupport
import Foundation
import Testing

@Suite struct EnvironmentTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(
        _ name: String = "file", _ options: EnvironmentOptions = EnvironmentOptions(tables: ["a"])
    ) throws -> Environment {
        try Environment.open(at: directory.path(name), options: options)
    }

    private func refusal(_ name: String, _ options: EnvironmentOptions) -> LMDBError? {
        #expect(throws: LMDBError.self) { try open(name, options) }
    }

    private func put(_ environment: Environment, _ number: UInt64, length: Int = 8) throws {
        let table = try environment.table("a")
        try environment.write { transaction in
            var key = KeyWriter()
            key.append(number)
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
            try transaction.put(table, key.bytes.span.bytes, value.span.bytes, .upsert)
        }
    }

    private func count(_ environment: Environment) throws -> Int {
        let table = try environment.table("a")
        return try environment.read { try $0.count(table) }
    }

    // MARK: - Writing together

    @Test func `every write of many threads is kept`() throws {
        let environment = try open()

        try onThreads(16) { thread in
            for step in 0..<25 {
                try self.put(environment, UInt64(thread * 1_000 + step))
            }
        }

        #expect(try count(environment) == 400)
    }

    @Test func `writes that wait together share a commit`() throws {
        let environment = try open()
        let before = try environment.statistics.lastTransaction

        try onThreads(16) { thread in
            for step in 0..<25 {
                try self.put(environment, UInt64(thread * 1_000 + step))
            }
        }

        let commits = try environment.statistics.lastTransaction - before
        #expect(commits < 400)
    }

    @Test func `a body that fails takes no other with it`() throws {
        struct Refusal: Error {}
        let environment = try open()
        let table = try environment.table("a")

        try onThreads(8) { thread in
            for step in 0..<20 {
                guard thread % 2 == 0 else {
                    try self.put(environment, UInt64(thread * 1_000 + step))
                    continue
                }
                #expect(throws: Refusal.self) {
                    try environment.write { transaction in
                        let key = "bad \(thread) \(step)".bytes
                        try transaction.put(table, key.span.bytes, key.span.bytes, .upsert)
                        throw Refusal()
                    }
                }
            }
        }

        #expect(try count(environment) == 80)
    }

    // MARK: - Growth

    @Test func `the map grows under load while others read`() throws {
        let options = EnvironmentOptions(
            tables: ["a"], durability: .relaxed, mapSize: 64 << 10)
        let environment = try open("file", options)
        let table = try environment.table("a")
        let mapBefore = try environment.statistics.mapSize

        try onThreads(6) { thread in
            for step in 0..<150 {
                if thread < 3 {
                    try self.put(environment, UInt64(thread * 1_000 + step), length: 1_500)
                } else {
                    try environment.read { transaction in
                        let counted = try transaction.count(table)
                        var walked = 0
                        try transaction.scan(
                            table, from: "".bytes.span.bytes, to: nil, order: .ascending
                        ) { key, value in
                            var reader = KeyReader()
                            let number = try reader.uint64(key)
                            #expect(value.array.first == UInt8(truncatingIfNeeded: number))
                            walked += 1
                            return .proceed
                        }
                        #expect(walked == counted)
                    }
                }
            }
        }

        #expect(try count(environment) == 450)
        #expect(try environment.statistics.mapSize > mapBefore)
    }

    @Test func `one write larger than the whole map goes through`() throws {
        let environment = try open("file", EnvironmentOptions(tables: ["a"], mapSize: 64 << 10))

        try put(environment, 1, length: 5_000_000)

        #expect(try count(environment) == 1)
    }

    // MARK: - Opening twice

    @Test func `the same file opened twice by different paths is shared`() throws {
        let first = try open()
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link"), withDestinationPath: directory.path("file"))
        let second = try open("link")

        try put(first, 1)
        try put(second, 2)

        #expect(try count(first) == 2)
        #expect(try first.table("a") == second.table("a"))
    }

    @Test func `a file closed and opened again has what was written`() throws {
        do { try put(try open(), 1) }

        #expect(try count(try open()) == 1)
    }

    // MARK: - Reading only

    @Test func `an environment opened for reading refuses to write`() throws {
        do { try put(try open(), 1) }
        let path = directory.path("file")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let reading = EnvironmentOptions(tables: ["a"], readOnly: true)

        do {
            let environment = try open("file", reading)
            let error = #expect(throws: LMDBError.self) { try put(environment, 2) }
            #expect(error?.code == .readOnly)
            #expect(try count(environment) == 1)
        }

        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `a second opening for reading cannot write through the first`() throws {
        let writing = try open()
        let reading = try open("file", EnvironmentOptions(tables: ["a"], readOnly: true))

        #expect(throws: LMDBError.self) { try put(reading, 1) }
        #expect(try count(writing) == 0)
    }

    @Test func `a file open for reading cannot be opened for writing beside it`() throws {
        do { try put(try open(), 1) }
        let reading = try open("file", EnvironmentOptions(tables: ["a"], readOnly: true))

        #expect(refusal("file", EnvironmentOptions(tables: ["a"]))?.code == .alreadyOpen)
        withExtendedLifetime(reading) {}
    }

    // MARK: - Unfit files

    struct Unfit: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var code: LMDBError.Code

        var testDescription: String { name }
    }

    @Test(arguments: [
        Unfit(name: "empty", bytes: [], code: .emptyFile),
        Unfit(name: "short", bytes: [1, 2, 3], code: .notLMDB),
        Unfit(name: "text", bytes: Array(repeating: 65, count: 20_000), code: .notLMDB),
    ])
    func `a file that is not LMDB's is refused and left as it was`(unfit: Unfit) throws {
        let path = directory.path(unfit.name)
        try Data(unfit.bytes).write(to: URL(fileURLWithPath: path))

        for readOnly in [true, false] {
            let options = EnvironmentOptions(tables: ["a"], readOnly: readOnly)
            #expect(refusal(unfit.name, options)?.code == unfit.code)
        }

        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) == unfit.bytes)
        #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
    }

    @Test func `a truncated file is refused before it is touched`() throws {
        do { try put(try open(), 1, length: 100_000) }
        let path = directory.path("file")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))

        let error = refusal("file", EnvironmentOptions(tables: ["a"], readOnly: true))

        #expect(error?.code == .truncated)
    }

    @Test func `another version of the format is refused`() throws {
        do { try put(try open(), 1) }
        let path = directory.path("file")
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[20] = 2
        try Data(bytes).write(to: URL(fileURLWithPath: path))

        #expect(refusal("file", EnvironmentOptions(tables: ["a"]))?.code == .versionMismatch)
    }

    @Test func `another program's LMDB file gets no tables of ours`() throws {
        do { try put(try open(), 1) }
        let path = directory.path("file")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let error = refusal("file", EnvironmentOptions(tables: ["b"]))

        #expect(error?.code == .noSuchTable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `a folder and a missing file are told apart`() throws {
        let options = EnvironmentOptions(tables: ["a"], create: false)

        #expect(refusal(".", options)?.code == .isDirectory)
        #expect(refusal("nothing", options)?.code == .noSuchFile)
        #expect(refusal("no/folder", EnvironmentOptions(tables: ["a"]))?.code == .noSuchFile)
    }

    // MARK: - Permissions

    /// Drops the superuser's rights, if it has them, for those of the user `nobody`.
    private static func dropRights() {
        if geteuid() == 0 { precondition(setgid(65_534) == 0 && setuid(65_534) == 0) }
    }

    private static func makeFile(in directory: TemporaryDirectory) throws -> String {
        let path = directory.path("file")
        let environment = try Environment.open(at: path, options: EnvironmentOptions(tables: ["a"]))
        withExtendedLifetime(environment) {}
        return path
    }

    @Test func `reading needs no right to write the file when the lock file can be used`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = try Self.makeFile(in: directory)
            chmod(path, 0o444)
            chmod(path + "-lock", 0o666)
            chmod(directory.url.path, 0o777)
            Self.dropRights()

            let environment = try Environment.open(
                at: path, options: EnvironmentOptions(tables: ["a"], readOnly: true))
            let table = try environment.table("a")
            let count = try environment.read { try $0.count(table) }
            precondition(count == 0)
        }
    }

    @Test func `a file in a folder that cannot be written is read without locks`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = try Self.makeFile(in: directory)
            unlink(path + "-lock")
            chmod(path, 0o444)
            chmod(directory.url.path, 0o555)
            Self.dropRights()

            let environment = try Environment.open(
                at: path, options: EnvironmentOptions(tables: ["a"], readOnly: true))
            let table = try environment.table("a")
            let count = try environment.read { try $0.count(table) }
            precondition(count == 0)
            precondition(access(path + "-lock", F_OK) != 0)
            chmod(directory.url.path, 0o777)
        }
    }

    @Test func `a file that may not be written or read is refused`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = try Self.makeFile(in: directory)
            chmod(directory.url.path, 0o777)
            chmod(path, 0o444)
            chmod(path + "-lock", 0o444)
            Self.dropRights()

            for readOnly in [false, true] {
                do {
                    let environment = try Environment.open(
                        at: path, options: EnvironmentOptions(tables: ["a"], readOnly: readOnly))
                    fatalError("\(environment.path) was opened")
                } catch let error as LMDBError {
                    precondition(error.code == .noPermission, error.message)
                }
            }
        }
    }

    // MARK: - Misuse

    @Test func `writing while bytes are lent stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let directory = try TemporaryDirectory()
            let environment = try Environment.open(
                at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
            let table = try environment.table("a")
            try environment.write { transaction in
                try transaction.put(table, [1].span.bytes, [1].span.bytes, .upsert)
                _ = try transaction.get(table, [1].span.bytes) { value in
                    try transaction.put(table, [2].span.bytes, value, .upsert)
                }
            }
        }
    }

    @Test func `a write inside a read of the same file stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let directory = try TemporaryDirectory()
            let environment = try Environment.open(
                at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
            try environment.read { _ in try environment.write { _ in } }
        }
    }
}
