import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// Files whose writes are not brought to the disk, and the mark beside them.
@Suite struct UnsyncedMarkTests {
    private let directory: TemporaryDirectory
    private let path: String
    private var mark: String { path + "-unsynced" }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
        try put("a", open(.durable))
    }

    private func open(_ durability: EnvironmentOptions.Durability) throws -> Environment {
        try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["a"], durability: durability))
    }

    private func put(_ key: String, _ environment: Environment) throws {
        let table = try environment.table("a")
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, key.bytes.span.bytes, .upsert)
        }
    }

    private var isMarked: Bool { FileManager.default.fileExists(atPath: mark) }

    @Test func `the first write puts a mark there, and closing takes it away`() throws {
        do {
            let environment = try open(.rebuildable(from: "elsewhere"))
            #expect(!isMarked)
            try put("b", environment)
            #expect(isMarked)
            #expect(!environment.core.syncsEachWrite)
        }
        #expect(!isMarked)
    }

    /// It would be read as one of another run, and the file would be given up.
    @Test(arguments: [String(repeating: "x", count: 5_000), "two\nlines"])
    func `a file whose mark could not be read has none, and each write is brought to the disk`(
        origin: String
    ) throws {
        let environment = try open(.rebuildable(from: origin))
        try put("b", environment)

        #expect(!isMarked)
        #expect(environment.core.syncsEachWrite)
        #expect(try Environment.lostOrigin(at: path) == nil)
    }

    private func inode() throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }

    /// Leaves a mark as if the system had ended while the file was written.
    private func leaveMark() throws {
        try Data("daybook unsynced 1\nan earlier run\nelsewhere\n\(try inode())\n".utf8)
            .write(to: URL(filePath: mark))
    }

    @Test
    func `whoever brings the file to the disk takes the mark, and the next write puts it again`()
        throws
    {
        let environment = try open(.rebuildable(from: "elsewhere"))
        try put("b", environment)

        try environment.bringToDisk()
        #expect(!isMarked)
        try put("c", environment)
        #expect(isMarked)
    }

    @Test func `a file that was lost with the system is refused, and says where it can be had`()
        throws
    {
        try leaveMark()

        let refusal = #expect(throws: LMDBError.self) { try open(.durable) }
        #expect(refusal?.code == .lost)
        #expect(try Environment.lostOrigin(at: path) == "elsewhere")
    }

    @Test func `nobody sees a part of a mark while another process puts it`() async throws {
        let (file, inode) = (FilePath(path), try inode())
        async let puts = onThread {
            for _ in 0..<300 {
                #expect(UnsyncedMark.put(beside: file, inode, origin: "elsewhere"))
                UnsyncedMark.remove(beside: file)
            }
        }
        let path = path
        for _ in 0..<100_000 { #expect(try Environment.lostOrigin(at: path) == nil) }
        await puts
    }

    @Test func `where no mark can be put each write is brought to the disk`() throws {
        let environment = try open(.rebuildable(from: "elsewhere"))
        // A link that leads into a folder that is not there: no file can be made.
        try FileManager.default.createSymbolicLink(
            atPath: mark, withDestinationPath: directory.path("nowhere/at all"))

        try put("b", environment)

        #expect(environment.core.syncsEachWrite)
    }

    @Test func `the mark of another file that had the name says nothing of this one`() throws {
        try leaveMark()
        let other = directory.path("other")
        try FileManager.default.copyItem(atPath: path, toPath: other)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: other, toPath: path)

        #expect(try Environment.lostOrigin(at: path) == nil)
        let environment = try open(.rebuildable(from: "here"))
        try put("b", environment)
        let text = try String(contentsOfFile: mark, encoding: .utf8)
        #expect(text.hasSuffix("\nhere\n\(try inode())\n"))
    }

    @Test func `a file that is replaced is replaced once`() throws {
        let other = directory.path("other")
        func makeOther() throws {
            let environment = try Environment.open(
                at: other, options: EnvironmentOptions(tables: ["a"]))
            try put("z", environment)
        }
        try makeOther()
        #expect(try !Environment.renew(at: path, withFileAt: other))

        try leaveMark()
        #expect(try Environment.renew(at: path, withFileAt: other))
        #expect(!isMarked)
        try makeOther()
        #expect(try !Environment.renew(at: path, withFileAt: other))
    }

    @Test func `removing a file removes its mark`() throws {
        try Data().write(to: URL(filePath: mark))
        try Environment.remove(at: path)
        #expect(!isMarked)
    }

    @Test func `who wants each write on the disk has it so, whoever had the file open before`()
        throws
    {
        let first = try open(.relaxed)
        try put("b", first)
        #expect(!first.core.syncsEachWrite)
        // Who only reads asks for nothing.
        _ = try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["a"], readOnly: true))
        try put("b", first)
        #expect(!first.core.syncsEachWrite)

        let second = try open(.durable)
        try put("c", first)
        #expect(second.core.syncsEachWrite)
        _ = try open(.relaxed)
        try put("d", second)
        #expect(first.core.syncsEachWrite)
    }

    @Test
    func `what is no file in the place of a mark counts as a damaged one, and nobody waits for it`()
        throws
    {
        #expect(mkfifo(mark, 0o600) == 0)
        #expect(try Environment.lostOrigin(at: path) == "")
        try FileManager.default.removeItem(atPath: mark)
        try FileManager.default.createSymbolicLink(atPath: mark, withDestinationPath: path)
        #expect(try Environment.lostOrigin(at: path) == "")
    }

    /// What somebody else has put where the lock file belongs.
    enum Planted: CaseIterable {
        case symbolicLink, danglingLink, hardLink
    }

    @Test(arguments: Planted.allCases)
    func `a link in the place of the lock file is refused, and what it leads to is left alone`(
        planted: Planted
    ) throws {
        let lock = path + "-lock"
        let victim = directory.path("victim")
        if planted != .danglingLink { try Data("secret".utf8).write(to: URL(filePath: victim)) }
        chmod(victim, 0o600)
        if FileManager.default.fileExists(atPath: lock) {
            try FileManager.default.removeItem(atPath: lock)
        }
        if planted == .hardLink {
            try FileManager.default.linkItem(atPath: victim, toPath: lock)
        } else {
            try FileManager.default.createSymbolicLink(
                atPath: lock, withDestinationPath: victim)
        }

        let refusal = #expect(throws: LMDBError.self) { try open(.durable) }

        #expect(refusal?.code == .notRegularFile)
        guard planted != .danglingLink else {
            return #expect(!FileManager.default.fileExists(atPath: victim))
        }
        #expect(try Data(contentsOf: URL(filePath: victim)) == Data("secret".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: victim)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
